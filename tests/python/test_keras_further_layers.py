"""Pools of a wanted size, renormalised batches, and where images have their channels."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
layers = keras.layers


def _parts(x, axis, count, reduce):
    size = x.shape[axis]
    bounds = [(size * k // count, -(-size * (k + 1) // count)) for k in range(count)]
    pieces = [reduce(np.take(x, range(a, b), axis), axis=axis, keepdims=True) for a, b in bounds]
    return np.concatenate(pieces, axis)


@pytest.mark.parametrize(("kind", "reduce"), [("Max", np.max), ("Average", np.mean)])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("sizes", [(3,), (2, 4), (1, 3, 2)])
def test_pools_of_a_wanted_size(kind, reduce, first, sizes):
    field = (5, 7, 4)[: len(sizes)]
    shape = (2, 3, *field) if first else (2, *field, 3)
    x = np.random.RandomState(1).normal(size=shape).astype("float32")
    expected = x
    for i, count in enumerate(sizes):
        expected = _parts(expected, i + (2 if first else 1), count, reduce)
    form = "channels_first" if first else "channels_last"
    layer = getattr(layers, f"Adaptive{kind}Pooling{len(sizes)}D")(sizes, data_format=form)
    assert layer.built
    np.testing.assert_allclose(layer(x), expected, rtol=1e-5)
    again = type(layer).from_config(layer.get_config())
    np.testing.assert_array_equal(tf.function(again)(x), layer(x))
    symbol = keras.Input(shape[1:])
    assert layer(symbol).shape == (None, *expected.shape[1:])


def test_what_such_pools_refuse():
    with pytest.raises(ValueError, match="`output_size`"):
        layers.AdaptiveMaxPooling2D(0)
    with pytest.raises(ValueError, match="axis 1 of `inputs` has no"):
        layers.AdaptiveMaxPooling2D(2)(keras.Input((None, 4, 1)))
    with pytest.raises(ValueError, match="axes"):
        layers.AdaptiveAveragePooling1D(2)(np.ones((2, 3), "float32"))


X = (np.arange(24, dtype="float32").reshape(6, 4) % 7) / 3


def _renormalized(x, steps, momentum, renorm_momentum, epsilon=1e-3):
    """The formulas of the paper, over the same batch."""
    mean, deviation = x.mean(0), np.sqrt(x.var(0) + epsilon)
    m, s = np.zeros(4), np.ones(4)
    moving_mean, moving_deviation = np.zeros(4), np.ones(4)
    for _ in range(steps):
        y = (x - mean) / deviation * (deviation / s) + (mean - m) / s
        m = m * renorm_momentum + mean * (1 - renorm_momentum)
        s = s * renorm_momentum + deviation * (1 - renorm_momentum)
        moving_mean = moving_mean * momentum + mean * (1 - momentum)
        moving_deviation = moving_deviation * momentum + deviation * (1 - momentum)
    return y, moving_mean, moving_deviation


@pytest.mark.parametrize("traced", [False, True])
def test_renormalised_batches(traced):
    layer = layers.BatchNormalization(renorm=True, momentum=0.6, renorm_momentum=0.8)
    call = tf.function(lambda x: layer(x, training=True)) if traced else None
    for _ in range(3):
        y = call(X) if call is not None else layer(X, training=True)
    expected, mean, deviation = _renormalized(X, 3, 0.6, 0.8)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(layer.moving_mean, mean, rtol=1e-5)
    np.testing.assert_allclose(layer.moving_stddev, deviation, rtol=1e-5)
    np.testing.assert_allclose(layer.moving_variance, deviation**2 - 1e-3, rtol=1e-4)
    assert [w.name for w in layer.non_trainable_weights] == [
        *("moving_mean", "moving_variance", "moving_stddev"),
        *("renorm_mean", "renorm_stddev"),
    ]


def test_bounds_of_the_renormalisation():
    bounds = {"rmax": 1.0, "rmin": 1.0, "dmax": 0.0}
    layer = layers.BatchNormalization(renorm=True, renorm_clipping=bounds)
    plain = layers.BatchNormalization()
    np.testing.assert_allclose(layer(X, training=True), plain(X, training=True), atol=1e-5)
    assert layer.get_config()["renorm_clipping"] == bounds
    for wrong, says in (
        ({"other": 1.0}, "other"),
        ({"rmax": 0.0, "rmin": 1.0}, "rmax"),
        ({"dmax": -1.0}, "dmax"),
    ):
        with pytest.raises(ValueError, match=says):
            layers.BatchNormalization(renorm=True, renorm_clipping=wrong)


def test_deviations_begin_with_the_roots_of_the_variances():
    layer = layers.BatchNormalization(
        renorm=True, moving_variance_initializer=keras.initializers.Constant(4.0)
    )
    layer.build((None, 2))
    assert layer.moving_stddev.numpy().tolist() == layer.renorm_stddev.numpy().tolist() == [2, 2]


@pytest.fixture
def channels_first():
    keras.config.set_image_data_format("channels_first")
    yield
    keras.config.set_image_data_format("channels_last")


def test_channels_may_come_first_everywhere(channels_first):
    x = np.ones((1, 3, 4, 6), "float32")
    assert keras.config.image_data_format() == keras.backend.image_data_format() == "channels_first"
    assert layers.Conv2D(2, 3).data_format == "channels_first"
    assert layers.MaxPooling2D(2)(x).shape == (1, 3, 2, 3)
    assert layers.GlobalAveragePooling2D()(x).shape == (1, 3)
    assert keras.ops.average_pool(x, 2).shape == (1, 3, 2, 3)
    assert keras.ops.image.rgb_to_grayscale(x).shape == (1, 1, 4, 6)
    assert layers.MaxPooling2D(2, data_format="channels_last")(x).shape == (1, 1, 2, 6)


def test_what_no_format_is():
    with pytest.raises(ValueError, match="channels_last"):
        keras.config.set_image_data_format("channels_middle")


def test_flash_attention_may_be_refused_and_allowed_again():
    assert keras.config.is_flash_attention_enabled() is None
    keras.config.disable_flash_attention()
    assert keras.config.is_flash_attention_enabled() is False
    keras.config.enable_flash_attention()
    assert keras.config.is_flash_attention_enabled() is None
