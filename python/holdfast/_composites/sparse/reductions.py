"""Sums and extremes of sparse tensors over axes, and softmax of their rows."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.dtypes import int64
from ..._tensors.tensor import Tensor, get_static_value
from ...errors import fail
from .functions import axis_of
from .places import elements, linear, require_inside, require_ordered, runs, summed
from .tensor import SparseTensor, need_sparse

_gather = registry.function("gather")
_reshape = registry.function("reshape")
_stack = registry.function("stack")
_where = registry.function("where")


def _reduce(how: str, sp_input: Any, axis: Any, keepdims: Any, output_is_sparse: bool) -> Any:
    name = f"tf.sparse.reduce_{how}"
    sparse = need_sparse(sp_input, name)
    rank = sparse.shape.rank
    if rank is None:
        fail("E1102", f"`{name}`: the rank of the sparse tensor is not known")
    if isinstance(axis, Tensor):
        axis = get_static_value(axis)
    given = range(rank) if axis is None else (axis if hasattr(axis, "__len__") else [axis])
    gone = {axis_of(a, rank, name) for a in given}
    require_inside(sparse, name)
    kept = [a for a in range(rank) if a not in gone]
    indices = _gather(sparse.indices, _holdfast.convert(kept, int64), axis=1)
    shape = _gather(sparse.dense_shape, _holdfast.convert(kept, int64))
    final = shape
    if keepdims:
        one = _holdfast.convert(1, int64)
        final = _stack([one if a in gone else sparse.dense_shape[a] for a in range(rank)])
    if output_is_sparse:
        places, found = summed(indices, sparse.values, shape, how)
        if keepdims:
            at = {a: k for k, a in enumerate(kept)}
            zeros = registry.function("zeros")(registry.function("shape")(places)[:1], int64)
            places = _stack([places[:, at[a]] if a in at else zeros for a in range(rank)], 1)
        return SparseTensor(places, found, final)
    numbers, count = linear(indices, shape), elements(shape, name)
    found = registry.function(f"math.unsorted_segment_{how}")(sparse.values, numbers, count)
    if how != "sum":  # where there is no element at all, zero
        ones = registry.function("ones_like")(numbers)
        there = registry.function("math.unsorted_segment_sum")(ones, numbers, count)
        found = _where(there > 0, found, registry.function("zeros_like")(found))
    return _reshape(found, final)


@named_ops
def reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: Any = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Sums over axes: a dense tensor, unless a sparse one is asked for."""
    return _reduce("sum", sp_input, axis, keepdims, output_is_sparse)


@named_ops
def reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: Any = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The largest of the elements that are there, over axes."""
    return _reduce("max", sp_input, axis, keepdims, output_is_sparse)


@named_ops
def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax of each row of the innermost axis, over the elements that are there."""
    sparse = need_sparse(sp_input, "tf.sparse.softmax")
    require_ordered(sparse, "tf.sparse.softmax")
    rank = sparse.shape.rank
    if rank is not None and rank < 2:
        fail(
            "E1102",
            f"`tf.sparse.softmax` got a tensor of shape {sparse.shape}, expected 2 axes or more",
        )
    _, rows, count = runs(sparse.indices[:, :-1])
    largest = registry.function("math.unsorted_segment_max")(sparse.values, rows, count)
    shifted = registry.function("exp")(
        sparse.values - registry.function("stop_gradient")(_gather(largest, rows))
    )
    total = registry.function("math.unsorted_segment_sum")(shifted, rows, count)
    found: SparseTensor = sparse.with_values(shifted / _gather(total, rows))
    return found
