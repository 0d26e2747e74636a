"""Which variables layers have besides weights: streams of seeds, what metrics gather."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
layers = keras.layers

# How many streams each draws from, as Keras 3 counts them.
STREAMS = [
    (lambda: layers.Dropout(0.5), 1),
    (lambda: layers.Dropout(0.0), 0),
    (lambda: layers.GaussianNoise(0.1, seed=3), 1),
    (lambda: layers.SpatialDropout2D(0.2), 1),
    (lambda: layers.LSTM(3), 1),
    (lambda: layers.GRUCell(3), 1),
    (lambda: layers.StackedRNNCells([layers.GRUCell(2), layers.LSTMCell(2)]), 2),
    (lambda: layers.TimeDistributed(layers.AlphaDropout(0.4)), 1),
    (lambda: layers.Attention(), 0),
    (lambda: layers.Attention(dropout=0.1), 1),
    (lambda: layers.Dense(2), 0),
]


@pytest.mark.parametrize(("make", "count"), STREAMS)
def test_streams_are_variables_and_no_weights(make, count):
    layer = make()
    assert layer.weights == layer.get_weights() == []
    assert len(layer.variables) == len(layer.non_trainable_variables) == count
    for state in layer.variables:
        assert state.path.startswith("seed_generator")
        assert state.name == "seed_generator_state"
        assert (state.dtype.name, tuple(state.shape)) == ("int64", (2,))


class Noise(layers.Layer):
    """A layer of a program's that draws, measures and computes."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.streams = [keras.random.SeedGenerator(7)]
        self.seen = keras.metrics.Mean(name="seen")
        self.inner = layers.Dense(2, name="inner")

    def call(self, x):
        y = self.inner(x)
        self.seen.update_state(y)
        return y + keras.random.normal((1,), seed=self.streams[0])


def test_a_program_s_own_streams_and_metrics():
    layer = Noise(name="noise")
    assert [v.name for v in layer.variables] == ["seed_generator_state"]
    assert [v.path for v in layer.metrics_variables] == ["seen/total", "seen/count"]
    layer(np.ones((2, 3), "float32"))
    assert [v.name for v in layer.variables] == ["seed_generator_state", "kernel", "bias"]
    assert [v.name for v in layer.weights] == ["kernel", "bias"]
    assert layer.count_params() == 8
    assert layer.metrics == [layer.seen]
    model = keras.Sequential([keras.Input((3,)), layers.Dense(3), layers.Dropout(0.5), layer])
    assert [v.name for v in model.variables] == [
        *("kernel", "bias"),
        *("seed_generator_state", "seed_generator_state"),
        *("kernel", "bias"),
    ]
    assert len(model.get_weights()) == 4


def test_streams_as_keras_lists_them():
    layer = layers.Dropout(0.5, seed=3)
    (stream,) = layer._seed_generators
    assert stream.get_config()["seed"] == 3 and stream.state is layer.variables[0]
    before = stream.next().numpy().tolist()
    assert stream.state.numpy().tolist() == [before[0], before[1] + 1]


def test_inputs_stay_as_they_are_without_autocast():
    class Same(layers.Layer):
        def call(self, x):
            return x

    x = tf.ones([2], "float64")
    assert Same().autocast and Same()(x).dtype == "float32"
    assert not Same(autocast=False).autocast and Same(autocast=False)(x).dtype == "float64"


def test_streams_are_in_no_file(tmp_path):
    model = keras.Sequential([keras.Input((3,)), layers.Dropout(0.5, seed=1), Noise(name="noise")])
    before = [v.numpy().copy() for v in model.variables if v.name == "seed_generator_state"]
    path = str(tmp_path / "m.weights.h5")
    model.save_weights(path)
    model(np.ones((2, 3), "float32"), training=True)
    moved = [v.numpy() for v in model.variables if v.name == "seed_generator_state"]
    assert all((a != b).any() for a, b in zip(before, moved, strict=True))
    model.load_weights(path)
    now = [v.numpy() for v in model.variables if v.name == "seed_generator_state"]
    np.testing.assert_array_equal(now, moved)


def test_a_call_without_effects_draws_from_the_states_that_it_is_given():
    model = keras.Sequential([keras.Input((8,)), layers.Dropout(0.5, seed=3), layers.Dense(1)])
    trained, others = model.trainable_variables, model.non_trainable_variables
    x = np.ones((4, 8), "float32")
    first, after = model.stateless_call(trained, others, x, training=True)
    again, _ = model.stateless_call(trained, others, x, training=True)
    later, _ = model.stateless_call(trained, after, x, training=True)
    np.testing.assert_array_equal(first, again)
    assert (np.asarray(first) != np.asarray(later)).any()


# What Keras 3.15 gives on TensorFlow: steps of ones, kernels of ones.
DROPPED = [
    (
        lambda: layers.LSTM(3, dropout=0.5, seed=11),
        [[0.9949] * 3, [0.9845] * 3],
    ),
    (
        lambda: layers.GRU(2, dropout=0.3, recurrent_dropout=0.4, seed=12),
        [[0.0, 0.0], [0.4751, 0.4751]],
    ),
]


@pytest.mark.parametrize(("make", "expected"), DROPPED)
def test_recurrent_layers_drop_what_keras_drops(make, expected):
    layer = make()
    x = np.ones((2, 3, 4), "float32")
    layer.build(x.shape)
    layer.cell.kernel.assign(tf.ones_like(layer.cell.kernel))
    layer.cell.recurrent_kernel.assign(tf.ones_like(layer.cell.recurrent_kernel))
    np.testing.assert_allclose(layer(x, training=True), expected, atol=1e-4)
    assert layer.variables[-1].numpy()[1] > 0  # the stream has moved


def test_attention_drops_what_keras_drops():
    x = np.arange(12, dtype="float32").reshape(1, 3, 4) / 10
    out = layers.Attention(dropout=0.5, seed=3)([x, x], training=True)
    np.testing.assert_allclose(np.asarray(out)[0, :, 0], [0.9268, 0.0, 1.2633], atol=1e-4)


AT_ONCE = [
    *(layers.Activation("relu"), layers.ReLU(), layers.LeakyReLU(), layers.Softmax()),
    *(layers.Dropout(0.5), layers.GaussianDropout(0.2), layers.Identity(), layers.Masking()),
    *(layers.MaxPooling2D(), layers.GlobalAveragePooling1D(), layers.UnitNormalization()),
    *(layers.Reshape((2,)), layers.ActivityRegularization()),
]


@pytest.mark.parametrize("layer", AT_ONCE, ids=lambda layer: type(layer).__name__)
def test_layers_without_weights_are_built_at_once(layer):
    assert layer.built


@pytest.mark.parametrize(
    "layer", [layers.Flatten(), layers.Dense(2), layers.Add(), layers.PReLU(), layers.LSTM(2)]
)
def test_others_are_not(layer):
    assert not layer.built


def test_a_class_that_says_how_it_is_built_is_built_then():
    class Scaled(layers.Dropout):
        def build(self, shape):
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

        def call(self, x):
            return x * self.scale

    layer = Scaled(0.5)
    assert not layer.built
    assert layer(np.ones((2, 3), "float32")).shape == (2, 3)
    assert layer.built and len(layer.weights) == 1


def test_metrics_have_their_variables_from_the_start():
    for metric in (keras.metrics.Mean(), keras.metrics.BinaryAccuracy(), keras.metrics.Hinge()):
        assert [v.name for v in metric.variables] == ["total", "count"]
    assert [v.name for v in keras.metrics.Sum().variables] == ["total"]
    assert [v.name for v in keras.metrics.FalsePositives().variables] == ["accumulator"]


def test_a_weight_may_be_frozen_alone():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    kernel, bias = model.weights
    kernel.trainable = False
    assert (model.trainable_variables, model.non_trainable_variables) == ([bias], [kernel])
    model.compile("sgd", "mse")
    before = kernel.numpy().copy()
    model.fit(np.ones((4, 3), "float32"), np.ones((4, 1), "float32"), verbose=0)
    np.testing.assert_array_equal(kernel, before)
    assert bias.numpy() != 0
    kernel.trainable = True
    assert model.trainable_variables == [kernel, bias]


def _two_outputs():
    x = keras.Input((3,))
    return keras.Model(x, [layers.Dense(1, name="a")(x), layers.Dense(1, name="b")(x)])


def test_metrics_of_one_name_are_told_apart():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mse", "mse"], weighted_metrics=["mse", "mse", "mae"])
    x, y = np.ones((4, 3), "float32"), np.ones((4, 1), "float32")
    logs = model.fit(x, y, verbose=0).history
    assert sorted(logs) == ["loss", "mae", "mse", "mse_1", "weighted_mse", "weighted_mse_1"]
    assert logs["mse"] == logs["mse_1"] == logs["weighted_mse"]

    model = _two_outputs()
    model.compile("sgd", "mse", metrics=["mae", "mae"], weighted_metrics=["mae", "mse"])
    logs = model.fit(x, [y, y], verbose=0).history
    assert sorted(logs) == [
        *("a_loss", "a_mae", "a_weighted_mae"),
        *("b_loss", "b_mae", "b_mse", "loss"),
    ]


def test_names_of_metrics_before_the_first_batch():
    model = _two_outputs()
    model.compile("sgd", "mse", metrics=["mae", keras.metrics.MeanSquaredError(name="own")])
    assert model.metrics_names == ["loss", "a_loss", "b_loss", "a_mae", "own"]


def test_a_loss_that_is_no_number_raises_a_runtime_error():
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.full((4, 2), np.inf, "float32"), np.ones((4, 1), "float32")
    with pytest.raises(RuntimeError, match="the loss of batch 0"):
        model.fit(x, y, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN(raise_error=True)])


def test_an_initializer_draws_from_a_stream_that_it_is_given():
    ones = [
        lambda seed: keras.initializers.RandomNormal(seed=seed),
        lambda seed: keras.initializers.RandomUniform(seed=seed),
        lambda seed: keras.initializers.TruncatedNormal(seed=seed),
        lambda seed: keras.initializers.GlorotUniform(seed=seed),
        lambda seed: keras.initializers.VarianceScaling(seed=seed),
        lambda seed: keras.initializers.Orthogonal(seed=seed),
    ]
    for make in ones:
        stream = keras.random.SeedGenerator(9)
        first, second = make(stream)((3, 3)), make(stream)((3, 3))
        assert int(stream.state[1]) == 2  # each draw is one further
        assert not np.allclose(first, second)
        np.testing.assert_array_equal(make(9)((3, 3)), first)  # a number is the stream's first seed
        assert make(stream).seed is stream


def test_an_initializer_with_a_stream_is_made_from_its_config():
    made = keras.initializers.HeNormal(seed=keras.random.SeedGenerator(4, name="mine"))
    config = keras.initializers.serialize(made)
    told = config["config"]["seed"]
    assert (told["module"], told["class_name"]) == ("keras.random", "SeedGenerator")
    assert told["config"] == {"seed": 4, "name": "mine"}
    again = keras.initializers.deserialize(config)
    assert isinstance(again.seed, keras.random.SeedGenerator)
    np.testing.assert_array_equal(again((2, 2)), made((2, 2)))
    with pytest.raises((TypeError, ValueError), match="seed"):
        keras.initializers.HeNormal(seed="four")


def test_layers_may_share_a_stream():
    stream = keras.random.SeedGenerator(3)
    first, second = layers.Dropout(0.5, seed=stream), layers.GaussianNoise(1.0, seed=stream)
    x = np.ones((4, 6), "float32")
    alone = layers.Dropout(0.5, seed=3)(x, training=True)
    np.testing.assert_array_equal(first(x, training=True), alone)
    second(x, training=True)
    assert stream.state.numpy().tolist() == [3, 2]
    assert [v is stream.state for v in (*first.variables, *second.variables)] == [True, True]
    step = tf.function(lambda: first(x, training=True))
    assert not np.allclose(step(), step())  # traced draws go on as well
    assert int(stream.state[1]) == 4


class EveryOther(keras.random.SeedGenerator):
    """A stream of a program's own."""

    def next(self, ordered=True):
        super().next(ordered)
        return super().next(ordered)


def test_a_stream_of_the_programs_own_is_asked_itself():
    stream = EveryOther(5)
    drawn = keras.initializers.RandomNormal(seed=stream)((2,))
    assert int(stream.state[1]) == 2
    plain = keras.random.SeedGenerator(5)
    keras.random.normal((2,), stddev=0.05, seed=plain)
    np.testing.assert_allclose(drawn, keras.random.normal((2,), stddev=0.05, seed=plain))
