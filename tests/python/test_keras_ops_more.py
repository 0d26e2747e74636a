"""Ops of Keras that rearrange axes, ignore what is no number, or keep a rule about dtypes."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
ops = keras.ops

_X = np.arange(2 * 4 * 6, dtype=np.float32).reshape(2, 4, 6)
_GAPS = np.array(
    [[1.0, np.nan, 7.0, 4.0, 5.0], [np.nan, 2.0, 3.0, 6.0, -1.0], [9.0] + [np.nan] * 4]
)
_WHOLE = np.array([[12, -18, 0, 7], [5, 0, 0, 1024]])
_OTHER = np.array([8, 27, 0, 21])


@pytest.mark.parametrize(
    ("pattern", "sizes", "expected"),
    [
        ("b h w -> w b h", {}, _X.transpose(2, 0, 1)),
        ("b h w -> (b h) w", {}, _X.reshape(8, 6)),
        (
            "b (h p) w -> (b w) h p",
            {"p": 2},
            _X.reshape(2, 2, 2, 6).transpose(0, 3, 1, 2).reshape(12, 2, 2),
        ),
        ("b (h p) (w q) -> b (p q) h w", {"h": 2, "q": 3}, None),
        ("b h w -> b h w", {}, _X),
    ],
)
def test_rearrange(pattern, sizes, expected):
    got = ops.rearrange(_X, pattern, **sizes)
    if expected is None:
        expected = _X.reshape(2, 2, 2, 2, 3).transpose(0, 2, 4, 1, 3).reshape(2, 6, 2, 2)
    np.testing.assert_array_equal(got.numpy(), expected)
    traced = tf.function(
        lambda x: ops.rearrange(x, pattern, **sizes),
        input_signature=[tf.TensorSpec([None, 4, None])],
    )
    np.testing.assert_array_equal(traced(_X).numpy(), expected)


def test_rearrange_of_symbols_knows_what_it_can():
    x = keras.Input((4, 6))
    assert ops.rearrange(x, "b (h p) w -> b (h w) p", p=2).shape == (None, 12, 2)
    y = ops.rearrange(x, "b h w -> (b h) w")
    assert y.shape == (None, 6)
    np.testing.assert_array_equal(keras.Model(x, y)(_X).numpy(), _X.reshape(8, 6))


@pytest.mark.parametrize(
    ("pattern", "sizes", "says"),
    [
        ("b h w", {}, "one `->`"),
        ("b h -> h b", {}, "got 3 axes"),
        ("a b c -> a b d", {}, "on both sides, once"),
        ("a a c -> a a c", {}, "on both sides, once"),
        ("a (b c -> a b c", {}, "names of axes"),
        ("a (b c) d -> a b c d", {}, "neither `b` nor `c`"),
        ("a (b c) d -> a b c d", {"b": 3}, "can't split an axis of size 4"),
        ("a b c -> c b a", {"k": 3}, "a size of `k`"),
    ],
)
def test_rearrange_refuses_what_makes_no_sense(pattern, sizes, says):
    with pytest.raises((ValueError, TypeError), match=".*") as caught:
        ops.rearrange(_X, pattern, **sizes)
    assert says in str(caught.value)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_quantiles_of_all_that_are_numbers(axis, keepdims):
    for method in ("linear", "lower", "higher", "midpoint", "nearest"):
        got = ops.nanquantile(_GAPS, [0.1, 0.5, 0.9], axis=axis, method=method, keepdims=keepdims)
        expected = np.nanquantile(
            _GAPS, [0.1, 0.5, 0.9], axis=axis, method=method, keepdims=keepdims
        )
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    for ours, theirs in ((ops.nanmedian, np.nanmedian), (ops.median, np.median)):
        np.testing.assert_allclose(
            ours(_GAPS, axis=axis, keepdims=keepdims),
            theirs(_GAPS, axis=axis, keepdims=keepdims),
        )
    np.testing.assert_allclose(
        ops.nanpercentile(_GAPS, 30, axis=axis), np.nanpercentile(_GAPS, 30, axis=axis), rtol=1e-6
    )


def test_a_median_between_infinities_and_of_nothing():
    x = np.array([[np.inf, 2.0, -np.inf, 3.0], [-np.inf, 5.0, np.nan, np.nan], [np.nan] * 4])
    np.testing.assert_array_equal(ops.nanmedian(x, axis=1).numpy(), [2.5, -np.inf, np.nan])
    assert ops.nanmedian(keras.Input((2, 3)), axis=(1, 2)).shape == (None,)


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_common_divisors_and_multiples(name):
    ours, theirs = getattr(ops, name), getattr(np, name)
    np.testing.assert_array_equal(ours(_WHOLE, _OTHER).numpy(), theirs(_WHOLE, _OTHER))
    np.testing.assert_array_equal(tf.function(ours)(_WHOLE, 6).numpy(), theirs(_WHOLE, 6))
    small = _OTHER.astype(np.uint8)
    assert ours(small, np.uint8(4)).dtype == tf.uint8
    with pytest.raises(ValueError, match="whole numbers"):
        ours(2.5, 1)


def test_views_share_the_bits():
    v = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(ops.view(v, "int16").numpy(), v.view(np.int16))
    np.testing.assert_array_equal(ops.view(v.view(np.int16), "float32").numpy(), v)
    np.testing.assert_array_equal(ops.view(v, "int32").numpy(), v.view(np.int32))
    assert ops.view(keras.Input((3,)), "int16").shape == (None, 6)
    assert ops.view(keras.Input((4,)), "float64").shape == (None, 2)
    with pytest.raises(ValueError, match="last axis of size 3"):
        ops.view(v, "float64")
    with pytest.raises(ValueError, match="a scalar"):
        ops.view(np.float32(1), "int8")
    with pytest.raises(ValueError, match="pairs in the last axis"):
        ops.view_as_complex(v)


def test_numbers_are_true_where_they_are_not_zero():
    assert ops.array([0, 2, -1], dtype="bool").numpy().tolist() == [False, True, True]
    assert ops.full((2,), 0, dtype="bool").numpy().tolist() == [False, False]
    assert ops.full_like(np.array([True]), 3).numpy().tolist() == [True]


def test_whole_numbers_of_every_dtype():
    for dtype in (np.uint8, np.uint16, np.uint32):
        x = np.array([2, 3, 7], dtype)
        got = ops.power(x, 3)
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(got.numpy(), x**3)
        np.testing.assert_array_equal(ops.vander(x).numpy(), np.vander(x))
        rows, columns = ops.unravel_index(x, (3, 4))
        assert rows.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(np.stack([rows, columns]), np.unravel_index(x, (3, 4)))
    bytes_ = np.full((1, 9), 100, np.int8)
    product = ops.matmul(bytes_, bytes_.T)
    assert product.dtype == tf.int32
    assert product.numpy().tolist() == [[90000]]
    np.testing.assert_array_equal(
        ops.pad(np.array([True]), ((1, 1),)).numpy(), [False, True, False]
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_next_narrow_number(dtype):
    x = ops.cast([1.0, -1.0, 0.0, 2.5, 0.0, np.nan], dtype)
    towards = ops.cast([2.0, 2.0, -1.0, 2.5, 0.0, 1.0], dtype)
    step = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    least = {"float16": 2.0**-24, "bfloat16": 2.0**-133}[dtype]
    got = ops.cast(ops.nextafter(x, towards), "float64").numpy()
    np.testing.assert_array_equal(got, [1 + step, -1 + step / 2, -least, 2.5, 0.0, np.nan])


def test_shapes_of_symbols_that_are_rolled_and_repeated():
    x = keras.Input((3, 2))
    assert ops.repeat(x, 3, axis=1).shape == (None, 9, 2)
    assert ops.roll(x, 1, axis=[1, 2]).shape == (None, 3, 2)
    np.testing.assert_array_equal(ops.roll(_X, 1, axis=(0, 2)).numpy(), np.roll(_X, 1, axis=(0, 2)))
    targets = ops.in_top_k(np.array([1, 0]), np.array([[0.1, 0.9], [0.2, 0.8]]), 1)
    assert targets.numpy().tolist() == [True, False]


def test_the_step_function_gives_floats():
    x = np.array([-3, 0, 4])
    assert ops.heaviside(x.astype(np.int16), 1).dtype == tf.float32
    wide = ops.heaviside(x, 1)
    assert wide.dtype == tf.float64
    np.testing.assert_array_equal(wide.numpy(), [0.0, 1.0, 1.0])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint16", "uint32", "int64"])
def test_draws_of_whole_numbers_in_every_dtype(dtype):
    drawn = keras.random.randint((50,), 2, 7, dtype=dtype, seed=3)
    assert drawn.dtype == dtype
    assert set(drawn.numpy().tolist()) == {2, 3, 4, 5, 6}
    classes = keras.random.categorical(np.zeros((2, 3), np.float32), 20, dtype=dtype, seed=3)
    assert classes.dtype == dtype
    assert classes.shape == (2, 20)


def test_draws_in_a_narrow_dtype_and_a_dropout_of_all():
    assert keras.random.gamma((3,), 2.0, dtype="bfloat16", seed=1).dtype == tf.bfloat16
    assert keras.random.binomial((3,), 10.0, 0.5, dtype="bfloat16", seed=1).dtype == tf.bfloat16
    assert float(tf.reduce_sum(keras.random.dropout(_X, 1.0))) == 0.0
    with pytest.raises(ValueError, match="a share from 0 to 1"):
        keras.random.dropout(_X, 1.5)
