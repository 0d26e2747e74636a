"""What programs of Keras mean that go between models in the making and models that run."""

import gc
import weakref

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras


def ones(*shape):
    return np.ones(shape, "float32")


# -- outputs inside models


def nested(training=None):
    base = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(3, name="mid", kernel_initializer="ones"),
            keras.layers.Dense(2, kernel_initializer="ones"),
        ],
        name="base",
    )
    x = keras.Input((4,))
    inner = base(x) if training is None else base(x, training=training)
    return base, keras.Model(x, keras.layers.Dense(1, kernel_initializer="ones")(inner))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_layer_of_a_model_inside_becomes_an_output(order):
    base, model = nested()
    outputs = [base.get_layer("mid").output, model.output]
    probe = keras.Model(model.inputs, [outputs[i] for i in order])
    got = probe.predict(ones(2, 4), verbose=0)
    mid, out = got[order[0]], got[order[1]]
    np.testing.assert_allclose(mid, np.full((2, 3), 4.0))
    np.testing.assert_allclose(out, np.full((2, 1), 24.0))


def test_the_gradient_goes_through_the_layer_that_became_an_output():
    base, model = nested()
    probe = keras.Model(model.inputs, [model.output, base.get_layer("mid").output])
    with tf.GradientTape() as tape:
        out, mid = probe(ones(2, 4))
    np.testing.assert_allclose(tape.gradient(out, mid), np.full((2, 3), 2.0))


def test_only_the_layer_inside_is_an_output():
    base, model = nested()
    probe = keras.Model(model.inputs, base.get_layer("mid").output)
    assert probe(ones(1, 4)).shape == (1, 3)


def test_a_functional_model_inside_two_levels():
    a = keras.Input((2,))
    inner = keras.Model(a, keras.layers.Dense(2, name="deep", kernel_initializer="ones")(a))
    b = keras.Input((2,))
    middle = keras.Model(b, inner(b) * 2.0)
    c = keras.Input((2,))
    outer = keras.Model(c, middle(c) + 1.0)
    probe = keras.Model(outer.input, [inner.get_layer("deep").output, outer.output])
    deep, out = probe(ones(1, 2))
    np.testing.assert_allclose(deep, [[2.0, 2.0]])
    np.testing.assert_allclose(out, [[5.0, 5.0]])


def test_a_model_that_is_taken_apart_runs_as_its_call_said():
    x = keras.Input((4,))
    inner = keras.Sequential([keras.Input((4,)), keras.layers.Dropout(0.5, name="drop")])
    model = keras.Model(x, inner(x, training=False))
    probe = keras.Model(model.inputs, [inner.get_layer("drop").output, model.output])
    for got in probe(ones(8, 4), training=True):
        np.testing.assert_allclose(got, ones(8, 4))


def test_output_of_a_shared_layer_is_the_call_that_the_inputs_lead_to():
    shared = keras.layers.Dense(2, kernel_initializer="ones")
    a, b = keras.Input((3,)), keras.Input((3,))
    held = shared(a), shared(b * 2.0)
    np.testing.assert_allclose(keras.Model(a, shared.output)(ones(1, 3)), [[3.0, 3.0]])
    np.testing.assert_allclose(keras.Model(b, shared.output + 1.0)(ones(1, 3)), [[7.0, 7.0]])
    assert shared.output_shape == (None, 2) and len(held) == 2


def test_models_that_were_taken_apart_are_freed():
    base, model = nested()
    probe = keras.Model(model.inputs, [base.get_layer("mid").output, model.output])
    dead = [weakref.ref(m) for m in (base, model, probe)]
    del base, model, probe
    gc.collect()
    assert [ref() for ref in dead] == [None, None, None]


# -- losses in branches


class Penalty(keras.layers.Layer):
    def __init__(self, limit, **kwargs):
        super().__init__(**kwargs)
        self.limit = limit

    def call(self, x):
        if tf.reduce_sum(x) > self.limit:
            self.add_loss(tf.reduce_sum(x))
        else:
            self.add_loss(2.0 * tf.reduce_sum(x))
            self.add_loss(tf.constant(1.0))
        return x


@pytest.mark.parametrize(("limit", "wanted"), [(0.0, 8.0), (100.0, 17.0)])
def test_both_sides_of_an_if_add_losses(limit, wanted):
    layer = Penalty(limit)

    @tf.function
    def total(x):
        layer(x)
        return tf.add_n(layer.losses)

    assert float(total(tf.ones((4, 2)))) == wanted
    layer(tf.ones((4, 2)))  # eagerly, the same
    assert float(tf.add_n(layer.losses)) == wanted


def test_losses_of_branches_within_branches():
    class Nested(keras.layers.Layer):
        def call(self, x):
            if tf.reduce_sum(x) > 0:
                if tf.reduce_sum(x) > 5:
                    self.add_loss(tf.reduce_max(x) * 10.0)
                else:
                    self.add_loss(tf.reduce_max(x))
            return x

    layer = Nested()

    @tf.function
    def total(x):
        layer(x)
        return tf.add_n(layer.losses)

    assert [float(total(tf.fill((2,), v))) for v in (-1.0, 1.0, 3.0)] == [0.0, 1.0, 30.0]


def test_a_value_from_outside_counts_only_where_its_branch_is_taken():
    class Late(keras.layers.Layer):
        def call(self, x):
            size = tf.reduce_sum(x)
            if size > 3:
                self.add_loss(size)
            return x

    layer = Late()

    @tf.function
    def total(x):
        layer(x)
        return tf.add_n(layer.losses)

    assert [float(total(tf.fill((2,), v))) for v in (1.0, 4.0)] == [0.0, 8.0]


def test_activity_regularizers_in_tf_cond():
    dense = keras.layers.Dense(
        2, kernel_initializer="ones", activity_regularizer=keras.regularizers.L1(1.0)
    )
    dense.build((None, 2))

    @tf.function
    def total(x, take):
        tf.cond(take, lambda: dense(x), lambda: x)
        return tf.add_n(dense.losses)

    assert float(total(tf.ones((1, 2)), tf.constant(True))) == 4.0
    assert float(total(tf.ones((1, 2)), tf.constant(False))) == 0.0


def test_gradients_reach_through_losses_of_branches():
    class Scaled(keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(), initializer="ones")

        def call(self, x):
            if tf.reduce_sum(x) > 0:
                self.add_loss(self.w * 3.0)
            return x * self.w

    model = keras.Sequential([Scaled()])
    model.compile(keras.optimizers.SGD(1.0), "mse")
    model.fit(ones(2, 1), ones(2, 1), verbose=0, batch_size=2)
    assert float(model.layers[0].w.numpy()) == -2.0


# -- symbols in steps


def closing(run_eagerly=False, **options):
    x = keras.Input((3,))
    hidden = keras.layers.Dense(2, kernel_initializer="ones", name="hidden")(x)
    model = keras.Model(x, keras.layers.Dense(1, kernel_initializer="zeros")(hidden))

    def loss(target, predicted):
        return tf.reduce_mean(tf.square(target - predicted)) + tf.reduce_mean(hidden)

    model.compile(keras.optimizers.SGD(0.0), loss, run_eagerly=run_eagerly, **options)
    return model


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_a_loss_that_closes_over_a_hidden_layer_means_this_step(run_eagerly):
    model = closing(run_eagerly)
    x = np.stack([np.full(3, float(i)) for i in range(4)]).astype("float32")
    numbers = [
        float(model.train_on_batch(x[i : i + 1], ones(1, 1), return_dict=True)["loss"])
        for i in range(1)
    ]
    assert numbers == [1.0]
    history = model.fit(x, ones(4, 1), batch_size=4, verbose=0)
    assert history.history["loss"] == [pytest.approx(1.0 + 4.5)]
    assert model.evaluate(x[3:], ones(1, 1), verbose=0) == pytest.approx(10.0)


def test_its_gradient_reaches_the_weights():
    model = closing()
    model.compile(keras.optimizers.SGD(1.0), model.loss)
    before = model.get_layer("hidden").get_weights()[0]
    model.fit(ones(2, 3), ones(2, 1), batch_size=2, verbose=0)
    change = before - model.get_layer("hidden").get_weights()[0]
    np.testing.assert_allclose(change, np.full((3, 2), 0.5), rtol=1e-6)


def test_a_layer_of_a_sequential_model_in_a_loss():
    model = keras.Sequential(
        [
            keras.Input((2,)),
            keras.layers.Dense(2, kernel_initializer="ones"),
            keras.layers.Dense(1, kernel_initializer="zeros"),
        ]
    )
    hidden = model.layers[0].output
    model.compile(keras.optimizers.SGD(0.0), lambda y, p: tf.reduce_mean(hidden * 2.0) + 0.0 * p)
    history = model.fit(ones(2, 2), ones(2, 1), verbose=0)
    assert history.history["loss"] == [4.0]


def test_a_layer_beside_the_model_in_a_loss():
    x = keras.Input((2,))
    hidden = keras.layers.Dense(2, kernel_initializer="ones")(x)
    aside = keras.layers.Dense(1, kernel_initializer="ones")(hidden)
    model = keras.Model(x, keras.layers.Dense(1, kernel_initializer="zeros")(hidden))
    model.compile(keras.optimizers.SGD(0.0), lambda y, p: tf.reduce_mean(aside) + 0.0 * p)
    assert model.fit(ones(2, 2), ones(2, 1), verbose=0).history["loss"] == [4.0]


def test_a_train_step_of_ones_own_may_close_over_symbols():
    x = keras.Input((2,))
    hidden = keras.layers.Dense(1, kernel_initializer="ones")(x)

    class Own(keras.Model):
        def train_step(self, data):
            inputs, targets = data
            with tf.GradientTape() as tape:
                predicted = self(inputs, training=True)
                loss = tf.reduce_mean(predicted - targets) + tf.reduce_mean(hidden)
            weights = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            return {"loss": loss}

    model = Own(x, keras.layers.Dense(1, kernel_initializer="zeros")(hidden))
    model.compile(keras.optimizers.SGD(0.0))
    assert model.fit(ones(2, 2), ones(2, 1), verbose=0).history["loss"] == [1.0]


# -- variables beside symbols


def test_a_variable_beside_a_symbol_is_read_at_each_call():
    v = tf.Variable(2.0)
    x = keras.Input((2,))
    model = keras.Model(x, x * v + 1.0)
    np.testing.assert_allclose(model(ones(1, 2)), [[3.0, 3.0]])
    v.assign(5.0)
    np.testing.assert_allclose(model(ones(1, 2)), [[6.0, 6.0]])
    np.testing.assert_allclose(model.predict(ones(1, 2), verbose=0), [[6.0, 6.0]])
    assert [w is v for w in model.weights] == [True]
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(model(ones(3, 2)))
    assert float(tape.gradient(y, v)) == 6.0


@pytest.mark.parametrize(
    "make",
    [
        lambda x, v: v * x,
        lambda x, v: tf.multiply(x, v),
        lambda x, v: keras.ops.multiply(v, x),
        lambda x, v: keras.layers.Multiply()([x, tf.ones_like(x) * v]),
        lambda x, v: tf.matmul(x, tf.eye(2)) * v,
    ],
)
def test_however_it_is_written(make):
    v = tf.Variable(3.0)
    x = keras.Input((2,))
    model = keras.Model(x, make(x, v))
    v.assign(4.0)
    np.testing.assert_allclose(model(ones(1, 2)), [[4.0, 4.0]])
    assert len(model.trainable_weights) == 1


def test_training_changes_a_variable_beside_a_symbol():
    v = tf.Variable(0.0, name="shift")
    x = keras.Input((1,))
    model = keras.Model(x, x + v)
    model.compile(keras.optimizers.SGD(0.5), "mse")
    model.fit(np.zeros((4, 1), "float32"), ones(4, 1), batch_size=4, epochs=1, verbose=0)
    assert float(v.numpy()) == pytest.approx(1.0)


def test_a_variable_that_nobody_holds_is_a_constant():
    x = keras.Input((1,))
    model = keras.Model(x, x * tf.Variable(3.0))
    np.testing.assert_allclose(model(ones(1, 1)), [[3.0]])


# -- the first NaN


def test_training_goes_on_as_if_nobody_had_looked(capfd):
    def run(watched):
        keras.utils.set_random_seed(7)
        x = keras.Input((2,))
        h = keras.layers.Dense(3, activation="relu")(x)
        h = keras.layers.BatchNormalization()(keras.layers.Dropout(0.3)(h))
        model = keras.Model(x, keras.layers.Dense(1)(h))

        def loss(y, p):
            value = tf.reduce_mean(tf.square(y - p))
            return tf.where(tf.reduce_sum(y) > 3.0, tf.math.log(-value - 1.0), value)

        model.compile(keras.optimizers.Adam(0.01), loss, metrics=["mae"])
        y = np.array([[1.0], [0.5], [9.0 if watched else 0.25], [1.0]], "float32")
        history = model.fit(ones(4, 2), y, batch_size=1, shuffle=False, verbose=0)
        return model, history.history

    model, history = run(True)
    assert np.isnan(history["loss"][0])
    text = capfd.readouterr().err
    assert "warning[W1204]" in text and "epoch 1, step 3" in text and "Log" in text
    assert int(model.optimizer.iterations.numpy()) == 4
    run(False)
    assert "W1204" not in capfd.readouterr().err


def test_weights_that_a_gradient_made_nan(capfd):
    v = keras.Input((1,))
    model = keras.Model(v, keras.layers.Dense(1, kernel_initializer="zeros", name="bad")(v))
    model.compile("sgd", lambda y, p: tf.reduce_mean(tf.sqrt(tf.abs(p) * 0.0)))
    model.fit(ones(4, 1), ones(4, 1), batch_size=2, verbose=0)
    text = capfd.readouterr().err
    assert "warning[W1204]" in text and "bad/kernel" in text and "epoch 1, step 2" in text
