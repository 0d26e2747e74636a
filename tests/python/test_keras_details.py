"""Manners of Keras in small: integers as inputs, ids without rows, builds that a class writes down."""

import warnings

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
layers = keras.layers


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: layers.Dense(2), (2, 3)),
        (lambda: layers.EinsumDense("ab,bc->ac", 3), (2, 3)),
        (lambda: layers.LSTM(2), (2, 3, 2)),
        (lambda: layers.GRU(2, return_sequences=True), (2, 3, 2)),
        (lambda: layers.Bidirectional(layers.SimpleRNN(2)), (2, 3, 2)),
        (lambda: layers.TimeDistributed(layers.Dense(2)), (2, 3, 2)),
        (lambda: layers.GlobalAveragePooling2D(), (2, 4, 4, 3)),
    ],
)
def test_whole_numbers_become_floats(make, shape, dtype):
    x = (np.arange(np.prod(shape)) % 5).astype(dtype).reshape(shape)
    keras.utils.set_random_seed(1)
    layer = make()
    y = layer(tf.constant(x))
    assert y.dtype == tf.float32
    np.testing.assert_allclose(y, layer(tf.constant(x.astype("float32"))), rtol=1e-6)


def test_whole_numbers_in_mixed_precision():
    y = layers.Dense(2, dtype="mixed_bfloat16")(tf.constant([[1, 2]]))
    assert y.dtype == tf.bfloat16


def test_masking_of_whole_numbers():
    x = tf.constant([[[1, 2], [0, 0]]])
    y = layers.Masking()(x)
    assert y.dtype == tf.int32 and y.numpy().tolist() == x.numpy().tolist()
    assert y._keras_mask.numpy().tolist() == [[True, False]]


def test_an_id_without_a_row():
    layer = layers.Embedding(4, 2, name="words")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        layer(tf.constant([[1, 7]]))
    text = str(caught.value)
    assert "layer `words` (Embedding): an id is 7, expected 0 to 3" in text
    assert "`input_dim` is 4" in text and "input_dim=8" in text
    with pytest.raises(tf.errors.InvalidArgumentError, match="an id is -1"):
        layer(tf.constant([-1]))


def test_no_activation_is_linear():
    assert layers.Dense(2).activation is keras.activations.linear
    assert layers.Conv2D(2, 3).activation is keras.activations.linear
    assert layers.Dense(2, activation="relu").activation is keras.activations.relu


@keras.saving.register_keras_serializable("details")
class Counted(layers.Layer):
    """Is built from what it wrote down itself, not from a shape."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.made = []

    def build(self, shape):
        self.made.append("build")
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")

    def call(self, x):
        return x * self.scale

    def get_build_config(self):
        return {"size": self.scale.shape[0]}

    def build_from_config(self, config):
        self.made.append("config")
        self.build((None, config["size"]))
        self.built = True


@pytest.mark.parametrize("kind", ["functional", "sequential", "nested"])
def test_every_layer_is_asked_how_it_is_built(tmp_path, kind):
    if kind == "functional":
        x = keras.Input((3,))
        model = keras.Model(x, Counted(name="own")(layers.Dense(3)(x)))
    else:
        model = keras.Sequential([keras.Input((3,)), Counted(name="own")])
        if kind == "nested":
            model = keras.Sequential([keras.Input((3,)), model])
    own = model.get_layer("own") if kind != "nested" else model.layers[0].get_layer("own")
    own.scale.assign([1.0, 2.0, 3.0])
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    found = again.get_layer("own") if kind != "nested" else again.layers[0].get_layer("own")
    assert found.made == ["config", "build"]
    assert np.array_equal(again(tf.ones([1, 3])), model(tf.ones([1, 3])))


def test_a_lambda_of_a_named_function_is_saved(tmp_path):
    model = keras.Sequential([keras.Input((3,)), layers.Lambda(keras.activations.softplus)])
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    assert np.array_equal(again(tf.ones([1, 3])), model(tf.ones([1, 3])))
    nameless = keras.Sequential([keras.Input((3,)), layers.Lambda(lambda x: x)])
    with pytest.raises(tf.errors.UnimplementedError, match="Lambda"):
        nameless.save(tmp_path / "n.keras")
    config = layers.Lambda(keras.activations.relu).get_config()
    code = {"class_name": "__lambda__", "config": {"value": "4wEAAAA="}}
    with pytest.raises(tf.errors.UnimplementedError, match="never run|`function` of a Lambda"):
        layers.Lambda.from_config({**config, "function": code})


def test_trainings_that_are_cut_short():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.ones((8, 3), np.float32), np.ones((8, 1), np.float32)
    try:
        keras.config.set_max_epochs(2)
        keras.config.set_max_steps_per_epoch(3)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            history = model.fit(x, y, batch_size=2, epochs=5, verbose=0)
            assert len(model.predict(x, batch_size=1, verbose=0)) == 3
        assert len(history.history["loss"]) == 2 and int(model.optimizer.iterations) == 4
        assert any("Limiting epochs to 2" in str(one.message) for one in said)
        with pytest.raises(ValueError, match="at least 1"):
            keras.config.set_max_epochs(0)
    finally:
        keras.config.set_max_epochs(None)
        keras.config.set_max_steps_per_epoch(None)


# A warning is given once for each line of a program: each has one of its own.
_FITS = {
    1: lambda model, **data: model.fit(**data),
    2: lambda model, **data: model.fit(**data),
    4: lambda model, **data: model.fit(**data),
}


@pytest.mark.parametrize("at_once", _FITS)
def test_the_first_bad_batch_is_named(at_once, capfd):
    x = np.ones((12, 2), np.float32)
    x[6, 0] = np.nan  # in the fourth batch of two
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    model.compile("sgd", "mse", steps_per_execution=at_once)
    data = {"x": x, "y": np.ones((12, 1), np.float32), "batch_size": 2, "shuffle": False}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        _FITS[at_once](model, verbose=0, **data)
    text = "".join(str(one.message) for one in said) + capfd.readouterr().err
    assert "epoch 1, step 4" in text and "`x` of the batch has NaN" in text


def test_symbols_go_by_plain_names():
    ids = keras.Input((3,), name="ids")
    assert ids.name == "ids"
    assert layers.Dense(2, name="head")(ids).name == "head"


@pytest.mark.parametrize("several", [False, True])
def test_names_of_metrics_are_known_before_the_first_batch(several):
    x = keras.Input((2,))
    a, b = layers.Dense(1, name="a")(x), layers.Dense(1, name="b")(x)
    model = keras.Model(x, [a, b] if several else a)
    assert model.metrics_names == []
    one = [keras.metrics.MeanAbsoluteError(name="mine"), "mse"]
    model.compile("sgd", "mse", metrics=[["mae"], one] if several else one)
    before = model.metrics_names
    y = np.ones((4, 1), np.float32)
    model.fit(np.ones((4, 2), np.float32), [y, y] if several else y, verbose=0)
    assert model.metrics_names == before


@pytest.mark.parametrize("first", [keras.Input((1,)), None])
def test_a_sequential_takes_examples_of_one_number_as_they_lie(first):
    """[n] for [n, 1], and a last axis of size 1 too many, as functional models do."""
    x = np.linspace(0, 1, 8, dtype="float32")
    model = keras.Sequential([*([first] if first is not None else []), layers.Dense(2)])
    want = model(x[:, None]).numpy()
    np.testing.assert_array_equal(model(x), want)
    np.testing.assert_array_equal(model(x[:, None, None]), want)
    np.testing.assert_array_equal(model.predict(x, verbose=0), want)
    model.compile("sgd", "mse")
    assert len(model.fit(x, np.stack([x, x], 1), epochs=2, verbose=0).history["loss"]) == 2


def test_policies_that_nobody_knows():
    layer = layers.Dense(1)
    for unknown in ("xx", "mixed_xx"):
        with pytest.raises(ValueError, match="not known|expected"):
            layers.Dense(1, dtype=unknown)
        with pytest.raises(ValueError, match="not known|expected"):
            layer.dtype_policy = unknown
    assert layer.dtype_policy.name == "float32"


def test_options_of_earlier_versions_are_taken_with_a_warning(tmp_path):
    with pytest.warns(UserWarning, match="`alpha` of LeakyReLU is called `negative_slope` now"):
        layer = layers.LeakyReLU(alpha=0.25)
    assert layer.negative_slope == 0.25 and layer.get_config()["negative_slope"] == 0.25
    with pytest.warns(UserWarning, match="`input_length` of Embedding is not needed"):
        ids = layers.Embedding(5, 2, input_length=3)
    assert ids(np.zeros((2, 4), "int32")).shape == (2, 4, 2)
    with pytest.warns(UserWarning, match="`epsilon`"):
        assert keras.callbacks.ReduceLROnPlateau(epsilon=0.5).min_delta == 0.5
    with pytest.warns(UserWarning, match="`decay` of SGD is not needed: it changes nothing"):
        assert keras.optimizers.SGD(0.5, decay=1e-6).learning_rate == 0.5
    with pytest.raises(tf.errors.UnimplementedError, match="dynamic=False"):
        keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(), dynamic=False)
    with pytest.raises(TypeError, match="`negative_slope` twice|got `negative_slope`"):
        layers.LeakyReLU(0.1, alpha=0.2)
    assert layers.InputLayer(batch_input_shape=(2, 3)).batch_shape == (2, 3)
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    with pytest.warns(UserWarning, match="`save_format`"):
        model.save(tmp_path / "model.keras", save_format="keras")
    with pytest.warns(UserWarning, match="compile=False"):
        keras.models.save_model(model, tmp_path / "model.keras", include_optimizer=False)
    with pytest.raises(TypeError, match="`save` has no argument `signatures`"):
        model.save(tmp_path / "model.keras", signatures=None)
