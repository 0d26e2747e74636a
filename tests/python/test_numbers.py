"""Numbers at the edges: infinities, tails, counts that rounding decides, shapes without elements."""

import numpy as np
import pytest
import scipy.special

import holdfast as tf

INF, NAN = float("inf"), float("nan")
FLOATS = ("float16", "bfloat16", "float32", "float64")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("start", "limit", "delta"), [(0, 1, 0.01), (0, 1, 0.1), (1, 0, -0.1)])
def test_a_range_counts_in_its_own_dtype(dtype, start, limit, delta):
    at = [tf.cast(tf.constant(v, tf.float64), dtype) for v in (start, limit, delta)]
    step = float(tf.cast(at[2], tf.float64))
    wanted = int(np.ceil(abs(float(tf.cast((at[1] - at[0]) / at[2], tf.float64)))))
    found = tf.range(*at)
    assert found.shape == (wanted,)
    assert tf.function(lambda: tf.range(*at))().shape == (wanted,)
    last = float(tf.cast(at[0], tf.float64)) + (wanted - 1) * step
    assert float(tf.cast(found[-1], tf.float64)) == pytest.approx(last, rel=1e-2, abs=1e-2)


def test_a_range_of_hundredths_has_a_hundred():
    assert tf.range(0.0, 1.0, 0.01).shape == (100,)


@pytest.mark.parametrize(
    ("have", "want", "found"),
    [
        ((0, 6), (0, -1, 3), (0, 2, 3)),
        ((0, 6), (-1, 3), (0, 3)),
        ((0, 6), (0, -1), (0, 6)),
        ((2, 0, 5), (-1, 0), (10, 0)),
        ((0,), (0, -1), (0, 1)),
        ((0, 4), (2, 0, -1), (2, 0, 2)),
    ],
)
def test_an_open_size_beside_a_zero_is_what_the_others_leave(have, want, found):
    x = tf.zeros(have)
    assert tf.reshape(x, want).shape == found
    late = tf.function(
        lambda x, want: tf.reshape(x, want),
        input_signature=[tf.TensorSpec(None), tf.TensorSpec([None], tf.int32)],
    )
    assert late(x, tf.constant(want)).shape == found


def test_a_zero_among_the_sizes_refuses_elements():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Reshape"):
        tf.reshape(tf.zeros([2, 3]), [0, -1])


DETERMINANTS = [
    ([[INF, 0], [0, 1]], INF, 1, INF),
    ([[-INF, 0], [0, 1]], -INF, -1, INF),
    ([[1, INF], [1, 1]], -INF, -1, INF),
    ([[NAN, 0], [0, 1]], NAN, NAN, NAN),
    ([[1, NAN], [0, 1]], NAN, NAN, NAN),
    ([[0, 0], [0, 1]], 0, 0, -INF),
    ([[1e30, 0], [0, 1e30]], INF, 1, np.log(1e60)),
    ([[1e-30, 0], [0, -1e-30]], 0, -1, np.log(1e-60)),
]


@pytest.mark.parametrize(("matrix", "determinant", "sign", "log"), DETERMINANTS)
def test_determinants_of_what_is_not_finite(matrix, determinant, sign, log):
    x = tf.constant(matrix, tf.float32)
    np.testing.assert_array_equal(tf.linalg.det(x).numpy(), np.float32(determinant))
    found = tf.linalg.slogdet(x)
    np.testing.assert_array_equal(found[0].numpy(), np.float32(sign))
    np.testing.assert_allclose(found[1].numpy(), np.float32(log), rtol=1e-6)


@pytest.mark.parametrize("given", FLOATS)
@pytest.mark.parametrize("wanted", [*FLOATS, "int8", "uint8", "int32", "int64", "uint64"])
def test_an_infinity_is_cast_to_the_last_number(given, wanted):
    x = tf.cast(tf.constant([INF, -INF], tf.float32), given)
    to = tf.as_dtype(wanted)
    most = min(int(to.max) if to.is_integer else float(to.max), float(x.dtype.max))
    least = max(int(to.min) if to.is_integer else float(to.min), float(x.dtype.min))
    found = tf.cast(tf.saturate_cast(x, wanted), tf.float64).numpy()
    np.testing.assert_allclose(found, [most, least], rtol=2.0**-7)
    assert np.all(np.isfinite(found))


def test_gelu_keeps_its_digits_far_left():
    x = np.array([-3, -5, -8, -10, -13, 0, 3, 20])
    for dtype, tolerance in (("float32", 3e-6), ("float64", 1e-13)):
        at = tf.constant(x, dtype)
        wanted = 0.5 * x * scipy.special.erfc(-x / np.sqrt(2))
        np.testing.assert_allclose(tf.nn.gelu(at).numpy(), wanted, rtol=tolerance, atol=1e-37)
        with tf.GradientTape() as tape:
            tape.watch(at)
            y = tf.nn.gelu(at)
        density = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
        slope = 0.5 * scipy.special.erfc(-x / np.sqrt(2)) + x * density
        np.testing.assert_allclose(tape.gradient(y, at).numpy(), slope, rtol=2e-4, atol=1e-36)


def test_gelu_by_tanh_keeps_its_digits_far_left():
    x = np.array([-3.0, -4, -5, -6, 0, 3])
    u = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    found = tf.nn.gelu(tf.constant(x, tf.float32), approximate=True).numpy()
    np.testing.assert_allclose(found, x / (1 + np.exp(-2 * u)), rtol=1e-5)


def test_texts_at_one_place_are_joined():
    found = tf.scatter_nd([[4], [1], [4]], ["a", "b", "c"], [6])
    assert found.numpy().tolist() == [b"", b"b", b"", b"", b"ac", b""]


@pytest.mark.parametrize("order", ["euclidean", "fro", 1, 2, np.inf, 1.5])
@pytest.mark.parametrize("axis", [1, 0, (0, 1), (-1, -2)])
@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float32"])
def test_vectors_and_matrices_are_normalised(order, axis, dtype):
    matrix = isinstance(axis, tuple)
    if order == "fro" and not matrix or order == 1.5 and matrix:
        pytest.skip("no such norm")
    x = np.array([[3 + 4j, 1j], [1, -2 + 1j]])
    x = (x if "complex" in dtype else x.real + x.imag).astype(dtype)
    normal, size = tf.linalg.normalize(tf.constant(x), order, axis=axis)
    wanted = np.linalg.norm(x, None if order == "euclidean" else order, axis=axis, keepdims=True)
    assert size.dtype == normal.dtype == dtype  # as TensorFlow's, whether it is real or not
    np.testing.assert_allclose(size.numpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(normal.numpy(), x / wanted, rtol=1e-5)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("traced", [False, True])
def test_the_largest_number_is_counted_or_refused(dtype, axis, traced):
    def count(x):
        return tf.math.bincount(x, axis=axis, maxlength=3)

    given = tf.constant([1, dtype.max, 1], dtype)
    assert (tf.function(count) if traced else count)(given).numpy().tolist() == [0, 2, 0]
    # No memory holds a count for each number up to that one.
    for huge in ([2**63 - 1], [2**62, 0]):
        with pytest.raises((tf.errors.ResourceExhaustedError, ValueError)):
            tf.math.bincount(tf.constant(huge, tf.int64), axis=axis)


@pytest.mark.parametrize("function", [tf.linalg.slogdet, tf.linalg.det, tf.linalg.inv])
def test_no_matrices_have_no_determinants(function):
    for y in tf.nest.flatten(function(tf.zeros([0, 3, 3]))):
        assert y.shape[0] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_vectors_of_a_tridiagonal_matrix_are_orthogonal(n, dtype):
    rng = np.random.default_rng(n)
    alpha = rng.uniform(-1, 1, n).astype(dtype)
    beta = rng.uniform(-1, 1, n - 1).astype(dtype)
    if dtype.startswith("complex"):
        beta = beta + np.array(1j, dtype) * beta
    values, vectors = tf.linalg.eigh_tridiagonal(alpha, beta, eigvals_only=False)
    matrix = np.diag(alpha) + np.diag(beta, 1) + np.diag(beta.conj(), -1)
    eps = np.finfo(dtype).eps
    q = np.asarray(vectors)
    assert q.dtype == dtype and np.asarray(values).dtype == np.finfo(dtype).dtype
    np.testing.assert_allclose(q.conj().T @ q, np.eye(n), atol=2 * np.sqrt(n) * eps)
    np.testing.assert_allclose(matrix @ q, q * np.asarray(values), atol=8 * n * eps)
