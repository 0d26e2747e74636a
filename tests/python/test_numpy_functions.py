"""NumPy's functions of whole arrays are traced where an op does the same, with NumPy's dtypes."""

import numpy as np
import pytest

import holdfast as tf

X = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]], np.float32)
W = np.array([[1.0, 0.5], [2.0, -1.0], [0.0, 3.0]], np.float32)

SAME = {
    "mean": lambda x: np.mean(x),
    "mean over an axis": lambda x: np.mean(x, axis=1),
    "mean that keeps its axis": lambda x: np.mean(x, 0, keepdims=True),
    "mean in another dtype": lambda x: np.mean(x, dtype=np.float64),
    "mean over two axes": lambda x: np.mean(x, axis=(0, 1)),
    "average": lambda x: np.average(x, axis=0),
    "std": lambda x: np.std(x, axis=1),
    "var": lambda x: np.var(x),
    "cumsum": lambda x: np.cumsum(x),
    "cumsum along": lambda x: np.cumsum(x, axis=1),
    "cumprod": lambda x: np.cumprod(x, axis=0),
    "argmax": lambda x: np.argmax(x),
    "argmin along": lambda x: np.argmin(x, axis=1),
    "norm": lambda x: np.linalg.norm(x),
    "norm of rows": lambda x: np.linalg.norm(x, ord=1, axis=1),
    "clip": lambda x: np.clip(x, 2, 4),
    "clip from below": lambda x: np.clip(x, 2, None),
    "round": lambda x: np.round(x),
    "where": lambda x: np.where(x > 2, x, -x),
    "count_nonzero": lambda x: np.count_nonzero(x > 2),
    "zeros_like": lambda x: np.zeros_like(x),
    "ones_like": lambda x: np.ones_like(x, dtype=np.int32),
    "full_like": lambda x: np.full_like(x, 7),
    "transpose": lambda x: np.transpose(x),
    "transpose by axes": lambda x: np.transpose(x, (1, 0)),
    "expand and squeeze": lambda x: np.squeeze(np.expand_dims(x, 1), axis=1),
    "reshape": lambda x: np.reshape(x, (3, 2)),
    "reshape to a row": lambda x: np.reshape(x, -1),
    "ravel": lambda x: np.ravel(x),
    "swapaxes": lambda x: np.swapaxes(x, 0, -1),
    "broadcast_to": lambda x: np.broadcast_to(x, (4, 2, 3)),
    "tile": lambda x: np.tile(x, 2),
    "tile both": lambda x: np.tile(x, (2, 1)),
    "repeat": lambda x: np.repeat(x, 2),
    "repeat along": lambda x: np.repeat(x, 2, axis=0),
    "roll": lambda x: np.roll(x, 1),
    "roll along": lambda x: np.roll(x, 1, axis=1),
    "pad": lambda x: np.pad(x, 1),
    "pad one axis": lambda x: np.pad(x, ((0, 0), (1, 2))),
    "stack": lambda x: np.stack([x, x], axis=1),
    "concatenate": lambda x: np.concatenate([x, x], axis=1),
    "concatenate flat": lambda x: np.concatenate([x, x], axis=None),
    "vstack": lambda x: np.vstack([x[0], x[1]]),
    "hstack": lambda x: np.hstack([x, x]),
    "split": lambda x: np.split(x, 3, axis=1)[1],
    "take": lambda x: np.take(x, [4, 0]),
    "take rows": lambda x: np.take(x, [1], axis=0),
    "sort": lambda x: np.sort(x),
    "argsort": lambda x: np.argsort(x, axis=0),
    "diff": lambda x: np.diff(x),
    "diff along": lambda x: np.diff(x, axis=0),
    "dot": lambda x: np.dot(x, W),
    "dot of vectors": lambda x: np.dot(x[0], x[1]),
    "outer": lambda x: np.outer(x[0], x[1]),
    "einsum": lambda x: np.einsum("ij->ji", x),
    "tensordot": lambda x: np.tensordot(x, x, axes=([1], [1])),
    "trace": lambda x: np.trace(x[:, :2]),
    "mixed with ufuncs": lambda x: np.mean(np.square(x - np.mean(x))),
}


def dtype_of(value):
    return np.asarray(value).dtype


@pytest.mark.parametrize("name", SAME)
def test_a_function_is_traced_where_an_op_does_the_same(name):
    found = tf.function(SAME[name])(tf.constant(X))
    expected = SAME[name](X)
    assert np.shape(found) == np.shape(expected) and dtype_of(found) == dtype_of(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["mean", "var", "cumsum", "cumprod", "argmax", "clip", "sort"])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64", "float64"])
def test_dtypes_are_numpys(name, dtype):
    x = X.astype(dtype)
    found = tf.function(SAME[name])(tf.constant(x))
    expected = SAME[name](x)
    assert dtype_of(found) == dtype_of(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_sums_of_small_integers_are_wide():
    x = np.full([4], 100, np.int8)
    found = tf.function(lambda t: np.sum(t))(tf.constant(x))
    assert found.numpy() == 400 and found.dtype == tf.int64


def test_a_known_size_is_a_number():
    seen = []
    tf.function(lambda x: seen.append((np.size(x), np.ndim(x), np.shape(x))))(tf.constant(X))
    assert seen == [(6, 2, (2, 3))]


def test_gradients_flow():
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = np.mean(np.concatenate([x * x, x]))
        return tape.gradient(y, x)

    np.testing.assert_allclose(slope(tf.constant([1.0, 2.0])), [0.75, 1.25])


def test_a_graph_by_hand_has_them_too():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, 3])
        assert session.run(np.mean(x, axis=1), {x: X}).tolist() == [2.0, 5.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.median(x),
        lambda x: np.std(x, ddof=1),
        lambda x: np.mean(x, where=X > 1),
        lambda x: np.round(x, 2),
        lambda x: np.nanmean(x),
        lambda x: np.unique(x),
        lambda x: np.concatenate([x, x], out=np.zeros([4, 3], np.float32)),
    ],
)
def test_what_no_op_does_is_refused_by_name(call):
    with pytest.raises(tf.errors.DiagnosticError, match=r"np\.") as caught:
        tf.function(call)(tf.constant(X))
    assert caught.value.code == "E0204"


@pytest.mark.parametrize("name", SAME)
def test_on_values_they_are_numpys_own(name):
    found, expected = SAME[name](tf.constant(X)), SAME[name](X)
    assert not isinstance(found, tf.Tensor)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
