"""Programs that use a symbol, a tape or a model in a way that can't work: what they are told."""

import traceback
import types

import numpy as np
import pytest

import holdfast as tf


def told(error):
    """The roles of a diagnostic's labels, with the words that the lines hold."""
    return {(label.role, label.loc.source.strip()) for label in error.diagnostic.labels}


@pytest.fixture
def warned(capfd):
    """What a call that gives None says on the way."""

    def text(call):
        capfd.readouterr()
        assert call() is None
        return capfd.readouterr().err

    return text


# Symbols of a trace.


def test_a_symbol_in_a_format_is_told_by_its_name():
    @tf.function
    def log(speed):
        twice = speed * 2.0
        print(f"{twice:.3f}")
        return twice

    with pytest.raises(tf.errors.SymbolicAttributeError) as e:
        log(tf.constant(1.0))
    assert e.value.code == "E0203" and "numpy" not in str(e.value)
    assert "`twice` has no value to be formatted while `log` is traced" in str(e.value)
    assert "`tf.print(twice)`" in e.value.diagnostic.fixes[0].title


def test_a_format_outside_of_print_names_another_way():
    @tf.function
    def label(speed):
        return "{:5.1f}".format(speed)  # noqa: UP032

    with pytest.raises(tf.errors.SymbolicAttributeError) as e:
        label(tf.constant(1.0))
    assert "tf.py_function" in e.value.diagnostic.fixes[0].title


def test_formats_without_a_specification_and_of_values_stay():
    texts, kept = [], {}

    @tf.function
    def log(speed):
        texts.append(f"{speed}")
        kept["half"] = speed / 2.0
        return speed

    log(tf.constant(3.0))
    assert "symbolic" in texts[0]
    assert f"{kept['half']:.2f}" == "1.50"


def test_a_symbol_as_a_key_is_told_what_chooses_in_the_graph():
    prices = {0: 1.0, 1: 2.5}

    @tf.function
    def price(kind):
        return prices[kind] * 2.0

    with pytest.raises(TypeError) as e:
        price(tf.constant(1))
    assert e.value.code == "E0201" and "`kind` is asked for a key while `price`" in str(e.value)
    assert "tf.switch_case(kind, [lambda: prices[0], lambda: prices[1]])" in str(e.value)

    @tf.function
    def cured(kind):
        return tf.switch_case(kind, [lambda: prices[0], lambda: prices[1]]) * 2.0

    assert float(cured(tf.constant(1))) == 5.0


def test_a_symbol_in_a_set_and_a_value_as_a_key():
    @tf.function
    def seen(x):
        return x in {1.0, 2.0}

    with pytest.raises(TypeError, match="`x` is asked for a key"):
        seen(tf.constant(1.0))
    with pytest.raises(TypeError, match=r"tensor\.ref\(\)"):
        hash(tf.constant(1.0))
    assert len({tf.constant(1.0).ref(), tf.constant(1.0).ref()}) == 2


def test_what_an_exception_carries_out_of_a_trace():
    class Found(Exception):
        pass

    @tf.function
    def search(x):
        raise Found(x + 1.0)

    with pytest.raises(Found) as left:
        search(tf.constant(1.0))
    with pytest.raises(tf.errors.InaccessibleTensorError) as e:
        print(left.value.args[0] * 2.0)
    assert e.value.code == "E0101" and "`search`, whose trace failed" in str(e.value)
    assert ("born", "raise Found(x + 1.0)") in told(e.value)
    assert "never called" not in str(e.value) and "call `search" not in str(e.value)


def test_several_dimensions_that_are_left_open_are_counted(capfd):
    @tf.function
    def total(x):
        return tf.reduce_sum(x)

    for n in range(1, 6):
        total(tf.ones([n, n + 1]))
    assert "x dimension 0 and x dimension 1 are unknown from now on" in capfd.readouterr().err


# Gradients.


def test_a_gradient_that_ends_in_an_assignment_names_it(warned):
    weight, state = tf.Variable(1.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        state.assign(weight * 5.0)
        loss = state * 2.0
    text = warned(lambda: tape.gradient(loss, weight))
    assert "`state.assign(weight * 5.0)` in line" in text
    assert "the path ends here: a Variable keeps the number" in text
    with tf.GradientTape() as tape:
        value = weight * 5.0
        state.assign(value)
        loss = value * 2.0
    assert float(tape.gradient(loss, weight)) == 10.0


def test_an_assignment_of_something_else_is_not_blamed(warned):
    weight, other, state = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        tape.watch(weight)
        state.assign_add(other * 5.0)
        loss = state * 2.0
    text = warned(lambda: tape.gradient(loss, weight))
    assert "but not from `weight`." in text and "assign" not in text.split("why:")[1]


def test_the_cure_for_a_variable_that_was_not_read_works(warned):
    weight = tf.Variable(3.0)
    early = weight * 2.0
    with tf.GradientTape() as tape:
        tape.watch(weight)
        loss = early * early
    assert "watch" not in warned(lambda: tape.gradient(loss, weight)).partition("fix:")[2]
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            early = weight * 2.0
        loss = early * early
    said = warned(lambda: tape.gradient(loss, weight))
    assert "fix: compute `loss` from `weight` inside the tape's block, while it records" in said
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        loss = weight * weight
    assert "tape.watch(weight)" in warned(lambda: tape.gradient(loss, weight))


# Models.


def test_a_symbol_of_a_model_shows_where_it_and_its_input_were_made():
    entry = tf.keras.Input((4,))
    hidden = tf.keras.layers.Dense(3)(entry)
    with pytest.raises(AttributeError) as e:
        hidden.numpy()
    assert ("born", "entry = tf.keras.Input((4,))") in told(e.value)
    assert ("born", "hidden = tf.keras.layers.Dense(3)(entry)") in told(e.value)


def test_a_list_that_a_layer_fills_has_what_each_step_computed():
    seen, state = [], types.SimpleNamespace(calls=0)

    class Tap(tf.keras.layers.Layer):
        def call(self, x):
            state.calls += 1
            seen.append(x)
            self.latest = x
            return x * 1.0

    tap = Tap()
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer="ones"), tap])
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    x = np.arange(12, dtype="float32").reshape(4, 3)
    model.fit(x, x[:, :2], batch_size=2, shuffle=False, verbose=0)
    assert [np.asarray(t)[:, 0].tolist() for t in seen] == [[3.0, 12.0], [21.0, 30.0]]
    np.testing.assert_array_equal(tap.latest, seen[-1])
    assert state.calls >= 2  # what is no symbol stays, as in plain code


def test_a_layer_that_fails_while_shapes_are_found_leaves_nothing():
    seen = []

    class Tap(tf.keras.layers.Layer):
        def call(self, x):
            seen.append(x)
            raise KeyError("mine")

    model = tf.keras.Sequential([tf.keras.layers.Dense(2), Tap()])
    model.compile("sgd", "mse")
    with pytest.raises(KeyError, match="mine"):
        model.fit(np.ones((4, 3), "float32"), np.ones((4, 2), "float32"), verbose=0)
    assert seen == []


@pytest.mark.parametrize("what", ["graph", "layer", "fit"])
def test_tracebacks_of_models_end_in_the_programs_lines(what):
    left, right = tf.keras.Input((4,)), tf.keras.Input((4,))
    with pytest.raises(Exception) as e:
        if what == "graph":
            tf.keras.Model(left, left + right)
        elif what == "layer":
            tf.keras.layers.Dense(-3)
        else:
            model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
            model.compile("sgd", "mse")
            model.fit(np.ones((4, 3), "float32"), np.ones((5, 2), "float32"), verbose=0)
    frames = traceback.extract_tb(e.value.__traceback__)
    assert [frame.filename for frame in frames] == [__file__] * len(frames)


def test_a_variable_that_a_layer_makes_in_each_call_is_told_as_such():
    class Scale(tf.keras.layers.Layer):
        def call(self, x):
            self.factor = tf.Variable(tf.ones([3]))
            return x * self.factor

    model = tf.keras.Sequential([Scale()])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="on each call") as e:
        model.fit(np.ones((4, 3), "float32"), np.ones((4, 3), "float32"), verbose=0)
    assert e.value.code == "E0401"
    assert "self.factor = tf.Variable(tf.ones([3]))" in {source for _, source in told(e.value)}


def test_a_variable_that_a_layer_makes_once_in_its_call_is_trained():
    class Scale(tf.keras.layers.Layer):
        factor = None

        def call(self, x):
            if self.factor is None:
                self.factor = tf.Variable(tf.ones([3]) * 2.0)
            return x * self.factor

    for built in (False, True):
        scale = Scale()
        model = tf.keras.Sequential([scale])
        if built:
            model.build((None, 3))
            assert scale.factor.numpy().tolist() == [2.0, 2.0, 2.0]
        x = np.ones((4, 3), "float32")
        model.compile(tf.keras.optimizers.SGD(0.5), "mse")
        model.fit(x, x, verbose=0)
        assert float(scale.factor[0]) < 2.0


def test_an_optimizer_without_gradients_shows_where_its_variables_were_made():
    weight = tf.Variable([1.0, 2.0], name="weight")
    with pytest.raises(ValueError, match="no gradient for any variable") as e:
        tf.keras.optimizers.SGD(0.1).apply_gradients([(None, weight)])
    assert e.value.code == "E0501"
    assert ("born", 'weight = tf.Variable([1.0, 2.0], name="weight")') in told(e.value)


# Cures.


def test_a_store_into_an_array_is_told_of_variables():
    numbers = np.zeros(3, "float32")

    @tf.function
    def keep(x):
        numbers[1] = x
        return x

    with pytest.raises(TypeError, match="asked for a float") as e:
        keep(tf.constant(3.0))
    assert "`numbers[1].assign(x)`" in e.value.diagnostic.fixes[0].title
    kept = tf.Variable(numbers)

    @tf.function
    def cured(x):
        kept[1].assign(x)
        return x

    cured(tf.constant(3.0))
    assert kept.numpy().tolist() == [0.0, 3.0, 0.0]


def test_a_part_of_a_list_goes_by_a_python_number_or_a_stack():
    layers, rows = [abs, abs], [1.0, 2.0, 3.0]

    @tf.function
    def deep(x, depth):
        for layer in layers[:depth]:
            x = layer(x)
        return x

    @tf.function
    def head(depth):
        return tf.reduce_sum(rows[:depth])

    with pytest.raises(TypeError) as e:
        deep(tf.constant(1.0), tf.constant(2))
    said = e.value.diagnostic.fixes[0].title
    assert "`tf.cond(i < depth, ...)`" in said and "`depth` as a Python number" in said
    assert float(deep(tf.constant(-1.0), 2)) == 1.0

    @tf.function
    def cured(x, depth):
        for i, layer in enumerate(layers):
            x = tf.cond(i < depth, lambda layer=layer, x=x: layer(x), lambda x=x: x)
        return x

    assert float(cured(tf.constant(-1.0), tf.constant(0))) == -1.0
    assert float(cured(tf.constant(-1.0), tf.constant(1))) == 1.0
    with pytest.raises(TypeError) as e:
        head(tf.constant(2))
    assert "`tf.stack(rows)[...]`" in e.value.diagnostic.fixes[0].title
    assert float(tf.function(lambda n: tf.reduce_sum(tf.stack(rows)[:n]))(tf.constant(2))) == 3.0


def test_a_keyword_that_is_misspelled_is_told_the_near_one():
    @tf.function
    def scaled(a, *, scale=1.0):
        return a * scale

    with pytest.raises(TypeError, match="no parameter `scal`") as e:
        scaled(tf.constant(1.0), scal=2.0)
    assert [fix.title for fix in e.value.diagnostic.fixes] == ["did you mean `scale`?"]
    with pytest.raises(TypeError) as e:
        scaled(tf.constant(1.0), wholly_else=2.0)
    assert not e.value.diagnostic.fixes


def test_variables_deep_in_a_structure_are_named_and_cured():
    net = {"layers": [[tf.Variable(1.0), tf.Variable(2.0)], [tf.Variable(3.0), tf.Variable(4.0)]]}
    kept = net["layers"]

    def step():
        with tf.GradientTape() as tape:
            loss = sum(w * b for w, b in net["layers"])
        grads = tape.gradient(loss, net["layers"])
        net["layers"] = [[w - dw, b - db] for (w, b), (dw, db) in zip(net["layers"], grads)]

    step()
    with pytest.raises(TypeError, match="replaced Variables") as e:
        step()
    assert e.value.code == "E0404" and '`net["layers"][0][0]`' in str(e.value)
    assert "tf.nest.flatten(net['layers'])" in e.value.diagnostic.fixes[0].title
    for v, value in zip(tf.nest.flatten(kept), [5.0, 6.0, 7.0, 8.0], strict=True):
        v.assign(value)
    assert float(kept[1][1]) == 8.0


@pytest.mark.parametrize(("ask", "words"), [(float, "a float"), (int, "an int")])
def test_a_tensor_of_a_graph_by_hand_is_told_of_sessions(ask, words):
    plan = tf.Graph()
    with plan.as_default():
        price = tf.constant(2.0) * 3.0
    with pytest.raises(TypeError) as e:
        ask(price)
    assert e.value.code == "E0201"
    assert f"`price` is asked for {words}, and is part of the graph `plan`" in str(e.value)
    assert "Session(graph=plan).run(price)" in e.value.diagnostic.fixes[0].title
    with tf.compat.v1.Session(graph=plan) as session:
        assert session.run(price) == 6.0


def test_the_truth_of_a_tensor_of_a_graph_has_two_cures():
    with tf.Graph().as_default(), pytest.raises(TypeError) as e:
        price = tf.constant(2.0) * 3.0
        print("dear" if price > 5.0 else "cheap")
    titles = [fix.title for fix in e.value.diagnostic.fixes]
    assert any("tf.where" in title or "tf.cond" in title for title in titles)
    assert any("tf.compat.v1.Session().run(price > 5.0)" in title for title in titles)


def test_the_length_of_a_list_is_told_as_such(capfd):
    @tf.function
    def total(parts):
        return tf.add_n(parts)

    for n in range(1, 5):
        total([tf.constant(1.0)] * n)
    assert "`parts` was a list of 2, now a list of 3" in capfd.readouterr().err


@pytest.mark.parametrize("loop", [tf.scan, tf.foldl, tf.map_fn])
def test_a_value_of_a_body_is_told_by_the_functions_own_name(loop):
    @tf.function(autograph=False)
    def run(xs):
        seen = []

        def visit(a, b=0.0):
            seen.append(a + b)
            return seen[-1]

        return loop(visit, xs), seen[0] + 1.0

    with pytest.raises(tf.errors.InaccessibleTensorError) as e:
        run(tf.range(3.0))
    assert e.value.code == "E0103" and "in visit" in str(e.value)
