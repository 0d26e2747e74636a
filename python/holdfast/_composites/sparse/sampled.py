"""`tf.sparse.sampled_addmm`: the elements of a product that a program asks for."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.dtypes import as_dtype, float32, int32
from ...errors import fail
from ..ragged.partition import require

__all__ = ["sampled_addmm"]

_cast = registry.function("cast")
_gather_nd = registry.function("gather_nd")


def sampled_addmm(
    indices: Any,
    values: Any,
    dense_shape: Any,
    mat1: Any,
    mat2: Any,
    beta: Any = 1.0,
    alpha: Any = 1.0,
    output_type: Any = float32,
) -> tuple[Any, Any, Any]:
    """`alpha` times elements of `mat1 @ mat2`, plus `beta` times `values`: the parts of the result.

    `indices` says which elements, in each matrix of a batch; no others are computed.
    """
    kind = as_dtype(output_type)
    if not kind.is_floating:
        fail("E1101", f"`tf.sparse.sampled_addmm`: `output_type` is {kind.name}, expected floats")
    places, shape = _holdfast.convert(indices), _cast(_holdfast.convert(dense_shape), int32)
    given, a, b = (_holdfast.convert(each, kind) for each in (values, mat1, mat2))
    for tensor, name in ((places, "indices"), (a, "mat1"), (b, "mat2")):
        if tensor.shape.rank is None or tensor.shape.rank < 2:
            what = f"`{name}` is of shape {tensor.shape}, expected two axes or more"
            fail("E1102", f"`tf.sparse.sampled_addmm`: {what}")
    sizes = registry.function("shape")
    whole = registry.function("stack")([sizes(a)[-2], sizes(b)[-1]])
    require(
        registry.function("reduce_all")(registry.function("equal")(shape, whole)),
        f"`tf.sparse.sampled_addmm`: `dense_shape` is not that of matrices {a.shape} @ {b.shape}",
        "it has the rows of `mat1` and the columns of `mat2`",
    )
    batch = a.shape.rank - 2
    turned = registry.function("linalg.matrix_transpose")(b)
    ends = registry.function("concat")([places[..., :-2], places[..., -1:]], -1)
    rows = _gather_nd(a, places[..., :-1], batch_dims=batch)
    columns = _gather_nd(turned, ends, batch_dims=batch)
    dot = registry.function("reduce_sum")(rows * columns, -1)
    return places, dot * alpha + given * beta, shape
