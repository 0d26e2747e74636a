"""`tf.keras.ops`: each against NumPy, on values, on symbols of models, and in traces."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
ops = keras.ops

_X = np.array([[0.3, -1.2, 2.5], [0.7, 0.0, -0.4]], np.float32)
_Y = np.array([[1.0, 2.0, -0.5], [0.25, 3.0, 2.0]], np.float32)
_POSITIVE = np.abs(_X) + 0.2
_N = np.array([[1, 5, -2], [0, 3, 7]], np.int32)
_NAN = np.array([[1.0, np.nan, 3.0], [np.nan, 2.0, -1.0]], np.float32)


@pytest.mark.parametrize(
    "name",
    [
        "abs",
        "absolute",
        "arctan",
        "ceil",
        "cos",
        "cosh",
        "exp",
        "expm1",
        "floor",
        "negative",
        "sign",
        "sin",
        "sinc",
        "sinh",
        "square",
        "tan",
        "tanh",
        "trunc",
        "deg2rad",
        "rad2deg",
        "cbrt",
        "exp2",
        "fabs",
        "signbit",
        "isfinite",
        "isinf",
        "isnan",
        "isreal",
    ],
)
def test_values_by_themselves(name):
    np.testing.assert_allclose(getattr(ops, name)(_X), getattr(np, name)(_X), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(
    "name", ["log", "log10", "log1p", "log2", "reciprocal", "sqrt", "i0", "arcsinh"]
)
def test_values_above_zero(name):
    np.testing.assert_allclose(
        getattr(ops, name)(_POSITIVE), getattr(np, name)(_POSITIVE), rtol=2e-5
    )


@pytest.mark.parametrize("name", ["exp", "sqrt", "log", "cos", "mean", "std", "floor"])
def test_integers_become_floats(name):
    assert getattr(ops, name)(_N + 3).dtype == "float32"


@pytest.mark.parametrize(
    "name",
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "maximum",
        "minimum",
        "mod",
        "fmod",
        "floor_divide",
        "arctan2",
        "hypot",
        "logaddexp",
        "logaddexp2",
        "equal",
        "greater",
        "less",
        "not_equal",
        "fmax",
        "fmin",
        "heaviside",
        "true_divide",
    ],
)
def test_two_values(name):
    np.testing.assert_allclose(
        getattr(ops, name)(_X, _Y), getattr(np, name)(_X, _Y), rtol=2e-5, atol=1e-6
    )


def test_dtypes_meet_in_a_common_one():
    assert ops.add(_N, _X).dtype == "float32"
    assert ops.add(_N, 1.5).dtype == "float32"
    assert ops.add(_N, 2).dtype == "int32"
    assert ops.add(np.int8(1), np.uint8(1)).dtype == "int16"
    assert ops.add(tf.constant(1, "float16"), tf.constant(1, "bfloat16")).dtype == "float32"
    assert ops.add(np.array([True]), 1).dtype == "int32"
    assert ops.sum(np.array([1, 2], np.int8)).dtype == "int32"
    assert ops.sum(np.array([1, 2], np.uint8)).dtype == "uint32"


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "prod",
        "mean",
        "var",
        "std",
        "max",
        "min",
        "amax",
        "amin",
        "ptp",
        "all",
        "any",
        "median",
    ],
)
def test_reductions(name, axis, keepdims):
    np.testing.assert_allclose(
        getattr(ops, name)(_X, axis=axis, keepdims=keepdims),
        getattr(np, name)(_X, axis=axis, keepdims=keepdims),
        rtol=2e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize(
    "name",
    [
        "nansum",
        "nanprod",
        "nanmean",
        "nanvar",
        "nanstd",
        "nanmax",
        "nanmin",
        "nanargmax",
        "nanargmin",
    ],
)
def test_reductions_without_nan(name, axis):
    np.testing.assert_allclose(
        getattr(ops, name)(_NAN, axis=axis), getattr(np, name)(_NAN, axis=axis), rtol=1e-5
    )


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["argmax", "argmin", "cumsum", "cumprod"])
def test_places_and_running_sums(name, axis):
    np.testing.assert_allclose(getattr(ops, name)(_N, axis=axis), getattr(np, name)(_N, axis=axis))


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("q", [0.3, [0.1, 0.5, 0.9]])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_quantiles(method, q, axis):
    x = np.arange(24.0, dtype=np.float32).reshape(4, 6) ** 2
    np.testing.assert_allclose(
        ops.quantile(x, q, axis=axis, method=method),
        np.quantile(x, q, axis=axis, method=method),
        rtol=1e-5,
    )


def test_shapes():
    x = np.arange(24).reshape(2, 3, 4)
    for ours, theirs in [
        (ops.moveaxis(x, 0, -1), np.moveaxis(x, 0, -1)),
        (ops.moveaxis(x, [0, 1], [1, 2]), np.moveaxis(x, [0, 1], [1, 2])),
        (ops.swapaxes(x, 0, 2), np.swapaxes(x, 0, 2)),
        (ops.flip(x), np.flip(x)),
        (ops.flip(x, 1), np.flip(x, 1)),
        (ops.roll(x, 2), np.roll(x, 2)),
        (ops.roll(x, 1, axis=1), np.roll(x, 1, axis=1)),
        (ops.expand_dims(x, (0, -1)), np.expand_dims(x, (0, -1))),
        (ops.tile(x, (2, 1, 1, 2)), np.tile(x, (2, 1, 1, 2))),
        (ops.repeat(x, 2, axis=1), np.repeat(x, 2, axis=1)),
        (ops.transpose(x, (2, 0, 1)), np.transpose(x, (2, 0, 1))),
        (ops.diagonal(x, 1, 1, 2), np.diagonal(x, 1, 1, 2)),
        (ops.trace(x, 0, 1, 2), np.trace(x, 0, 1, 2)),
        (ops.tril(x, 1), np.tril(x, 1)),
        (ops.triu(x, -1), np.triu(x, -1)),
        (ops.diff(x, 2), np.diff(x, 2)),
        (ops.pad(x, ((1, 0), (0, 2), (1, 1))), np.pad(x, ((1, 0), (0, 2), (1, 1)))),
        (ops.pad(x, 1, mode="reflect"), np.pad(x, 1, mode="reflect")),
        (ops.concatenate([x, x], axis=None), np.concatenate([x, x], axis=None)),
        (ops.hstack([x, x]), np.hstack([x, x])),
        (ops.vstack([x[0], x[1]]), np.vstack([x[0], x[1]])),
        (ops.dstack([x[0], x[1]]), np.dstack([x[0], x[1]])),
        (ops.diag([1, 2, 3], 1), np.diag([1, 2, 3], 1)),
        (ops.append(x, x, axis=0), np.append(x, x, axis=0)),
    ]:
        np.testing.assert_array_equal(ours, theirs)
    for k in range(-1, 5):
        np.testing.assert_array_equal(ops.rot90(x, k), np.rot90(x, k))
        np.testing.assert_array_equal(ops.rot90(x, k, axes=(1, 2)), np.rot90(x, k, axes=(1, 2)))
    for ours, theirs in [
        (ops.split(x, 2, axis=2), np.split(x, 2, axis=2)),
        (ops.split(x, [1, 3], axis=2), np.split(x, [1, 3], axis=2)),
        (ops.array_split(x, 3, axis=2), np.array_split(x, 3, axis=2)),
        (ops.hsplit(x, 3), np.hsplit(x, 3)),
    ]:
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="not 3 parts of one size"):
        ops.split(x, 3, axis=2)


def test_tensors_are_made():
    for ours, theirs in [
        (ops.arange(5), np.arange(5)),
        (ops.arange(1, 4, 0.5), np.arange(1, 4, 0.5)),
        (ops.eye(3, 4, 1), np.eye(3, 4, 1)),
        (ops.tri(3, 5, 1), np.tri(3, 5, 1)),
        (ops.linspace(0, 1, 7), np.linspace(0, 1, 7)),
        (ops.linspace(0, 1, 4, endpoint=False), np.linspace(0, 1, 4, endpoint=False)),
        (
            ops.linspace([0.0, 1.0], [2.0, 5.0], 3, axis=1),
            np.linspace([0.0, 1.0], [2.0, 5.0], 3, axis=1),
        ),
        (ops.logspace(0, 2, 5), np.logspace(0, 2, 5)),
        (ops.geomspace(1, 64, 4), np.geomspace(1, 64, 4)),
        (ops.vander([1.0, 2.0, 3.0]), np.vander([1.0, 2.0, 3.0])),
        (ops.full((2, 3), 7), np.full((2, 3), 7.0)),
        (ops.hanning(5), np.hanning(5)),
        (ops.hamming(5), np.hamming(5)),
        (ops.blackman(6), np.blackman(6)),
        (ops.bartlett(5), np.bartlett(5)),
        (ops.kaiser(5, 8.6), np.kaiser(5, 8.6)),
        (ops.zeros(3), np.zeros(3)),
        (ops.identity(2), np.identity(2)),
    ]:
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert ops.arange(3).dtype == "int32" and ops.arange(3.0).dtype == "float32"
    assert ops.linspace(0, 1, 5, retstep=True)[1].numpy() == pytest.approx(0.25)


def test_order_and_choice():
    x = np.array([[3, 1, 2, 1], [5, 4, 4, 0]])
    for ours, theirs in [
        (ops.sort(x), np.sort(x)),
        (ops.sort(x, axis=0), np.sort(x, axis=0)),
        (ops.argsort(x), np.argsort(x, kind="stable")),
        (ops.argsort(x, axis=None), np.argsort(x, axis=None, kind="stable")),
        (ops.searchsorted([1.0, 2.0, 4.0], [0.0, 2.0, 9.0]), [0, 1, 3]),
        (
            ops.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0]),
            np.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0]),
        ),
        (ops.take(x, [0, -1], axis=1), np.take(x, [0, -1], axis=1)),
        (ops.take(x, [[0, 5]]), np.take(x, [[0, 5]])),
        (ops.take_along_axis(x, np.argsort(x, axis=0), axis=0), np.sort(x, axis=0)),
        (ops.where(x > 2, x, 0), np.where(x > 2, x, 0)),
        (ops.nonzero(x)[1], np.nonzero(x)[1]),
        (ops.select([x > 4, x > 2], [x, -x], 9), np.select([x > 4, x > 2], [x, -x], 9)),
        (ops.isin(x, [1, 4]), np.isin(x, [1, 4])),
        (ops.unique(x), np.unique(x)),
        (ops.bincount(x[0], minlength=6), np.bincount(x[0], minlength=6)),
        (ops.count_nonzero(x, axis=1), np.count_nonzero(x, axis=1)),
    ]:
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(
        ops.unique(x, return_index=True, return_inverse=True, return_counts=True),
        np.unique(x, return_index=True, return_inverse=True, return_counts=True),
    ):
        np.testing.assert_array_equal(np.asarray(ours).reshape(-1), np.asarray(theirs).reshape(-1))
    counts, edges = ops.histogram(_X, bins=4)
    np.testing.assert_array_equal(counts, np.histogram(_X, bins=4)[0])
    np.testing.assert_allclose(edges, np.histogram(_X, bins=4)[1], rtol=1e-6)
    for ours, theirs in zip(ops.unravel_index([7, 3], (2, 4)), np.unravel_index([7, 3], (2, 4))):
        np.testing.assert_array_equal(ours, theirs)


def test_products_and_matrices():
    a = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]], np.float32)
    v = np.array([1.0, 2.0, -1.0], np.float32)
    for ours, theirs in [
        (ops.matmul(a, v), a @ v),
        (ops.matmul(v, a), v @ a),
        (ops.matmul(v, v), v @ v),
        (ops.dot(_X, a), np.dot(_X, a)),
        (ops.dot(2.0, a), 2 * a),
        (ops.inner(_X, _Y), np.inner(_X, _Y)),
        (ops.outer(v, v), np.outer(v, v)),
        (ops.vdot(_X, _Y), np.vdot(_X, _Y)),
        (ops.tensordot(_X, a, 1), np.tensordot(_X, a, 1)),
        (ops.kron(_X, a), np.kron(_X, a)),
        (ops.cross(v, a), np.cross(v, a)),
        (ops.einsum("ij,jk->ik", _X, a), _X @ a),
        (ops.correlate(v, a[0], "full"), np.correlate(v, a[0], "full")),
        (
            ops.correlate(np.arange(5.0), [1.0, 2.0], "same"),
            np.correlate(np.arange(5.0), [1, 2], "same"),
        ),
        (ops.correlate(np.arange(5.0), [1.0, 2.0]), np.correlate(np.arange(5.0), [1, 2])),
        (ops.corrcoef(a), np.corrcoef(a)),
        (ops.det(a), np.linalg.det(a)),
        (ops.inv(a), np.linalg.inv(a)),
        (ops.solve(a, v), np.linalg.solve(a, v)),
        (ops.linalg.cholesky(a), np.linalg.cholesky(a)),
        (ops.linalg.pinv(_X), np.linalg.pinv(_X)),
        (ops.linalg.lstsq(_X.T, v), np.linalg.lstsq(_X.T, v, rcond=None)[0]),
        (ops.linalg.svd(_X, compute_uv=False), np.linalg.svd(_X, compute_uv=False)),
    ]:
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5)
    u, s, w = ops.svd(_X, full_matrices=False)
    np.testing.assert_allclose(ops.matmul(u * s, w), _X, atol=1e-5)
    for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        np.testing.assert_allclose(ops.norm(a, order), np.linalg.norm(a, order), rtol=1e-4)
    for order in (0, 1, 2, 3, np.inf, -np.inf):
        np.testing.assert_allclose(
            ops.norm(_X, order, axis=1), np.linalg.norm(_X, order, axis=1), rtol=1e-5
        )


def test_layers_without_weights():
    x = np.arange(2 * 6 * 6 * 3, dtype=np.float32).reshape(2, 6, 6, 3) / 50
    kernel = np.arange(3 * 3 * 3 * 4, dtype=np.float32).reshape(3, 3, 3, 4) / 100
    np.testing.assert_allclose(
        ops.conv(x, kernel, strides=2, padding="same"),
        tf.nn.conv2d(x, kernel, 2, "SAME"),
        rtol=1e-6,
    )
    assert ops.conv(x[:, 0], kernel[0]).shape == (2, 4, 4)
    assert ops.depthwise_conv(x, kernel).shape == (2, 4, 4, 12)
    assert ops.depthwise_conv(x[:, 0], kernel[0]).shape == (2, 4, 12)
    assert ops.conv_transpose(x, np.zeros((3, 3, 5, 3), np.float32), 2).shape == (2, 13, 13, 5)
    assert ops.conv_transpose(x, np.zeros((3, 3, 5, 3), np.float32), 2, "same").shape == (
        2,
        12,
        12,
        5,
    )
    assert ops.max_pool(x, 2).shape == (2, 3, 3, 3)
    np.testing.assert_allclose(ops.average_pool(x, 6)[:, 0, 0], x.mean((1, 2)), rtol=1e-5)
    np.testing.assert_allclose(ops.softmax(_X, axis=None).numpy().sum(), 1, rtol=1e-6)
    np.testing.assert_allclose(ops.softmax(_X, axis=(0, 1)), ops.softmax(_X, axis=None), rtol=1e-6)
    np.testing.assert_allclose(
        ops.normalize(_X), _X / np.linalg.norm(_X, axis=-1, keepdims=True), rtol=1e-5
    )
    mean, variance = ops.moments(_X, axes=[0])
    np.testing.assert_allclose(variance, _X.var(0), rtol=1e-5)
    normal = ops.batch_normalization(_X, mean, variance, axis=-1, epsilon=1e-3)
    np.testing.assert_allclose(
        normal, (_X - _X.mean(0)) / np.sqrt(_X.var(0) + 1e-3), rtol=1e-4, atol=1e-5
    )
    rows = ops.layer_normalization(_X, gamma=np.ones(3, np.float32), epsilon=1e-3)
    np.testing.assert_allclose(np.asarray(rows).mean(-1), 0, atol=1e-6)
    np.testing.assert_allclose(
        ops.categorical_crossentropy(np.eye(3)[[1, 2]], [[0.05, 0.95, 0], [0.1, 0.8, 0.1]]),
        [0.051293, 2.302585],
        rtol=1e-4,
    )
    np.testing.assert_allclose(
        ops.sparse_categorical_crossentropy([1, 2], [[0.05, 0.95, 0], [0.1, 0.8, 0.1]]),
        [0.051293, 2.302585],
        rtol=1e-4,
    )
    np.testing.assert_allclose(
        ops.binary_crossentropy([0.0, 1.0], [0.1, 0.9]), [0.1053605, 0.1053605], rtol=1e-4
    )
    np.testing.assert_array_equal(ops.one_hot([1, 3], 4), np.eye(4)[[1, 3]])
    np.testing.assert_array_equal(ops.multi_hot([[0, 2], [1, 1]], 3), [[1, 0, 1], [0, 1, 0]])


def test_attention_is_a_weighed_mean():
    q = np.arange(2 * 3 * 2 * 4, dtype=np.float32).reshape(2, 3, 2, 4) / 24
    logits = np.einsum("btnh,bsnh->bnts", q, q) / 2
    logits = np.where(np.tril(np.ones((3, 3))), logits, -np.inf)
    weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(
        ops.dot_product_attention(q, q, q, is_causal=True),
        np.einsum("bnts,bsnh->btnh", weights, q),
        rtol=1e-5,
    )


def test_branches_and_loops():
    assert ops.cond(True, lambda: 1, lambda: 2) == 1
    assert ops.while_loop(lambda i: i < 5, lambda i: i + 2, ops.array(0)) == 6
    assert ops.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + i), (0, 10))[1] == 16
    assert ops.fori_loop(1, 4, lambda i, s: s * i, ops.array(1)) == 6
    assert ops.switch(5, [lambda x: x + 1, lambda x: x * 10], ops.array(3)) == 30
    last, sums = ops.scan(lambda c, x: (c + x, c + x), ops.array(0.0), np.float32([1, 2, 3]))
    assert last == 6 and sums.numpy().tolist() == [1, 3, 6]
    last, sums = ops.scan(
        lambda c, x: (c + x, c), ops.array(0.0), np.float32([1, 2, 3]), reverse=True
    )
    assert last == 6 and sums.numpy().tolist() == [5, 3, 0]
    np.testing.assert_array_equal(ops.map(lambda x: x * 2, _N), _N * 2)
    np.testing.assert_array_equal(ops.vectorized_map(lambda x: x + 1, _N), _N + 1)
    np.testing.assert_array_equal(
        ops.slice_update(np.zeros((3, 3)), [1, 1], np.ones((2, 2))),
        np.pad(np.ones((2, 2)), ((1, 0), (1, 0))),
    )
    np.testing.assert_array_equal(ops.scatter([[0], [2], [0]], [1, 2, 3], (4,)), [4, 0, 2, 0])
    np.testing.assert_array_equal(ops.segment_sum([1, 2, 3], [0, 1, 0]), [4, 2])
    np.testing.assert_array_equal(ops.extract_sequences(np.arange(6), 3, 2), [[0, 1, 2], [2, 3, 4]])
    with pytest.raises(ValueError, match="`xs` or `length`"):
        ops.scan(lambda c, x: (c, c), 0)


def test_symbols_of_models_are_taken():
    x = keras.Input((4, 6))
    parts = [
        ops.mean(x, axis=1),
        ops.reshape(x, (-1, 24))[:, :6],
        ops.softmax(ops.sum(ops.square(x) + 1, axis=1)),
        ops.max(ops.transpose(x, (0, 2, 1)), axis=-1),
        ops.take(x, [0], axis=1)[:, 0],
    ]
    assert ops.shape(x) == (None, 4, 6)
    model = keras.Model(x, ops.concatenate(parts, axis=-1))
    data = np.arange(3 * 24, dtype=np.float32).reshape(3, 4, 6) / 20
    found = model(data).numpy()
    assert found.shape == (3, 30)
    np.testing.assert_allclose(found[:, :6], data.mean(1), rtol=1e-5)
    np.testing.assert_allclose(found[:, 18:24], data.max(1), rtol=1e-6)


def test_traces_know_sizes_as_tensors():
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def rows(x):
        n, width = ops.shape(x)
        assert width == 3
        return ops.reshape(x, (n * 3,)), ops.take_along_axis(x, ops.argsort(x), axis=-1)

    flat, ordered = rows(_X)
    assert flat.shape == (6,)
    np.testing.assert_array_equal(ordered, np.sort(_X))


def test_every_name_of_keras_is_there_or_says_so():
    from holdfast._names.tensorflow import namespaces

    missing = []
    for section in (
        "keras.ops",
        "keras.ops.nn",
        "keras.ops.linalg",
        "keras.ops.numpy",
        "keras.ops.image",
    ):
        holder = ops
        for part in section.split(".")[2:]:
            holder = getattr(holder, part)
        for name in namespaces()[section]:
            try:
                assert callable(getattr(holder, name)) or name in {"image", "linalg", "nn", "numpy"}
            except tf.errors.DiagnosticError as error:
                assert error.code == "E1105" and f"tf.{section}.{name}" in str(error)
                missing.append(name)
    assert len(missing) < 90
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ops.nonsense  # noqa: B018


def test_refusals_name_what_is_wrong():
    with pytest.raises(ValueError, match="`where` takes both"):
        ops.where(_X > 0, _X)
    with pytest.raises(ValueError, match="`padding` of `conv`"):
        ops.conv(
            np.zeros((1, 4, 4, 1), np.float32), np.zeros((2, 2, 1, 1), np.float32), padding="full"
        )
    with pytest.raises((ValueError, IndexError), match="`axis` of `swapaxes` is 5"):
        ops.swapaxes(_X, 0, 5)
    with pytest.raises(ValueError, match="`conv` got 2 axes"):
        ops.conv(np.ones((1, 5), np.float32), np.ones((2, 1, 1), np.float32))
    with pytest.raises(ValueError, match="`quantile` got no values"):
        ops.median(np.zeros((3, 0)), axis=1)
    np.testing.assert_array_equal(ops.histogram([], 2)[1], [0, 0.5, 1])
    with pytest.raises(ValueError, match="`reduction` is 'xor'"):
        ops.scatter_update(_X, [[0, 0]], [1.0], reduction="xor")


# Random numbers.


def test_a_seed_gives_the_same_numbers():
    random = keras.random
    for draw in (
        lambda s: random.normal((3, 4), seed=s),
        lambda s: random.uniform((3, 4), -1, 2, seed=s),
        lambda s: random.truncated_normal((5,), seed=s),
        lambda s: random.randint((6,), 2, 9, seed=s),
        lambda s: random.gamma((4,), 2.0, seed=s),
        lambda s: random.binomial((4,), 10.0, 0.5, seed=s),
        lambda s: random.shuffle(np.arange(20), seed=s),
        lambda s: random.categorical([[0.0, 1.0, 2.0]], 8, seed=s),
        lambda s: random.dropout(np.ones((4, 4), np.float32), 0.5, seed=s),
    ):
        np.testing.assert_array_equal(draw(7), draw(7))
        assert not np.array_equal(draw(None), draw(None)) or not np.array_equal(draw(1), draw(2))
    whole = random.randint((1000,), 2, 9, seed=1).numpy()
    assert whole.min() == 2 and whole.max() == 8
    np.testing.assert_array_equal(np.sort(random.shuffle(np.arange(20), seed=3)), np.arange(20))
    rows = random.shuffle(np.arange(12).reshape(3, 4), axis=1, seed=3).numpy()
    np.testing.assert_array_equal(np.sort(rows, 1), np.arange(12).reshape(3, 4))


def test_a_generator_goes_on_also_in_a_trace():
    seeds = keras.random.SeedGenerator(5)

    @tf.function
    def draw():
        return keras.random.normal((3,), seed=seeds)

    first, second = draw().numpy(), draw().numpy()
    assert not np.array_equal(first, second)
    again = keras.random.SeedGenerator.from_config(seeds.get_config())
    np.testing.assert_array_equal(keras.random.normal((3,), seed=again), first)
    with pytest.raises(ValueError, match="expected none below 0"):
        keras.random.SeedGenerator(-1)
    with pytest.raises((ValueError, IndexError), match="`rate` of `dropout`"):
        keras.random.dropout(_X, 1.5)
