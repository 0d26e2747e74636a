"""Floats that are what integers of a few bits would keep of them, and gradients through them."""

import numpy as np
import pytest

import holdfast as tf

Q = tf.quantization
X = (np.random.RandomState(0).randn(6, 4) * 5).astype("float32")


def steps(low, high, bits=8, narrow=False):
    """The numbers that a range keeps, moved so that zero is one of them."""
    first, last = int(narrow), 2**bits - 1
    size = np.float32(high - low) / np.float32(last - first)
    zero = np.clip(np.floor(first - low / size + 0.5), first, last)
    return (np.arange(first, last + 1) - zero) * size


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(("low", "high"), [(-6, 6), (0, 5), (-1.3, 7.7), (1, 3), (-3, -1)])
@pytest.mark.parametrize("bits", [2, 8, 16])
def test_values_are_the_nearest_steps(low, high, bits, narrow):
    kept = steps(low, high, bits, narrow)
    want = kept[np.abs(X[..., None] - kept).argmin(-1)]
    size = kept[1] - kept[0]
    for found in (
        Q.fake_quant_with_min_max_args(X, low, high, bits, narrow),
        Q.fake_quant_with_min_max_vars(X, float(low), float(high), bits, narrow),
        Q.fake_quant_with_min_max_vars_per_channel(
            X, np.float32([low] * 4), np.float32([high] * 4), bits, narrow
        ),
    ):
        np.testing.assert_allclose(found, want, atol=size * 1.01 if bits == 16 else size * 1e-3)
    assert (np.abs(kept) < 1e-6).any()


def test_each_channel_has_its_own_range():
    low, high = np.float32([-1, 0, -8, 0]), np.float32([1, 2, 8, 0])
    found = Q.fake_quant_with_min_max_vars_per_channel(X, low, high)
    for k in range(3):
        alone = Q.fake_quant_with_min_max_vars(X[:, k], low[k], high[k])
        np.testing.assert_allclose(found[:, k], alone, atol=1e-5)
    assert not found[:, 3].numpy().any()  # of a range without width nothing is left


def test_gradients_go_to_what_was_cut_off():
    low, high = tf.Variable(-2.0), tf.Variable(3.0)
    x, dy = tf.Variable(X), np.random.RandomState(1).randn(6, 4).astype("float32")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(Q.fake_quant_with_min_max_vars(x, low, high) * dy)
    dx, dlow, dhigh = tape.gradient(loss, [x, low, high])
    ends = steps(-2.0, 3.0)
    inside = (X >= ends[0]) & (X <= ends[-1])
    np.testing.assert_array_equal(dx, np.where(inside, dy, 0))
    assert dlow.numpy() == pytest.approx(dy[ends[0] > X].sum(), rel=1e-5)
    assert dhigh.numpy() == pytest.approx(dy[ends[-1] < X].sum(), rel=1e-5)
    again = Q.fake_quant_with_min_max_vars_gradient(dy, X, -2.0, 3.0)
    for a, b in zip(again, (dx, dlow, dhigh), strict=True):
        np.testing.assert_array_equal(a, b)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(Q.fake_quant_with_min_max_args(x, -2.0, 3.0) * dy)
    np.testing.assert_array_equal(tape.gradient(loss, x), dx)
    np.testing.assert_array_equal(Q.fake_quant_with_min_max_args_gradient(dy, X, -2.0, 3.0), dx)


def test_gradients_of_gradients_go_back_the_same_way():
    dy = tf.Variable(np.random.RandomState(1).randn(6, 4).astype("float32"))
    low, high = np.float32([-2, -1, 0, 0]), np.float32([3, 1, 2, 0])
    weights = [
        np.random.RandomState(i).randn(*shape) for i, shape in enumerate(((6, 4), (4,), (4,)))
    ]

    def scalar(given):
        found = Q.fake_quant_with_min_max_vars_per_channel_gradient(given, X, low, high)
        return tf.add_n([tf.reduce_sum(f * w.astype("float32")) for f, w in zip(found, weights)])

    with tf.GradientTape() as tape:
        value = scalar(dy)
    slope = tape.gradient(value, dy)
    # It is linear, so the slope gives the whole.
    assert float(tf.reduce_sum(slope * dy)) == pytest.approx(float(value), rel=1e-4)
    one = np.zeros((6, 4), "float32")
    one[2, 1] = 1
    assert float(slope[2, 1]) == pytest.approx(float(scalar(tf.constant(one))), rel=1e-5)


@pytest.mark.parametrize("bits", [3, 8])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("mode", ["HALF_TO_EVEN", "HALF_UP"])
def test_to_integers_and_back(bits, signed, mode):
    found = Q.quantize_and_dequantize_v2(X, 0.0, 0.0, signed, bits, False, mode).numpy()
    lowest, highest = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    if signed:
        scale = min(lowest / X.min(), highest / X.max())
    else:
        scale = highest / X.max()
    numbers = np.rint(X * scale) if mode == "HALF_TO_EVEN" else np.floor(X * scale + 0.5)
    np.testing.assert_allclose(found, numbers / scale, rtol=1e-4, atol=1e-5)
    given = Q.quantize_and_dequantize_v2(X, -2.0, 1.0, signed, bits, True, mode).numpy()
    limit = lowest / min(lowest / -2.0, highest / 1.0) if signed else 0.0
    assert given.min() >= limit - 1e-5


def test_ranges_along_an_axis():
    low, high = np.float32([-1, -2, -3, -4]), np.float32([4, 3, 2, 1])
    for axis in (1, -1):
        found = Q.quantize_and_dequantize_v2(X, low, high, range_given=True, axis=axis)
        for k in range(4):
            alone = Q.quantize_and_dequantize_v2(X[:, k], low[k], high[k], range_given=True)
            np.testing.assert_array_equal(found[:, k], alone)
    own = Q.quantize_and_dequantize_v2(X, low, high, axis=1)
    for k in range(4):
        alone = Q.quantize_and_dequantize_v2(X[:, k], 0.0, 0.0)
        np.testing.assert_array_equal(own[:, k], alone)
    narrow = Q.quantize_and_dequantize_v2(X, -1.0, 1.0, range_given=True, narrow_range=True)
    assert narrow.numpy().min() == -1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_floats(dtype):
    x = tf.cast(X, dtype)
    found = Q.quantize_and_dequantize_v2(x, -2.0, 5.0, range_given=True)
    assert found.dtype.name == dtype
    want = Q.quantize_and_dequantize_v2(X, -2.0, 5.0, range_given=True)
    np.testing.assert_allclose(tf.cast(found, tf.float32), want, atol=0.06)


def test_gradients_pass_where_nothing_was_cut_off():
    x = tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        cut = tf.reduce_sum(Q.quantize_and_dequantize_v2(x, -2.0, 5.0, range_given=True) * X)
        whole = tf.reduce_sum(Q.quantize_and_dequantize(x, -2.0, 5.0, range_given=True) * X)
    np.testing.assert_array_equal(tape.gradient(cut, x), np.where((X >= -2) & (X <= 5), X, 0))
    np.testing.assert_array_equal(tape.gradient(whole, x), X)


def test_in_a_graph_of_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([]), tf.TensorSpec([])])
    def both(x, low, high):
        return (
            Q.fake_quant_with_min_max_vars(x, low, high),
            Q.quantize_and_dequantize_v2(x, low, high, range_given=True),
        )

    quantized, back = both(X, -2.0, 3.0)
    np.testing.assert_array_equal(quantized, Q.fake_quant_with_min_max_vars(X, -2.0, 3.0))
    np.testing.assert_array_equal(
        back, Q.quantize_and_dequantize_v2(X, -2.0, 3.0, range_given=True)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="input_min"):
        both(X, 3.0, -2.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Q.fake_quant_with_min_max_args(X, num_bits=1), "num_bits"),
        (lambda: Q.fake_quant_with_min_max_args(X, num_bits=17), "num_bits"),
        (lambda: Q.fake_quant_with_min_max_args(X, min=2.0, max=1.0), "a larger one"),
        (lambda: Q.fake_quant_with_min_max_vars(X, [0.0], 1.0), "a scalar"),
        (lambda: Q.fake_quant_with_min_max_vars_per_channel(X, [0.0], [1.0]), "last axis"),
        (lambda: Q.fake_quant_with_min_max_vars_gradient(X[1:], X, 0.0, 1.0), "gradients"),
        (lambda: Q.fake_quant_with_min_max_args(tf.constant(X, tf.float64)), "float32"),
        (lambda: Q.quantize_and_dequantize_v2(X, -1.0, 1.0, num_bits=0), "num_bits"),
        (lambda: Q.quantize_and_dequantize_v2(X, -1.0, 1.0, round_mode="UP"), "round_mode"),
        (lambda: Q.quantize_and_dequantize_v2(X, -1.0, 1.0, axis=2), "axis"),
        (lambda: Q.quantize_and_dequantize_v2(X, -1.0, 1.0, axis=-3), "axis"),
        (lambda: Q.quantize_and_dequantize_v2(X, 2.0, 1.0, range_given=True), "input_min"),
    ],
)
def test_what_does_not_fit_is_refused(make, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        make()


@pytest.mark.parametrize("name", ["quantize", "dequantize", "quantized_concat"])
def test_dtypes_of_quantized_numbers_are_not_there(name):
    with pytest.raises(NotImplementedError, match="E1105"):
        getattr(Q, name)
