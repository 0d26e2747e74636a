"""What Keras documents in passing: names that shapes tell, arrays as values, flags of weights."""

import array
import collections

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
layers = keras.layers


def _classifier(units):
    activation = "sigmoid" if units == 1 else "softmax"
    dense = layers.Dense(units, activation=activation, kernel_initializer="ones")
    return keras.Sequential([keras.Input((2,)), dense])


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("crossentropy", np.eye(3)[[0, 1, 2, 0]], np.log(3)),
        ("ce", np.array([0, 1, 2, 0]), np.log(3)),
        ("crossentropy", np.ones((4, 1)), np.log1p(np.exp(-2.0))),
    ],
)
def test_crossentropy_is_the_one_that_shapes_tell(name, labels, expected):
    units = 1 if labels.ndim == 2 and labels.shape[1] == 1 else 3
    model = _classifier(units)
    model.compile("sgd", name)
    assert model.evaluate(np.ones((4, 2)), labels, verbose=0) == pytest.approx(expected, rel=1e-5)
    assert model.get_compile_config()["loss"] == name


class _Two(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = layers.Dense(1, kernel_initializer="ones")
        self.b = layers.Dense(1, kernel_initializer="ones")

    def call(self, inputs):
        return self.a(inputs), self.b(inputs)


def test_losses_by_name_are_told_by_that_name():
    model = _Two()
    model.compile("sgd", ["mse", "mae"])
    zeros = np.zeros((4, 1))
    logs = model.evaluate(np.ones((4, 2)), (zeros, zeros), verbose=0, return_dict=True)
    assert logs == {"loss": 6.0, "mae_loss": 2.0, "mse_loss": 4.0}


def test_labels_are_those_of_the_only_output_with_a_loss():
    inputs = keras.Input((2,))
    x = layers.Dense(3, kernel_initializer="ones")(inputs)
    model = keras.Model(inputs, [x, x, x])
    model.compile(loss=["mse", None, None])
    assert model.evaluate(np.ones((8, 2)), np.ones((8, 3)), verbose=0) == 1.0


def test_compute_loss_knows_whether_it_trains():
    told = []

    class Model(keras.Sequential):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            told.append(training)
            return super().compute_loss(x, y, y_pred, sample_weight, training)

    model = Model([keras.Input((2,)), layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    x, y = np.ones((2, 2)), np.ones((2, 1))
    model.evaluate(x, y, verbose=0)
    model.fit(x, y, verbose=0)
    assert told == [False, True]


def test_compute_loss_of_before_keras_3_is_called_without():
    class Model(keras.Sequential):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            return keras.ops.mean(y_pred) * 0 + 3

    model = Model([keras.Input((2,)), layers.Dense(1)])
    model.compile("sgd")
    assert model.evaluate(np.ones((2, 2)), np.ones((2, 1)), verbose=0) == 3


def test_a_list_does_not_say_which_named_input_is_which():
    a, b = keras.Input((2,), name="IT"), keras.Input((2,), name="IS")
    model = keras.Model({"IT": a, "IS": b}, layers.subtract([a, b]))
    one, zero = np.ones((1, 2)), np.zeros((1, 2))
    assert model({"IS": zero, "IT": one}).numpy().tolist() == [[1, 1]]
    with pytest.raises(TypeError, match="its inputs have names") as error:
        model([one, zero])
    assert "`IT`" in str(error.value)


@pytest.mark.parametrize("form", [list, tuple])
def test_a_list_is_taken_for_named_inputs_in_the_order_of_their_names(form):
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
    model = keras.Model({"a": a, "b": b}, layers.subtract([a, b]))
    both = form([np.full((1, 2), 3.0), np.ones((1, 2))])
    assert model(both).numpy().tolist() == [[2, 2]]
    assert model.predict(both, verbose=0).tolist() == [[2, 2]]


def test_a_model_within_another_begins_with_an_input_layer():
    inputs = keras.Input((4,))
    hidden = layers.Dense(3)(inputs)
    part = keras.Model(hidden, layers.Dense(2, name="last")(hidden))
    assert [type(layer).__name__ for layer in part.layers] == ["InputLayer", "Dense"]
    assert part.get_layer(index=1).name == "last"
    assert part(np.ones((2, 3))).shape == (2, 2)
    assert len(part.get_weights()) == 2


def test_build_without_a_shape():
    table = layers.Embedding(4, 3)
    table.build()
    assert [tuple(w.shape) for w in table.weights] == [(4, 3)]
    dropout = layers.Dropout(0.5)
    dropout.build(None)
    assert dropout.built
    with pytest.raises(ValueError, match="`inputs` has the shape"):
        layers.Dense(2).build(None)


def test_weights_say_whether_their_layer_is_trained():
    model = keras.Sequential([keras.Input((2,)), layers.Dense(2), layers.BatchNormalization()])
    model.trainable = False
    assert not any(w.trainable for w in model.weights)
    model.trainable = True
    assert [w.trainable for w in model.weights] == [True] * 4 + [False] * 2
    model.layers[0].trainable = False
    assert [w.trainable for w in model.weights] == [False] * 2 + [True] * 2 + [False] * 2


def test_no_examples_have_no_penalty():
    dense = layers.Dense(2, activity_regularizer="l2")
    dense(np.ones((0, 3)))
    assert [float(loss) for loss in dense.losses] == [0.0]


@pytest.mark.parametrize("kind", [keras.metrics.Mean, keras.losses.MeanSquaredError])
def test_a_policy_is_taken_as_what_it_computes_in(kind):
    assert kind(dtype=keras.DTypePolicy("mixed_float16")).dtype == "float16"


def test_thresholds_of_auc_have_both_ends():
    given = keras.metrics.AUC(thresholds=[0.3, 0.5])
    np.testing.assert_allclose(given.thresholds, [0, 0.3, 0.5, 1], atol=1e-6)
    assert given.get_config()["thresholds"] == [0.3, 0.5]
    np.testing.assert_allclose(
        keras.metrics.AUC(num_thresholds=3).thresholds, [0, 0.5, 1], atol=1e-6
    )


def test_classes_along_another_axis():
    labels = np.array([[0, 1], [1, 2]])
    given = np.random.default_rng(0).random((3, 2, 2)).astype("float32")
    loss = keras.losses.SparseCategoricalCrossentropy(axis=0, reduction=None)
    last = keras.losses.SparseCategoricalCrossentropy(reduction=None)
    expected = last(labels, np.moveaxis(given, 0, -1)).numpy()
    np.testing.assert_array_equal(loss(labels, given).numpy(), expected)


@pytest.mark.parametrize(
    ("interpolation", "row"),
    [
        ("bicubic", [-0.37, -0.265, -0.024, 0.343, 0.735, 1.128, 1.494, 1.735, 1.841]),
        ("lanczos3", [-0.398, -0.278, -0.101, 0.219, 0.722, 1.226, 1.546, 1.722, 1.843]),
        ("lanczos5", [-0.116, -0.083, 0.035, 0.354, 0.917, 1.48, 1.799, 1.917, 1.949]),
    ],
)
def test_images_made_larger_by_wide_filters(interpolation, row):
    images = np.arange(18, dtype="float32").reshape(2, 3, 3, 1)
    layer = layers.UpSampling2D((2, 3), interpolation=interpolation)
    np.testing.assert_allclose(layer(images).numpy()[0, 0, :, 0], row, atol=1e-3)
    symbol = layer(keras.Input((3, 3, 1)))
    assert symbol.shape == (None, 6, 9, 1)
    first = layers.UpSampling2D((2, 3), data_format="channels_first", interpolation=interpolation)
    turned = first(images.transpose(0, 3, 1, 2)).numpy().transpose(0, 2, 3, 1)
    np.testing.assert_allclose(turned, layer(images).numpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="`interpolation` of UpSampling2D"):
        layers.UpSampling2D(interpolation="cubic")


def test_arrays_are_values_of_initializers_and_of_configs():
    values = np.arange(6.0).reshape(2, 3)
    constant = keras.initializers.Constant(values)
    np.testing.assert_array_equal(constant((2, 3)).numpy(), values)
    again = keras.initializers.deserialize(keras.initializers.serialize(constant))
    np.testing.assert_array_equal(again((2, 3)).numpy(), values)
    dense = layers.Dense(3, kernel_initializer=values)
    dense.build((None, 2))
    np.testing.assert_array_equal(dense.kernel.numpy(), values)
    np.testing.assert_array_equal(
        keras.initializers.get(tf.constant(values))((2, 3)).numpy(), values
    )
    config = keras.saving.serialize_keras_object({"a": values, "b": tf.constant([1, 2])})
    assert config["a"]["class_name"] == "__numpy__"
    back = keras.saving.deserialize_keras_object(config)
    assert back["a"].dtype == np.float64
    np.testing.assert_array_equal(back["a"], values)
    assert back["b"].dtype == tf.int32


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [[0, 0, 0], [0.70711, 0, -0.70711], [0.70711, -0.70711, 0.70711], [0, 0, 0]]),
        (
            {"side": "imag", "window": "hamming", "scaling": "spectrum", "periodic": True},
            [[0, 0, 0], [0, -0.25, 0], [0, 0, 0], [0, 0.25, 0]],
        ),
        (
            {"side": "imag", "window": [1.0, 2.0, 3.0, 4.0]},
            [[0, 0, 0], [0, -0.36515, 0], [0, 0, 0], [0, 0.7303, 0]],
        ),
        ({"window": None, "scaling": None}, [[1, 1, 1], [1, 0, -1], [1, -1, 1], [1, 0, -1]]),
        (
            {"window": "blackman", "scaling": None, "periodic": True},
            [[0, 0, 0], [0.34, 0, -0.34], [1, -1, 1], [0.34, 0, -0.34]],
        ),
    ],
)
def test_kernels_of_a_fourier_transform(options, expected):
    made = keras.initializers.STFT(**options)
    np.testing.assert_allclose(made((4, 1, 3)).numpy()[:, 0], expected, atol=1e-5)
    again = keras.initializers.STFT.from_config(made.get_config())
    np.testing.assert_array_equal(again((4, 1, 3)).numpy(), made((4, 1, 3)).numpy())


def test_a_window_that_is_not_there_is_named():
    with pytest.raises(tf.errors.UnimplementedError, match='the window "kaiser"'):
        keras.initializers.STFT(window="kaiser")
    with pytest.raises(ValueError, match="`window` of STFT has 2 numbers, expected 4"):
        keras.initializers.STFT(window=[1.0, 2.0])((4, 1, 3))


def test_callbacks_that_wait_show_and_take_how_long():
    stop = keras.callbacks.EarlyStopping(monitor="accuracy")
    assert stop.monitor_op is keras.ops.greater
    assert keras.callbacks.ReduceLROnPlateau().monitor_op is keras.ops.less
    stop.wait = 3
    assert stop.wait == 3
    plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=1, cooldown=2, factor=0.5)
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    told = keras.callbacks.CallbackList([plateau], model=model)
    told.on_train_begin()
    for epoch in range(2):
        told.on_epoch_end(epoch, {"loss": 1.0})
    assert (plateau.in_cooldown(), plateau.cooldown_counter) == (True, 2)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.005)


def test_moments_of_float16_stay_within_its_range():
    values = np.array([1000.0, -1000.0, 0.0, 900.0], "float16")
    for together in (False, True):
        mean, variance = keras.ops.moments(values, axes=[0], synchronized=together)
        assert (float(mean), float(variance)) == (225.0, 65504.0)


def test_moments_of_several_replicas_are_refused(monkeypatch):
    strategy = type(tf.distribute.get_strategy())
    monkeypatch.setattr(strategy, "num_replicas_in_sync", 2)
    assert float(keras.ops.moments(np.ones(3), axes=[0])[0]) == 1
    with pytest.raises(NotImplementedError, match="2 replicas") as error:
        keras.ops.moments(np.ones(3), axes=[0], synchronized=True)
    assert "all_reduce" in str(error.value)


def test_a_stream_of_seeds_is_made_from_its_config():
    stream = keras.random.SeedGenerator(5)
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(stream))
    assert again.next().numpy().tolist() == stream.next().numpy().tolist()


def test_layers_are_found_by_their_place_among_inputs_too():
    inputs = keras.Input((2,), name="in")
    model = keras.Model(inputs, layers.Dense(3, name="out")(inputs))
    assert [model.get_layer(index=i).name for i in (0, 1, -1)] == ["in", "out", "out"]
    assert model.get_layer("in") is model.layers[0]
    for index in (2, -3):
        with pytest.raises(ValueError, match=rf"`index` is {index}, .* has 2 layers"):
            model.get_layer(index=index)


def test_what_a_call_is_told_about_training_stays():
    """As Keras' guides have it for models whose statistics are to stay as they are."""
    norm = layers.BatchNormalization()
    inputs = keras.Input((2,))
    model = keras.Model(inputs, layers.Dense(1)(norm(inputs, training=False)))
    model.compile("sgd", "mse")
    model.fit(np.full((4, 2), 5.0), np.ones((4, 1)), verbose=0)
    assert norm.moving_mean.numpy().tolist() == [0, 0]


_Pair = collections.namedtuple("_Pair", "a b")


class _Paired(_Two):
    def call(self, inputs):
        return _Pair(*super().call(inputs))


@pytest.mark.parametrize("eager", [False, True])
def test_predictions_in_a_named_tuple(eager):
    model = _Paired()
    model.compile("sgd", ["mse", "mae"], run_eagerly=eager)
    x, zeros = np.ones((4, 2)), np.zeros((4, 1))
    for made in (model.predict(x, batch_size=3, verbose=0), model.predict_on_batch(x)):
        assert type(made) is _Pair
        assert made.a.tolist() == [[2.0]] * 4
    model.fit(x, _Pair(zeros, zeros), verbose=0)
    assert type(model.predict(x, verbose=0)) is _Pair


class _Unpaired(_Paired):
    def predict_step(self, data):
        made = self(keras.utils.unpack_x_y_sample_weight(data)[0])
        return made.b, made.a


@pytest.mark.parametrize("eager", [False, True])
def test_predictions_have_the_form_that_ones_own_step_gives(eager):
    model = _Unpaired()
    model.compile("sgd", ["mse", "mae"], run_eagerly=eager)
    x, zeros = np.ones((4, 2)), np.zeros((4, 1))
    model.fit(x, _Pair(zeros, zeros), verbose=0)
    for made in (model.predict(x, batch_size=3, verbose=0), model.predict_on_batch(x)):
        assert type(made) is tuple


class _Further(_Paired):
    def predict_step(self, data):
        return super().predict_step(data)


def test_ones_own_step_is_given_the_named_tuple_by_that_of_keras():
    model, x = _Further(), np.ones((4, 2))
    for made in (model.predict(x, batch_size=3, verbose=0), model.predict_on_batch(x)):
        assert type(made) is _Pair


def test_a_plain_function_in_the_place_of_call():
    model = _Two()
    model.call = lambda inputs: _Pair(inputs, inputs + 1)
    made = model.predict(np.ones((4, 2)), verbose=0)
    assert made[1].tolist() == [[2.0, 2.0]] * 4


def test_weights_made_after_freezing_say_so():
    given, later = layers.Dense(2, trainable=False), layers.Dense(2)
    later.trainable = False
    for dense in (given, later):
        dense.build((None, 3))
        assert [w.trainable for w in dense.weights] == [False, False]
        assert not dense.kernel.trainable
        dense.trainable = True
        assert dense.kernel.trainable and len(dense.trainable_variables) == 2
    norm = layers.BatchNormalization(trainable=False)
    norm(np.ones((2, 3)))
    assert not any(w.trainable for w in norm.weights)
    norm.trainable = True
    assert [w.trainable for w in norm.weights] == [True, True, False, False]


class _Weighing(layers.Layer):
    def build(self, shape):
        self.own = self.add_weight(shape=(2,))
        self.inner = layers.Dense(2)
        self.inner.build(shape)


def test_freezing_is_of_the_layer_that_makes_the_weight():
    layer = _Weighing(trainable=False)
    layer.build((None, 3))
    assert not layer.own.trainable and layer.inner.kernel.trainable
    assert layer.trainable_variables == []


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("nearest", [[0, 0, 10, 10], [0, 0, 10, 10], [20, 20, 31, 31], [20, 20, 31, 31]]),
        ("bilinear", [[0, 2, 8, 10], [5, 8, 13, 15], [15, 18, 23, 26], [20, 23, 28, 31]]),
        ("bicubic", [[-3, 0, 6, 9], [3, 6, 12, 15], [15, 18, 24, 28], [21, 24, 31, 34]]),
    ],
)
@pytest.mark.parametrize("order", ["channels_last", "channels_first"])
def test_what_lies_between_integers_is_rounded(dtype, method, expected, order):
    image = np.array([[0, 10], [20, 31]], dtype)
    image = image[None, :, :, None] if order == "channels_last" else image[None, None]
    layer = layers.UpSampling2D(2, data_format=order, interpolation=method, dtype=dtype)
    made = layer(image)
    assert made.dtype == dtype
    least = 0 if dtype == "uint8" else -9
    assert np.squeeze(made).tolist() == np.maximum(expected, least).tolist()


@pytest.mark.parametrize("value", [array.array("i", [1, 2]), memoryview(b"ab")])
def test_what_has_a_list_but_no_dtype_is_no_array_in_a_config(value):
    with pytest.raises(TypeError, match="bins") as error:
        keras.saving.serialize_keras_object({"bins": value})
    assert "dtype" not in str(error.value)


def test_queries_that_see_no_key_give_zero():
    attention = layers.MultiHeadAttention(1, 2, dropout=0.1)  # without, their mean
    x = np.ones((1, 3, 2), "float32")
    seen = np.array([[[True, True, False], [False, False, False], [True, True, True]]])
    given = attention(x, x, attention_mask=seen).numpy()
    assert given[0, 1].tolist() == [0, 0]
    assert np.abs(given[0, 0]).min() > 0


def test_maps_over_symbols_of_a_model():
    inputs = keras.Input((3,))
    twice = keras.ops.map(lambda row: row * 2, inputs)
    both = keras.ops.vectorized_map(lambda rows: rows[0] + rows[1], (twice, inputs))
    assert both.shape == (None, 3)
    model = keras.Model(inputs, both)
    assert model.predict(np.ones((5, 3)), verbose=0).tolist() == [[3.0] * 3] * 5


def test_a_counted_loop_counts_in_numbers_of_python():
    assert keras.ops.fori_loop(0, 4, lambda i, value: value + i, np.array(1)).numpy() == 7
    assert keras.ops.fori_loop(0, 0, lambda i, value: value + i, 2.0).dtype == "float32"
    counted = tf.function(lambda x: keras.ops.fori_loop(0, 4, lambda i, value: value + i, x))
    assert counted(tf.constant(1)).numpy() == 7


def test_fractions_are_cut_off_where_integers_are_wanted():
    for given, expected in (([1.5, 2], [1, 2]), ([[-1.7]], [[-1]]), (np.float32(2.5), 2)):
        made = keras.ops.convert_to_tensor(given, dtype="int32")
        assert made.dtype == tf.int32
        assert made.numpy().tolist() == expected
    assert keras.ops.convert_to_tensor(2**40, dtype="int64").numpy() == 2**40


def test_an_array_of_a_tensor_is_the_programs_own():
    given = tf.constant([1.0, 2.0])
    array = keras.ops.convert_to_numpy(given)
    array[0] = 5
    assert given.numpy().tolist() == [1, 2]
