"""LSTM and GRU by the kernels of whole sequences: the same as step by step, and as NumPy has it."""

import numpy as np
import pytest

import holdfast as tf

CASES = [
    {},
    {"return_sequences": True},
    {"go_backwards": True, "return_sequences": True},
    {"use_bias": False, "return_sequences": True, "return_state": True},
    {"return_sequences": True, "zero_output_for_mask": True},
    {"return_state": True},
]


def made(kind, units, shape, dtype="float32", **options):
    layer = getattr(tf.keras.layers, kind)(units, dtype=dtype, **options)
    layer.build(shape)
    rng = np.random.default_rng(5)
    layer.set_weights([rng.normal(size=w.shape) * 0.5 for w in layer.get_weights()])
    return layer


def first_states(kind, rng, batch, units, dtype):
    return [
        tf.constant(rng.normal(size=(batch, units)).astype(dtype))
        for _ in range(2 if kind == "LSTM" else 1)
    ]


def op_types(layer, *args, **kwargs):
    f = tf.function(lambda *a: layer(*a, **kwargs)).get_concrete_function(*args)
    return {op.type for op in f.graph.get_operations()}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def numpy_lstm(x, kernel, recurrent, bias, h, c):
    out = []
    for t in range(x.shape[1]):
        i, f, g, o = np.split(x[:, t] @ kernel + h @ recurrent + bias, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.stack(out, 1)


def numpy_gru(x, kernel, recurrent, bias, h):
    out = []
    for t in range(x.shape[1]):
        xz, xr, xh = np.split(x[:, t] @ kernel + bias[0], 3, axis=1)
        hz, hr, hh = np.split(h @ recurrent + bias[1], 3, axis=1)
        z = sigmoid(xz + hz)
        h = z * h + (1 - z) * np.tanh(xh + sigmoid(xr + hr) * hh)
        out.append(h)
    return np.stack(out, 1)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize(("batch", "units"), [(1, 1), (13, 37), (64, 33)])
def test_a_sequence_is_what_numpy_makes_of_it(kind, batch, units):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(batch, 6, 3))
    layer = made(kind, units, x.shape, "float64", return_sequences=True)
    states = first_states(kind, rng, batch, units, "float64")
    by_hand = numpy_lstm if kind == "LSTM" else numpy_gru
    wanted = by_hand(x, *layer.get_weights(), *[s.numpy() for s in states])
    np.testing.assert_allclose(layer(x, initial_state=states), wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("options", CASES, ids=str)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_the_kernel_does_what_steps_do(kind, options, masked, given):
    rng = np.random.default_rng(2)
    batch, time, size, units = 5, 7, 3, 18
    x = tf.constant(rng.normal(size=(batch, time, size)).astype("float32"))
    more = {"mask": tf.constant(rng.random((batch, time)) > 0.4)} if masked else {}
    states = first_states(kind, rng, batch, units, "float32") if given else []
    if given:
        more["initial_state"] = states

    def outputs_and_gradients(layer):
        with tf.GradientTape() as tape:
            tape.watch([x, *states])
            out = layer(x, **more)
            out = list(out) if isinstance(out, (list, tuple)) else [out]
            loss = sum(tf.reduce_sum(tf.sin(o * (1.0 + i))) for i, o in enumerate(out))
        return out + list(tape.gradient(loss, [*layer.trainable_variables, x, *states]))

    kernel = made(kind, units, x.shape, **options)
    steps = made(kind, units, x.shape, unroll=True, **options)
    wanted = outputs_and_gradients(steps)
    traced = tf.function(lambda: outputs_and_gradients(kernel))
    for got in (outputs_and_gradients(kernel), traced()):
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("options", [CASES[0], CASES[2], CASES[3]], ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_second_derivatives_are_those_of_steps(kind, options, masked):
    rng = np.random.default_rng(3)
    batch, time, size, units = 2, 4, 2, 5
    x = tf.constant(rng.normal(size=(batch, time, size)))
    states = first_states(kind, rng, batch, units, "float64")
    mask = tf.constant(rng.random((batch, time)) > 0.4) if masked else None

    def second(layer):
        sources = [*layer.trainable_variables, x, *states]
        with tf.GradientTape() as outer:
            outer.watch([x, *states])
            with tf.GradientTape() as inner:
                inner.watch([x, *states])
                out = layer(x, initial_state=states, mask=mask)
                out = list(out) if isinstance(out, (list, tuple)) else [out]
                loss = sum(tf.reduce_sum(tf.sin(o * (1.0 + i))) for i, o in enumerate(out))
            penalty = sum(tf.reduce_sum(tf.cos(g)) for g in inner.gradient(loss, sources))
        return outer.gradient(penalty, sources)

    wanted = second(made(kind, units, x.shape, "float64", unroll=True, **options))
    kernel = made(kind, units, x.shape, "float64", **options)
    for got in (second(kernel), tf.function(lambda: second(kernel))()):
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("options", [CASES[0], CASES[2], CASES[3]], ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_a_tangent_of_a_gradient_is_that_of_steps(kind, options, masked):
    """Forward over reverse: no third derivative is needed for it."""
    rng = np.random.default_rng(4)
    batch, time, size, units = 2, 4, 3, 5
    x = tf.constant(rng.normal(size=(batch, time, size)))
    states = first_states(kind, rng, batch, units, "float64")
    mask = tf.constant(rng.random((batch, time)) > 0.4) if masked else None

    def product(layer):
        sources = [*layer.trainable_variables, x, *states]
        by = np.random.default_rng(6)
        tangents = [tf.constant(by.normal(size=s.shape)) for s in sources]
        with tf.autodiff.ForwardAccumulator(sources, tangents) as forward:
            with tf.GradientTape() as tape:
                tape.watch([x, *states])
                out = layer(x, initial_state=states, mask=mask)
                out = list(out) if isinstance(out, (list, tuple)) else [out]
                loss = sum(tf.reduce_sum(tf.sin(o * (1.0 + i))) for i, o in enumerate(out))
            slopes = tape.gradient(loss, sources)
        return [forward.jvp(s) for s in slopes]

    wanted = product(made(kind, units, x.shape, "float64", unroll=True, **options))
    kernel = made(kind, units, x.shape, "float64", **options)
    for got in (product(kernel), tf.function(lambda: product(kernel))()):
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def test_third_derivatives_are_refused():
    layer = tf.keras.layers.GRU(2)
    x = tf.constant(np.ones((1, 2, 2), "float32"))
    layer(x)
    with pytest.raises(tf.errors.UnimplementedError, match="third derivative of a GRU"):
        with tf.GradientTape() as third:
            third.watch(x)
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    y = tf.reduce_sum(layer(x) ** 2)
                slope = tf.reduce_sum(first.gradient(y, x) ** 2)
            bend = tf.reduce_sum(second.gradient(slope, x) ** 2)
        third.gradient(bend, x)


def test_the_kernel_runs_where_it_fits():
    x = tf.constant(np.ones((2, 3, 4), "float32"))
    layers = tf.keras.layers
    assert "LSTMSequence" in op_types(layers.LSTM(3), x)
    assert "LSTMSequence" in op_types(layers.RNN(layers.LSTMCell(3)), x)
    assert "LSTMSequence" in op_types(layers.LSTM(3, dropout=0.5), x, training=True)
    assert "GRUSequence" in op_types(layers.Bidirectional(layers.GRU(3)), x)
    for other in (
        layers.LSTM(3, unroll=True),
        layers.LSTM(3, activation="relu"),
        layers.LSTM(3, activation=lambda x: tf.tanh(x)),
        layers.LSTM(3, dtype="mixed_bfloat16"),
        layers.GRU(3, reset_after=False),
        layers.GRU(3, recurrent_activation="hard_sigmoid"),
    ):
        assert not {"LSTMSequence", "GRUSequence"} & op_types(other, x)
    dropping = layers.GRU(3, recurrent_dropout=0.5)
    assert "GRUSequence" not in op_types(dropping, x, training=True)
    assert "GRUSequence" in op_types(dropping, x, training=False)


def test_a_function_of_a_programs_own_that_is_called_tanh_is_run():
    def tanh(x):
        return x * 0.0

    layer = tf.keras.layers.LSTM(3, activation=tanh)
    assert not np.any(layer(np.ones((2, 3, 4), "float32")))


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_dropout_of_inputs_is_one_mask_for_all_steps(kind):
    layer = getattr(tf.keras.layers, kind)(4, dropout=0.5, return_sequences=True, use_bias=False)
    x = np.ones((50, 3, 1), "float32")
    layer(x)
    out = np.asarray(layer(x, training=True))
    dropped = np.all(out[:, 0] == 0, axis=1)
    assert 5 < dropped.sum() < 45
    assert np.all(out[dropped] == 0)


def test_lengths_of_time_are_open_in_a_trace():
    layer = made("LSTM", 3, (None, None, 2), return_sequences=True)
    other = made("LSTM", 3, (None, 5, 2), return_sequences=True, unroll=True)
    f = tf.function(lambda x: layer(x), input_signature=[tf.TensorSpec([None, None, 2])])
    for batch, time in ((1, 1), (4, 9), (3, 150)):
        x = np.random.default_rng(time).normal(size=(batch, time, 2)).astype("float32")
        np.testing.assert_allclose(f(tf.constant(x)), other(x), rtol=1e-4, atol=1e-5)


def test_no_rows_and_no_steps():
    raw = tf.raw_ops
    weights = tf.constant(np.ones((3, 12), "float32"))
    for batch, time in ((0, 4), (2, 0)):
        x, state = tf.zeros((batch, time, 12)), tf.ones((batch, 3))
        out = raw.LSTMSequence(x=x, recurrent=weights, first_h=state, first_c=state)
        assert out[1].shape == (batch, time, 3)
        np.testing.assert_array_equal(out[3], state)
        with tf.GradientTape() as tape:
            tape.watch(weights)
            last = raw.LSTMSequence(x=x, recurrent=weights, first_h=state, first_c=state)[3]
        np.testing.assert_array_equal(tape.gradient(last, weights), np.zeros((3, 12)))


def test_shapes_that_do_not_fit_are_refused():
    raw, state = tf.raw_ops, tf.zeros((2, 3))
    good = {
        "x": tf.zeros((2, 5, 12)),
        "recurrent": tf.zeros((3, 12)),
        "first_h": state,
        "first_c": state,
    }
    for name, bad in (
        ("x", tf.zeros((2, 5, 13))),
        ("x", tf.zeros((2, 12))),
        ("recurrent", tf.zeros((3, 9))),
        ("first_h", tf.zeros((1, 3))),
        ("first_c", tf.zeros((2, 4))),
        ("mask", tf.zeros((2, 4), tf.bool)),
        ("kernel", tf.zeros((11, 12))),
        ("bias", tf.zeros((11,))),
    ):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=f"`{name}`"):
            raw.LSTMSequence(**{**good, name: bad})


def test_the_number_of_threads_changes_nothing():
    rng = np.random.default_rng(7)
    x = tf.constant(rng.normal(size=(37, 5, 120)).astype("float32"))
    weights = tf.constant(rng.normal(size=(40, 120)).astype("float32"))
    before = tf.config.threading.get_intra_op_parallelism_threads()
    results = []
    try:
        for threads in (1, 2, 5):
            tf.config.threading.set_intra_op_parallelism_threads(threads)
            out = tf.raw_ops.GRUSequence(x=x, recurrent=weights, first_h=tf.zeros((37, 40)))
            results.append(np.asarray(out[0]))
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(before)
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[2], results[0])


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_weights_and_their_gradients_are_the_same_for_any_number_of_threads(kind):
    rng = np.random.default_rng(8)
    x = tf.constant(rng.normal(size=(37, 5, 21)).astype("float32"))
    layer = getattr(tf.keras.layers, kind)(40, return_sequences=True)
    layer(x)
    before = tf.config.threading.get_intra_op_parallelism_threads()
    results = []
    try:
        for threads in (1, 2, 5):
            tf.config.threading.set_intra_op_parallelism_threads(threads)
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(layer(x) ** 2)
            slopes = tape.gradient(loss, [x, *layer.trainable_variables])
            results.append([np.asarray(s) for s in slopes])
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(before)
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


# Few rows have their inputs multiplied ahead of the steps, many at each step; sizes fill panels or
# not.
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize(
    ("batch", "time", "size", "units"),
    [(1, 1, 1, 1), (1, 30, 5, 16), (3, 70, 33, 17), (40, 3, 16, 32), (25, 13, 300, 70)],
)
def test_any_sizes_give_what_steps_give(kind, batch, time, size, units):
    rng = np.random.default_rng(batch)
    x = tf.constant(rng.normal(size=(batch, time, size)))
    make = getattr(tf.keras.layers, kind)
    one = make(units, return_sequences=True, dtype="float64", bias_initializer="uniform")
    other = make(units, return_sequences=True, dtype="float64", unroll=True)
    one(x), other(x)
    other.set_weights(one.get_weights())
    results = []
    for layer in (one, other):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.sin(layer(x)))
        results.append([loss, *tape.gradient(loss, [x, *layer.trainable_variables])])
    for got, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("batch", [2, 20])
def test_what_is_no_number_stays_so_and_what_is_large_saturates(kind, batch):
    layer = getattr(tf.keras.layers, kind)(3, return_sequences=True)
    x = np.zeros((batch, 4, 2), "float32")
    x[1, 2] = np.nan
    out = np.asarray(layer(x))
    assert np.all(np.isnan(out[1, 2:])) and np.all(np.isfinite(out[0]))
    assert np.all(np.isfinite(out[1, :2]))
    for large in (1e4, -1e4, 3e38):
        assert np.all(np.abs(np.asarray(layer(x * 0 + np.float32(large))[0])) <= 1)


def test_gates_with_masks_of_their_own_have_their_inputs_multiplied_before():
    layer = tf.keras.layers.LSTM(3, dropout=0.5, implementation=1)
    x = tf.constant(np.ones((2, 3, 4), "float32"))
    assert "LSTMSequence" in op_types(layer, x, training=True)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(x, training=True) ** 2)
    assert all(s is not None for s in tape.gradient(loss, layer.trainable_variables))


def test_layers_show_lists_of_variables():
    layer = tf.keras.layers.Dense(2)
    layer.build((1, 2))
    model = tf.keras.Sequential([layer])
    for shown in (layer.variables, layer.trainable_variables, model.non_trainable_variables):
        assert isinstance(shown, list)
    assert [1] + layer.trainable_variables
    assert isinstance(tf.Module().variables, tuple)
