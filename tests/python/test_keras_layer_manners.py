"""What layers refuse, what goes along with their tensors, and the functions beside them."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
layers = keras.layers


# What is refused, by name.


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: layers.Conv2D(0, 3), "`filters` is 0"),
        (lambda: layers.Conv2D(4, 0), "`kernel_size` is [0, 0]"),
        (lambda: layers.Conv2D(4, (3, 3, 3)), "`kernel_size` has 3 sizes"),
        (lambda: layers.Conv2D(4, 3, padding="causal"), '`padding` is "causal"'),
        (lambda: layers.Conv2D(4, 3, strides=2, dilation_rate=2), "one of them to be 1"),
        (lambda: layers.Conv2D(4, 3, groups=3), "a multiple of `groups`"),
        (lambda: layers.Conv2D(4, 3, data_format="NHWC"), '`data_format` is "NHWC"'),
        (lambda: layers.Conv2DTranspose(2, 3, strides=2, output_padding=2), "`output_padding`"),
        (lambda: layers.MaxPooling2D(0), "`pool_size` is [0, 0]"),
        (lambda: layers.Dropout(1.5), "`rate` is 1.5"),
        (lambda: layers.BatchNormalization(renorm=True, renorm_clipping=3), "`renorm_clipping`"),
        (lambda: layers.GroupNormalization(0), "`groups` is 0"),
        (lambda: layers.Reshape((-1, -1)), "`target_shape` is [-1, -1]"),
        (lambda: layers.Permute((0, 1)), "`dims` is [0, 1]"),
        (lambda: layers.RepeatVector(0), "`n` is 0"),
        (lambda: layers.Cropping2D(((1, 2, 3), 1)), "`cropping`"),
        (lambda: layers.ZeroPadding2D(-1), "`padding` is -1"),
        (lambda: layers.UpSampling2D(interpolation="cubic"), "`interpolation`"),
        (lambda: layers.ReLU(max_value=-1.0), "`max_value` is -1"),
        (lambda: layers.EinsumDense("ab->c", 3), '`equation` is "ab->c"'),
        (lambda: layers.Normalization(mean=1.0), "`mean` is given without `variance`"),
        (lambda: layers.Conv2D(4, 3, kernel="x"), "`kernel`"),
    ],
)
def test_bad_options_are_refused_by_name(make, said):
    with pytest.raises((ValueError, TypeError, NotImplementedError)) as refused:
        make()
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("layer", "shapes", "said"),
    [
        (layers.Conv2D(2, 3, name="here"), [(2, 5, 5)], "expected 4 axes"),
        (layers.Conv2D(2, 3, name="here"), [(2, 2, 5, 3)], "expected at least 3 along axis 1"),
        (layers.Conv1D(2, 3, groups=2, name="here"), [(2, 5, 3)], "a multiple of 2"),
        (layers.MaxPooling2D(4, name="here"), [(2, 3, 5, 3)], "expected at least 4 along axis 1"),
        (layers.BatchNormalization(axis=3, name="here"), [(2, 3)], "has no axis 3"),
        (layers.GroupNormalization(4, name="here"), [(2, 6)], "a multiple of 4"),
        (layers.Reshape((4,), name="here"), [(2, 6)], "4 elements"),
        (layers.Permute((2, 1), name="here"), [(2, 6)], "expected 3 axes"),
        (layers.Cropping1D(2, name="here"), [(2, 4, 1)], "expected more than 4"),
        (layers.Add(name="here"), [(2, 3), (2, 4)], "broadcast"),
        (layers.Subtract(name="here"), [(2, 3)] * 3, "expected two"),
        (layers.Concatenate(name="here"), [(2, 3), (3, 3)], "differ along axis -1 only"),
        (layers.Dot(1, name="here"), [(2, 3), (2, 4)], "the same size"),
    ],
)
def test_bad_shapes_are_refused_with_layer_and_shape(layer, shapes, said):
    inputs = [tf.ones(s) for s in shapes]
    with pytest.raises(ValueError) as refused:
        layer(inputs[0] if len(inputs) == 1 else inputs)
    text = str(refused.value)
    assert "`here`" in text and said in text
    assert layer.weights == []


def test_a_built_layer_refuses_other_channels():
    layer = layers.Conv2D(2, 3, name="stem")
    layer(tf.ones((1, 5, 5, 3)))
    with pytest.raises(ValueError, match=r"built for \[1,5,5,3\], and got \[1,5,5,4\]") as refused:
        layer(tf.ones((1, 5, 5, 4)))
    assert "`stem`" in str(refused.value)


def test_a_list_is_needed_to_merge():
    with pytest.raises((ValueError, TypeError), match="expected a list"):
        layers.Concatenate()(tf.ones((2, 3)))


# Names, attributes, signatures.


def test_aliases_names_and_tuples_are_those_of_keras():
    assert layers.Convolution2D is layers.Conv2D
    assert layers.MaxPool2D is layers.MaxPooling2D
    assert layers.GlobalAvgPool2D is layers.GlobalAveragePooling2D
    layer = layers.Conv2D(4, 3, strides=(2, 1))
    assert (layer.kernel_size, layer.strides, layer.padding) == ((3, 3), (2, 1), "valid")
    assert layers.Conv2DTranspose(1, 1).name.startswith("conv2d_transpose")
    assert layers.LeakyReLU().name.startswith("leaky_re_lu")


# Training.


def test_a_batch_normalization_learns_its_averages_while_training_only():
    layer = layers.BatchNormalization(momentum=0.5)
    x = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
    layer(x)
    np.testing.assert_array_equal(layer.moving_mean, [0, 0, 0])
    y = layer(x, training=True)
    np.testing.assert_allclose(layer.moving_mean, np.mean(x, axis=0) / 2, rtol=1e-6)
    np.testing.assert_allclose(layer.moving_variance, 0.5 + np.var(x, axis=0) / 2, rtol=1e-6)
    np.testing.assert_allclose(np.mean(y, axis=0), [0, 0, 0], atol=1e-5)
    step = tf.function(lambda t: layer(t, training=True))
    step(x)
    np.testing.assert_allclose(layer.moving_mean, np.mean(x, axis=0) * 0.75, rtol=1e-6)
    layer.trainable = False
    before = layer.moving_mean.numpy()
    layer(x, training=True)
    np.testing.assert_array_equal(layer.moving_mean, before)


def test_a_dropout_draws_anew_each_time_also_when_traced():
    x = tf.ones((64, 8))
    layer = layers.Dropout(0.5, seed=3)
    step = tf.function(lambda t: layer(t, training=True))
    first, second = step(x).numpy(), step(x).numpy()
    assert (first != second).any()
    assert set(np.unique(first)) == {0.0, 2.0}
    twin = layers.Dropout(0.5, seed=3)
    np.testing.assert_array_equal(twin(x, training=True), first)
    np.testing.assert_array_equal(twin(x, training=True), second)
    np.testing.assert_array_equal(layer(x), x)
    assert layer.weights == []


# Masks.


def test_a_masking_says_which_steps_count():
    x = tf.constant([[[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]]])
    mask = layers.Masking().compute_mask(x)
    np.testing.assert_array_equal(mask, [[True, False, True]])
    mean = layers.GlobalAveragePooling1D()(x, mask=mask)
    np.testing.assert_allclose(mean, [[2.0, 1.0]])


# Functions beside the classes, and adapt.


def test_merging_has_functions():
    a, b = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 5.0]])
    np.testing.assert_array_equal(layers.add([a, b]), [[4, 7]])
    np.testing.assert_array_equal(layers.concatenate([a, b], axis=0), [[1, 2], [3, 5]])
    np.testing.assert_array_equal(layers.dot([a, b], axes=1), [[13]])
    np.testing.assert_array_equal(layers.maximum([a, b]), b)
    x = keras.Input((2,))
    model = keras.Model(x, layers.multiply([x, x]))
    np.testing.assert_array_equal(model(b), [[9, 25]])


@pytest.mark.parametrize("form", ["array", "tensor", "batches", "pairs"])
def test_adapt_finds_mean_and_variance(form):
    data = np.random.default_rng(0).normal(3, 2, (50, 3)).astype(np.float32)
    given = {
        "array": data,
        "tensor": tf.constant(data),
        "batches": (data[i : i + 16] for i in range(0, 50, 16)),
        "pairs": [(data[:20], None), (data[20:], None)],
    }[form]
    layer = layers.Normalization()
    assert layer.mean is None
    layer.adapt(given)
    assert layer.mean.shape == (1, 3)
    np.testing.assert_allclose(layer.mean, data.mean(0, keepdims=True), rtol=1e-4)
    np.testing.assert_allclose(layer.variance, data.var(0, keepdims=True), rtol=1e-4)
    np.testing.assert_allclose(np.std(layer(data), axis=0), [1, 1, 1], rtol=1e-3)


def test_adapt_refuses_what_is_no_data():
    layer = layers.Normalization(name="scaled")
    with pytest.raises((ValueError, TypeError), match="no data"):
        layer.adapt([])
    with pytest.raises((ValueError, TypeError)):
        layer.adapt(3)
    layer.adapt(np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match="expected 3 along axis 1"):
        layer.adapt(np.ones((2, 4), np.float32))


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: keras.layers.Dense(2), (None, 3)),
        (lambda: keras.layers.BatchNormalization(), (None, 3)),
        (lambda: keras.layers.Conv1D(2, 3), (None, 5, 2)),
    ],
)
def test_a_second_build_makes_no_second_weights(make, shape):
    layer = make()
    layer.build(shape)
    count = len(layer.weights)
    layer.build(shape)
    layer.build_from_config({"input_shape": shape})
    with pytest.raises(ValueError, match="was built for"):
        layer.build((*shape[:-1], shape[-1] + 1))
    assert len(layer.weights) == count
    asked = make()
    asked.compute_output_shape(shape)
    asked.build(shape)
    assert len(asked.weights) == count
