"""`tf.keras.ops.linalg`, and products of tensors."""

from __future__ import annotations

from typing import Any

from ...errors import fail, unsupported
from .shapes import moveaxis
from .transforms import jvp
from .values import as_float, promoted, rank_of, tensor, tf

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "det",
    "eig",
    "eigh",
    "inv",
    "jvp",
    "lstsq",
    "lu_factor",
    "matrix_rank",
    "norm",
    "pinv",
    "qr",
    "solve",
    "solve_triangular",
    "svd",
]


def cholesky(x: Any, upper: bool = False) -> Any:
    """The triangle whose square is `x`."""
    found = tf.linalg.cholesky(as_float(x))
    return tf.linalg.matrix_transpose(found) if upper else found


def cholesky_inverse(x: Any, upper: bool = False) -> Any:
    """The inverse of the matrix that has the triangle `x`."""
    x = as_float(x)
    triangle = tf.linalg.matrix_transpose(x) if upper else x
    one = tf.eye(tf.shape(x)[-1], dtype=x.dtype)
    return tf.linalg.cholesky_solve(triangle, tf.broadcast_to(one, tf.shape(x)))


def det(x: Any) -> Any:
    """The determinant."""
    return tf.linalg.det(as_float(x))


def slogdet(x: Any) -> Any:
    """The sign of the determinant, and the logarithm of its size."""
    return tuple(tf.linalg.slogdet(as_float(x)))


def logdet(x: Any) -> Any:
    """The logarithm of the determinant of a positive matrix."""
    return tf.linalg.logdet(as_float(x))


def eig(x: Any) -> Any:
    """Values and vectors that the matrix only stretches."""
    return tuple(tf.linalg.eig(as_float(x)))


def eigh(x: Any) -> Any:
    """The same for a matrix that is its own mirror."""
    return tuple(tf.linalg.eigh(as_float(x)))


def inv(x: Any) -> Any:
    """The inverse."""
    return tf.linalg.inv(as_float(x))


def pinv(x: Any, rcond: Any = None) -> Any:
    """The inverse, as far as there is one."""
    return tf.linalg.pinv(as_float(x), rcond)


def lu_factor(x: Any) -> Any:
    """Both triangles in one matrix, and the order of the rows."""
    return tuple(tf.linalg.lu(as_float(x)))


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """The `x` for which `a x` is nearest to `b`; the shortest, where there are several."""
    a, b = (as_float(v) for v in promoted(a, b))
    row = rank_of(b, "lstsq") == 1
    found = tf.matmul(tf.linalg.pinv(a, rcond), b[:, None] if row else b)
    return tf.squeeze(found, axis=[-1]) if row else found


def matrix_rank(x: Any, tol: Any = None) -> Any:
    """How many rows are no sums of others."""
    return tf.linalg.matrix_rank(as_float(x), tol)


def qr(x: Any, mode: str = "reduced") -> Any:
    """A turn and a triangle whose product is `x`."""
    if mode not in {"reduced", "complete"}:
        fail("E1104", f'`mode` of `qr` is {mode!r}, expected "reduced" or "complete"')
    return tuple(tf.linalg.qr(as_float(x), full_matrices=mode == "complete"))


def solve(a: Any, b: Any) -> Any:
    """The `x` for which `a x = b`."""
    a, b = (as_float(v) for v in promoted(a, b))
    if b.shape.rank == (a.shape.rank or 0) - 1:
        return tf.squeeze(tf.linalg.solve(a, b[..., None]), axis=[-1])
    return tf.linalg.solve(a, b)


def solve_triangular(a: Any, b: Any, lower: bool = False) -> Any:
    """The same for a triangle."""
    a, b = (as_float(v) for v in promoted(a, b))
    if b.shape.rank == (a.shape.rank or 0) - 1:
        return tf.squeeze(tf.linalg.triangular_solve(a, b[..., None], lower=lower), axis=[-1])
    return tf.linalg.triangular_solve(a, b, lower=lower)


def svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """`u, s, v` with `x = u s v`; only `s` without `compute_uv`."""
    found = tf.linalg.svd(as_float(x), full_matrices=full_matrices, compute_uv=compute_uv)
    if not compute_uv:
        return found
    s, u, v = found
    return u, s, tf.linalg.adjoint(v)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """How long vectors are, or how large matrices, by the measure `ord`."""
    x = as_float(x)
    rank = rank_of(x, "norm")
    if axis is None and ord is None:
        out = tf.sqrt(tf.reduce_sum(tf.square(tf.abs(x)), keepdims=keepdims))
        return out
    if axis is None:
        axis = (0, 1) if rank == 2 else 0 if rank == 1 else None
    if axis is None:
        fail("E1103", f"`norm` with `ord` needs an axis for a tensor of {rank} axes")
    axes = [axis] if isinstance(axis, int) else list(axis)
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, "fro" if ord is None else ord, axes, keepdims)
    return fail("E1103", f"`axis` of `norm` is {axis}, expected one or two axes")


def _vector_norm(x: Any, order: Any, axis: int, keepdims: bool) -> Any:
    size = tf.abs(x)
    if order == float("inf"):
        return tf.reduce_max(size, axis=axis, keepdims=keepdims)
    if order == float("-inf"):
        return tf.reduce_min(size, axis=axis, keepdims=keepdims)
    if order == 0:
        there = tf.cast(tf.not_equal(x, 0), size.dtype)
        return tf.reduce_sum(there, axis=axis, keepdims=keepdims)
    if order == 1:
        return tf.reduce_sum(size, axis=axis, keepdims=keepdims)
    if order == 2:
        return tf.sqrt(tf.reduce_sum(tf.square(size), axis=axis, keepdims=keepdims))
    if isinstance(order, str):
        fail("E1104", f'`ord` of `norm` is "{order}", which is a measure of matrices')
    total = tf.reduce_sum(tf.pow(size, order), axis=axis, keepdims=keepdims)
    return tf.pow(total, 1.0 / order)


def _matrix_norm(x: Any, order: Any, axes: list[int], keepdims: bool) -> Any:
    rank = rank_of(x, "norm")
    rows, columns = (a % rank for a in axes)
    moved = moveaxis(x, (rows, columns), (-2, -1))
    size = tf.abs(moved)
    if order == "fro":
        out = tf.sqrt(tf.reduce_sum(tf.square(size), axis=[-2, -1]))
    elif order in {1, -1, float("inf"), float("-inf")}:
        sums = tf.reduce_sum(size, axis=-2 if order in {1, -1} else -1)
        out = (tf.reduce_max if order > 0 else tf.reduce_min)(sums, axis=-1)
    elif order in {"nuc", 2, -2}:
        values = tf.linalg.svd(moved, compute_uv=False)
        pick = {"nuc": tf.reduce_sum, 2: tf.reduce_max, -2: tf.reduce_min}[order]
        out = pick(values, axis=-1)
    else:
        fail("E1104", f"`ord` of `norm` is {order!r}, which is no measure of matrices")
    if keepdims:
        for a in sorted((rows, columns)):
            out = tf.expand_dims(out, a)
    return out


# Products.


def _product(function: Any, x1: Any, x2: Any) -> Any:
    a, b = promoted(x1, x2)
    if a.dtype.is_bool:
        return tf.cast(function(tf.cast(a, "int32"), tf.cast(b, "int32")), "bool")
    return function(a, b)


def matmul(x1: Any, x2: Any) -> Any:
    """The product of matrices; vectors are rows on the left and columns on the right."""

    def product(a: Any, b: Any) -> Any:
        left, right = rank_of(a, "matmul"), rank_of(b, "matmul")
        if 0 in {left, right}:
            fail("E1102", "`matmul` got a number, expected vectors or matrices")
        if left == 1 and right == 1:
            return tf.tensordot(a, b, 1)
        if right == 1:
            return tf.tensordot(a, b, 1)
        if left == 1:
            return tf.squeeze(tf.matmul(a[None, :], b), axis=[-2])
        return tf.matmul(a, b)

    a, b = tensor(x1), tensor(x2)
    if a.dtype == b.dtype == "int8":  # sums of products of bytes do not fit into bytes
        a, b = tf.cast(a, "int32"), tf.cast(b, "int32")
    return _product(product, a, b)


def dot(x1: Any, x2: Any) -> Any:
    """The sum over the last axis of `x1` and the last but one of `x2`."""

    def product(a: Any, b: Any) -> Any:
        left, right = rank_of(a, "dot"), rank_of(b, "dot")
        if 0 in {left, right}:
            return a * b
        return tf.tensordot(a, b, [[left - 1], [max(right - 2, 0)]])

    return _product(product, x1, x2)


def inner(x1: Any, x2: Any) -> Any:
    """The sum over the last axis of both."""

    def product(a: Any, b: Any) -> Any:
        if 0 in {rank_of(a, "inner"), rank_of(b, "inner")}:
            return a * b
        return tf.tensordot(a, b, [[-1], [-1]])

    return _product(product, x1, x2)


def outer(x1: Any, x2: Any) -> Any:
    """All products of one value of each."""
    a, b = promoted(x1, x2)
    return tf.reshape(a, [-1, 1]) * tf.reshape(b, [1, -1])


def vdot(x1: Any, x2: Any) -> Any:
    """The sum of the products of all values; of complex ones `x1` is turned round."""
    a, b = (tf.reshape(v, [-1]) for v in promoted(x1, x2))
    return tf.reduce_sum((tf.math.conj(a) if a.dtype.is_complex else a) * b)


def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """The sum over pairs of axes."""
    return _product(lambda a, b: tf.tensordot(a, b, axes), x1, x2)


def kron(x1: Any, x2: Any) -> Any:
    """`x2` in the place of each value of `x1`, times that."""
    a, b = promoted(x1, x2)
    rank = max(rank_of(a, "kron"), rank_of(b, "kron"))
    for _ in range(rank - rank_of(a, "kron")):
        a = a[None]
    for _ in range(rank - rank_of(b, "kron")):
        b = b[None]
    sizes = tf.shape(a) * tf.shape(b)
    for i in range(rank):
        a, b = tf.expand_dims(a, 2 * i + 1), tf.expand_dims(b, 2 * i)
    return tf.reshape(a * b, sizes)


def cross(
    x1: Any, x2: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """The vector that stands upright on two."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(x1, x2)
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    sizes = (a.shape[-1], b.shape[-1])
    if any(size not in {2, 3} for size in sizes):
        fail("E1102", f"`cross` got vectors of the sizes {sizes}, expected 2 or 3")

    def part(v: Any, i: int) -> Any:
        return v[..., i] if i < v.shape[-1] else tf.zeros_like(v[..., 0])

    (a0, a1, a2), (b0, b1, b2) = ([part(v, i) for i in range(3)] for v in (a, b))
    up = a0 * b1 - a1 * b0
    if sizes == (2, 2):
        return up
    return moveaxis(tf.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, up], axis=-1), -1, axisc)


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Any:
    """Sums of products, as the letters say."""
    if kwargs:
        unsupported(f"`einsum` with `{next(iter(kwargs))}` is not supported", "it takes operands")
    return tf.einsum(subscripts, *promoted(*operands))


def cdist(x: Any, y: Any) -> Any:
    """Distances between all rows of two tensors."""
    a, b = (as_float(v) for v in promoted(x, y))
    difference = a[..., :, None, :] - b[..., None, :, :]
    return tf.sqrt(tf.reduce_sum(tf.square(difference), axis=-1))


def corrcoef(x: Any) -> Any:
    """How much rows go along with each other, from -1 to 1."""
    x = as_float(x)
    rows = x[None] if rank_of(x, "corrcoef") == 1 else x
    rows = rows - tf.reduce_mean(rows, axis=-1, keepdims=True)
    covariance = tf.matmul(rows, rows, transpose_b=True)
    size = tf.sqrt(tf.linalg.diag_part(covariance))
    out = covariance / (size[:, None] * size[None, :])
    out = tf.minimum(tf.maximum(out, -1.0), 1.0)
    return out[0, 0] if x.shape.rank == 1 else out


def correlate(x1: Any, x2: Any, mode: str = "valid") -> Any:
    """Sums of products of a row with another that is moved along."""
    a, b = (as_float(v) for v in promoted(x1, x2))
    if a.shape.rank != 1 or b.shape.rank != 1:
        fail("E1102", "`correlate` takes two rows")
    n, m = a.shape[0], b.shape[0]
    if n is None or m is None:
        fail("E1102", "`correlate` needs to know how long its rows are")
    if mode not in {"valid", "same", "full"}:
        fail("E1104", f'`mode` of `correlate` is {mode!r}, expected "valid", "same" or "full"')
    padded = tf.pad(a, [[m - 1, m - 1]])
    places = tf.range(n + m - 1)[:, None] + tf.range(m)[None, :]
    whole = tf.linalg.matvec(tf.gather(padded, places), b)
    short, long = min(n, m), max(n, m)
    if mode == "full":
        return whole
    if mode == "valid":
        return whole[short - 1 : long]
    begin = (short - 1) // 2 if n >= m else short // 2
    return whole[begin : begin + long]
