"""Models that show themselves, and models made of models: summary, plots, clones, compile configs."""

from xml.etree import ElementTree

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
layers = keras.layers


def branches():
    a, b = keras.Input((8,), name="a"), keras.Input((8,), name="b")
    shared = layers.Dense(4, activation="relu", name="shared")
    joined = layers.Concatenate(name="join")([shared(a), shared(b)])
    return keras.Model([a, b], layers.Dense(2, name="out")(joined), name="branches")


def told(model, **options):
    lines = []
    assert model.summary(print_fn=lines.append, **options) is None
    return "\n".join(lines)


def test_a_summary_before_anything_was_called(capsys):
    model = keras.Sequential([layers.Input((28, 28, 1)), layers.Conv2D(4, 3), layers.Flatten()])
    model.summary()
    text = capsys.readouterr().out
    for part in ("(None, 26, 26, 4)", "(None, 2704)", "Total params: 40 (160.00 B)", "FLOPs"):
        assert part in text
    unbuilt = keras.Sequential([layers.Dense(3)])
    assert "0 (unbuilt)" in told(unbuilt) and "?" in told(unbuilt)
    spelled = keras.Sequential([layers.Dense(3, input_shape=(5,))])
    assert "(None, 3)" in told(spelled) and "18" in told(spelled)


def test_a_summary_counts_what_is_trained_and_what_the_optimizer_keeps():
    model = keras.Sequential([layers.Input((3,)), layers.Dense(4), layers.BatchNormalization()])
    text = told(model)
    assert "Trainable params: 24" in text and "Non-trainable params: 8" in text
    assert "Optimizer params" not in text
    model.compile("adam", "mse")
    model.fit(np.ones((2, 3), "f"), np.ones((2, 4), "f"), verbose=0)
    assert "Optimizer params: 50 (" in told(model)
    model.layers[0].trainable = False
    text = told(model, show_trainable=True)
    assert "Trainable params: 8" in text and " N " in text and " Y " in text


def test_a_summary_tells_what_is_joined():
    text = told(branches())
    for part in ("Connected to", "a (InputLayer)", "a[0][0], b[0][0]", "join[0][0]"):
        assert part in text
    part = told(branches(), layer_range=("jo", "out"))
    assert "shared (" not in part and "join (" in part
    with pytest.raises(ValueError, match="layer_range"):
        told(branches(), layer_range=("nobody", "out"))
    with pytest.raises((TypeError, ValueError), match="layer_range"):
        told(branches(), layer_range=["join"])
    narrow = told(branches(), line_length=90)
    assert max(map(len, narrow.splitlines()[1:3])) <= 90
    wide = told(branches(), line_length=150, positions=[0.2, 0.5, 0.6, 1.0])
    assert len(wide.splitlines()[1]) <= 150
    with pytest.raises(ValueError, match="wide"):
        told(branches(), line_length=12)


def test_models_inside_are_expanded():
    inner = keras.Sequential([layers.Input((4,)), layers.Dense(3, name="deep")], name="inner")
    x = keras.Input((4,))
    model = keras.Model(x, inner(x))
    assert "deep" not in told(model)
    assert "└ deep (Dense)" in told(model, expand_nested=True)


def test_a_class_of_its_own_is_summed_up():
    calls = []

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.second = layers.Dense(4), layers.Dense(2)

        def call(self, x):
            calls.append(1)
            return self.second(self.first(x))

    model = Own()
    assert "unbuilt" in told(model)
    model(np.ones((5, 3), "f"))
    before = len(calls)
    text = told(model)
    assert "Total params: 26" in text and "(5, 4)" in text
    assert len(calls) == before  # a summary runs nothing of the program


def test_layers_by_name_and_place():
    model = branches()
    assert model.get_layer("shared") is model.get_layer(name="shared")
    assert model.get_layer(index=-1).name == "out"
    for wrong in ({"name": "nobody"}, {"index": 99}, {"index": -99}, {}):
        with pytest.raises((TypeError, ValueError, IndexError)):
            model.get_layer(**wrong)


def test_a_clone_has_layers_of_its_own():
    model = branches()
    model.compile(keras.optimizers.Adam(0.25), "mse", metrics=["mae"])
    copy = keras.models.clone_model(model)
    assert copy.name == "branches" and type(copy) is type(model)
    assert copy.get_layer("shared") is not model.get_layer("shared")
    assert len(copy.weights) == 4
    copy.set_weights(model.get_weights())
    x = [np.ones((2, 8), "f"), np.full((2, 8), 2, "f")]
    assert np.array_equal(copy.predict(x, verbose=0), model.predict(x, verbose=0))
    assert copy.compiled and float(copy.optimizer.learning_rate.numpy()) == 0.25
    copy.fit(x, np.zeros((2, 2), "f"), verbose=0)
    chain = keras.Sequential([layers.Input((3,)), layers.Dense(2)], name="chain")
    again = keras.models.clone_model(chain)
    assert type(again) is keras.Sequential and again.built and len(again.layers) == 1
    unbuilt = keras.models.clone_model(keras.Sequential([layers.Dense(2)]))
    assert not unbuilt.built


def test_a_clone_by_functions():
    model = branches()

    def dropped(layer, *args, **kwargs):
        out = layer(*args, **kwargs)
        return layers.Dropout(0.5, name=None)(out) if isinstance(layer, layers.Dense) else out

    copy = keras.models.clone_model(model, clone_function=lambda l: l, call_function=dropped)
    assert copy.get_layer("shared") is model.get_layer("shared")
    assert sum(isinstance(layer, layers.Dropout) for layer in copy.layers) == 3

    class Plus(layers.Layer):
        def call(self, x, plus=0):
            return x + plus

    x = keras.Input((2,))
    own = keras.Model(x, Plus()(x, plus=5))
    assert np.array_equal(keras.models.clone_model(own)(np.zeros((1, 2), "f")), [[5, 5]])
    names = []
    keras.models.clone_model(
        model, clone_function=lambda l: names.append(l.name) or type(l).from_config(l.get_config())
    )
    assert sorted(names) == ["join", "out", "shared"]
    z = keras.Input((8,), name="z")
    same = keras.models.clone_model(model, input_tensors=[z, z])
    assert [t.name for t in same.inputs] == [z.name, z.name]
    for wrong in (
        {"input_tensors": [np.ones((1, 8)), np.ones((1, 8))]},
        {"clone_function": 3},
        {"clone_function": lambda layer: None},
        {"caches": 1},
    ):
        with pytest.raises((TypeError, ValueError)):
            keras.models.clone_model(model, **wrong)
    with pytest.raises((TypeError, ValueError), match="Sequential"):
        keras.models.clone_model(keras.Sequential([layers.Dense(1)]), call_function=dropped)


def test_models_inside_are_cloned_by_the_same_rules():
    inner = keras.Sequential([layers.Input((4,)), layers.Dense(4, name="deep")], name="inner")
    x = keras.Input((4,))
    model = keras.Model(x, inner(inner(x)))
    seen = []

    def note(layer):
        seen.append(layer.name)
        return type(layer).from_config(layer.get_config())

    keras.models.clone_model(model, clone_function=note)
    assert seen == ["inner"]
    seen.clear()
    copy = keras.models.clone_model(model, clone_function=note, recursive=True)
    assert seen == ["deep"] and len(copy.weights) == 2


@pytest.mark.parametrize("rankdir", ["TB", "LR", "BT", "RL"])
def test_a_model_is_drawn(tmp_path, rankdir):
    path = tmp_path / "model.svg"
    keras.utils.plot_model(
        branches(),
        path,
        show_shapes=True,
        show_dtype=True,
        show_layer_names=True,
        rankdir=rankdir,
        show_layer_activations=True,
        show_trainable=True,
    )
    root = ElementTree.parse(path).getroot()
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    for wanted in (
        "shared (Dense)",
        "Activation: relu",
        "Output shape: (None, 2)",
        "Trainable: True",
    ):
        assert wanted in texts
    boxes = root.findall("{http://www.w3.org/2000/svg}rect")[1:]
    corners = [[float(b.get(k)) for k in ("x", "y", "width", "height")] for b in boxes]
    for i, (x, y, w, h) in enumerate(corners):
        for x2, y2, w2, h2 in corners[:i]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y  # none on another


def test_drawings_have_formats(tmp_path):
    model = branches()
    keras.utils.plot_model(model, tmp_path / "m.html")
    assert "<svg" in (tmp_path / "m.html").read_text()
    shown = keras.utils.plot_model(model, str(tmp_path / "m.dot"), show_layer_names=True)
    dot = keras.utils.model_to_dot(model)
    assert (tmp_path / "m.dot").read_text() == dot.to_string() == str(dot)
    assert "<svg" in shown._repr_svg_()
    with pytest.raises(NotImplementedError, match="svg"):
        keras.utils.plot_model(model, tmp_path / "m.png")
    assert not (tmp_path / "m.png").exists()
    with pytest.raises((TypeError, ValueError), match="rankdir"):
        keras.utils.plot_model(model, tmp_path / "m.svg", rankdir="UP")
    with pytest.raises((TypeError, ValueError), match="not built"):
        keras.utils.model_to_dot(keras.Sequential([layers.Dense(1)]))


def own_loss(y, p):
    return tf.reduce_mean(tf.abs(y - p), axis=-1)


def test_a_compiled_model_comes_back_compiled(tmp_path):
    x, y = np.ones((6, 3), "f"), np.ones((6, 2), "f")
    model = keras.Sequential([layers.Input((3,)), layers.Dense(2)])
    assert model.get_compile_config() is None
    model.compile(
        keras.optimizers.Adam(0.125),
        loss=keras.losses.Huber(delta=2.0),
        metrics=["mae", keras.metrics.MeanSquaredError(name="squares")],
        steps_per_execution=2,
    )
    model.fit(x, y, epochs=3, verbose=0)
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    assert again.steps_per_execution == 2 and again.loss.delta == 2.0
    assert type(again.optimizer) is keras.optimizers.Adam
    for old, new in zip(model.optimizer.variables, again.optimizer.variables, strict=True):
        assert np.array_equal(old.numpy(), new.numpy())
    model.fit(x, y, epochs=2, verbose=0)
    history = again.fit(x, y, epochs=2, verbose=0)
    assert list(history.history) == ["loss", "mae", "squares"]
    for old, new in zip(model.get_weights(), again.get_weights(), strict=True):
        assert np.array_equal(old, new)
    assert not keras.models.load_model(tmp_path / "m.keras", compile=False).compiled


def test_functions_of_a_program_are_named_in_files(tmp_path):
    model = keras.Sequential([layers.Input((3,)), layers.Dense(1)])
    model.compile("sgd", own_loss)
    model.save(tmp_path / "m.keras")
    with pytest.raises(ValueError, match="own_loss"):
        keras.models.load_model(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras", custom_objects={"own_loss": own_loss})
    assert again.loss is own_loss
    assert not keras.models.load_model(tmp_path / "m.keras", compile=False).compiled


def test_losses_and_metrics_by_output_come_back(tmp_path):
    x = keras.Input((3,))
    model = keras.Model(x, {"a": layers.Dense(1, name="a")(x), "b": layers.Dense(1, name="b")(x)})
    model.compile(
        "sgd",
        loss={"a": "mse", "b": "mae"},
        loss_weights={"a": 2.0, "b": 0.5},
        metrics={"a": ["mae"], "b": ["mse", keras.metrics.MeanAbsoluteError(name="own")]},
        weighted_metrics={"b": ["mae"]},
    )
    ones = np.ones((4, 3), "f")
    y = {"a": np.ones((4, 1), "f"), "b": np.ones((4, 1), "f")}
    want = model.evaluate(ones, y, verbose=0, return_dict=True)
    assert {"a_mae", "b_mse", "b_own", "b_mae"} <= set(want) and "a_mse" not in want
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    assert again.evaluate(ones, y, verbose=0, return_dict=True) == pytest.approx(want)
    model.compile("sgd", "mse", metrics={"nobody": ["mae"]})
    with pytest.raises(ValueError, match="nobody"):
        model.evaluate(ones, y, verbose=0)


def test_metrics_in_a_list_are_for_the_outputs_in_their_order():
    x = keras.Input((3,))
    model = keras.Model(x, [layers.Dense(1, name="a")(x), layers.Dense(1, name="b")(x)])
    ones, y = np.ones((4, 3), "f"), [np.ones((4, 1), "f")] * 2
    model.compile("sgd", "mse", metrics=["mae", None])
    assert "a_mae" in (named := model.evaluate(ones, y, verbose=0, return_dict=True))
    assert "b_mae" not in named
    model.compile("sgd", "mse", metrics=[["mae"], ["mae", "mse"]])
    assert {"a_mae", "b_mae", "b_mse"} <= set(model.evaluate(ones, y, verbose=0, return_dict=True))
    model.compile("sgd", "mse", metrics=["mae", "mse", "mape"])
    with pytest.raises((TypeError, ValueError), match="outputs"):
        model.evaluate(ones, y, verbose=0)


def test_what_compile_is_told_is_checked():
    model = keras.Sequential([layers.Dense(1)])
    for wrong in ({"jit_compile": "yes"}, {"jit_compile": True, "run_eagerly": True}):
        with pytest.raises((TypeError, ValueError), match="jit_compile"):
            model.compile("sgd", "mse", **wrong)
    model.compile("sgd", "mse", jit_compile=False)
    assert model.jit_compile is False


def test_a_metric_takes_what_its_variables_are_told():
    class Own(keras.metrics.Metric):
        def __init__(self, **options):
            super().__init__(name="own")
            self.total = self.add_variable((), "zeros", name="total", **options)

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign_add(tf.reduce_sum(tf.cast(y_pred, "float32")))

        def result(self):
            return self.total

    assert Own(aggregation="mean").total.aggregation == "mean"
    assert Own().total.aggregation == "sum"
    with pytest.raises(ValueError, match="aggregation"):
        Own(aggregation="most")
    with pytest.raises(NotImplementedError, match="layout"):
        Own(layout=("batch",))


def test_functions_of_batches_are_the_programs():
    made = []

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(1)

        def call(self, x):
            return self.dense(x)

        def make_train_function(self, force=False):
            def run(batches):
                made.append(next(batches)[0].shape)
                return {"loss": tf.constant(7.0)}

            self.train_function = run

    model = Own()
    model.compile("sgd", "mse")
    history = model.fit(np.ones((4, 3), "f"), np.ones((4, 1), "f"), batch_size=2, verbose=0)
    assert history.history["loss"] == [7.0] and len(made) == 2
    plain = keras.Sequential([layers.Input((3,)), layers.Dense(1)])
    plain.compile("sgd", "mse", steps_per_execution=2)
    step = plain.make_train_function()
    batches = iter([(np.ones((2, 3), "f"), np.ones((2, 1), "f"))] * 2)
    assert "loss" in step(batches) and int(plain.optimizer.iterations.numpy()) == 2


def test_a_kernel_is_divided_by_its_largest_singular_value():
    keras.utils.set_random_seed(3)
    dense = layers.Dense(4, kernel_initializer="random_normal")
    layer = layers.SpectralNormalization(dense, power_iterations=50)
    x = np.random.default_rng(0).normal(size=(2, 6)).astype("f")
    quiet = layer(x, training=False)
    before = dense.kernel.numpy()
    assert np.allclose(quiet, x @ before, atol=1e-6)
    layer(x, training=True)
    assert np.allclose(dense.kernel, before / np.linalg.svd(before)[1][0], rtol=1e-3)
    assert len(layer.trainable_weights) == 2 and len(layer.non_trainable_weights) == 1
    again = layers.SpectralNormalization.from_config(layer.get_config())
    assert again.power_iterations == 50 and again.layer.units == 4
    zeros = layers.SpectralNormalization(layers.Dense(2, kernel_initializer="zeros"))
    assert np.array_equal(zeros(x, training=True), np.zeros((2, 2)))
    with pytest.raises((TypeError, ValueError), match="singular value"):
        layers.SpectralNormalization(layers.Dropout(0.5))(x)
    with pytest.raises(ValueError, match="power_iterations"):
        layers.SpectralNormalization(layers.Dense(1), power_iterations=0)
    words = layers.SpectralNormalization(layers.Embedding(5, 3))
    assert words(np.array([[1, 2]]), training=True).shape == (1, 2, 3)


def test_correlations():
    y = np.array([[0, 1, 0.5], [1, 1, 0.2]], "f")
    p = np.array([[0.1, 0.9, 0.5], [1, 0.9, 0.2]], "f")
    pearson, concordance = (
        keras.metrics.PearsonCorrelation(),
        keras.metrics.ConcordanceCorrelation(),
    )
    assert float(pearson(y, p)) == pytest.approx(0.9966996, abs=1e-5)
    assert float(concordance(y, p)) == pytest.approx(0.9816320, abs=1e-5)
    want = [np.corrcoef(a, b)[0, 1] for a, b in zip(y, p, strict=True)]
    assert np.allclose(keras.metrics.pearson_correlation(y, p), want, atol=1e-5)
    rows = keras.metrics.PearsonCorrelation(axis=(0, 1))
    assert float(rows(y, p)) == pytest.approx(np.corrcoef(y.ravel(), p.ravel())[0, 1], abs=1e-5)
    assert pearson.get_config() == {"name": "pearson_correlation", "dtype": "float32", "axis": -1}


def test_models_in_float16_scale_their_losses(tmp_path):
    x, y = np.ones((4, 3), "f"), np.ones((4, 1), "f")
    dense = layers.Dense(1, dtype="mixed_float16")
    model = keras.Sequential([layers.Input((3,)), dense], dtype="mixed_float16")
    model.compile("adam", "mse")
    assert isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer)
    model.fit(x, y, verbose=0)
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    assert isinstance(again.optimizer, keras.optimizers.LossScaleOptimizer)
    assert len(again.optimizer.variables) == len(model.optimizer.variables)
    again.fit(x, y, verbose=0)
    model.compile("adam", "mse", auto_scale_loss=False)
    assert isinstance(model.optimizer, keras.optimizers.Adam)


def test_a_layer_that_is_taken_away_leaves_the_others_called_once():
    """After another model was made of them, each was called a second time."""
    names = ("a", "b", "c")
    model = keras.Sequential([keras.Input((4,)), *(keras.layers.Dense(2, name=n) for n in names)])
    every = keras.Model(model.inputs, [layer.output for layer in model.layers])
    model.pop()
    model.add(keras.layers.Dense(5, name="d"))
    part = keras.Model(model.inputs, model.get_layer("b").output)
    x = np.ones((1, 4), "float32")
    np.testing.assert_array_equal(part(x), every(x)[1])
    assert model(x).shape == (1, 5) and model.output_shape == (None, 5)
    for _ in range(3):
        model.pop()
    assert model.output_shape == (None, 4) and not model.layers
