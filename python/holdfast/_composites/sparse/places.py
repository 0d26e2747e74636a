"""Where the elements of a sparse tensor are: as rows of numbers, and as one number each."""

from __future__ import annotations

import math
from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.dtypes import int64
from ..._tensors.tensor import get_static_value
from ...errors import fail
from ..ragged.partition import require
from .tensor import SparseTensor

__all__ = [
    "elements",
    "linear",
    "ordered",
    "require_inside",
    "require_ordered",
    "runs",
    "summed",
    "unravelled",
]

_cast = registry.function("cast")
_concat = registry.function("concat")
_cumprod = registry.function("math.cumprod")
_gather = registry.function("gather")
_reduce_all = registry.function("reduce_all")
_reduce_prod = registry.function("reduce_prod")
_reduce_sum = registry.function("reduce_sum")


def strides_of(shape: Any) -> Any:
    """How far apart neighbours along each axis are in the flat tensor."""
    return _cumprod(shape, 0, exclusive=True, reverse=True)


def elements(shape: Any, name: str) -> Any:
    """How many elements a dense tensor of a shape has."""
    known, what = get_static_value(shape), f"`{name}`: more elements than an int64 counts"
    if known is None:
        inner, outer = strides_of(shape), _cumprod(shape, 0, reverse=True)
        # A product that wrapped around is no multiple of its first factor by the second.
        back = outer // registry.function("maximum")(shape, 1)
        fits = registry.function("logical_or")(
            registry.function("equal")(shape, 0), registry.function("equal")(back, inner)
        )
        require(_reduce_all(fits), what, "those of the dense tensor are counted, too")
    elif math.prod(known.tolist()) >= 1 << 63:
        fail("E1103", what, f"those of the dense tensor are counted, of shape {known.tolist()}")
    return _reduce_prod(shape)


def linear(indices: Any, shape: Any) -> Any:
    """The number of each element in the flat tensor, which has no more than an int64 counts."""
    return _reduce_sum(indices * strides_of(shape), 1)


def unravelled(numbers: Any, shape: Any) -> Any:
    """The reverse: a row of numbers for each."""
    steps = registry.function("maximum")(strides_of(shape), 1)
    return (numbers[:, None] // steps) % registry.function("maximum")(shape, 1)


def require_inside(sparse: Any, name: str) -> None:
    """Refuses indices that are outside of the shape."""
    indices, shape = sparse.indices, sparse.dense_shape
    inside = registry.function("logical_and")(indices >= 0, indices < shape)
    require(
        _reduce_all(inside),
        f"`{name}`: an index of the sparse tensor is outside of its `dense_shape`",
        "indices count from 0 along each axis",
    )


def require_ordered(sparse: Any, name: str, strictly: bool = True) -> None:
    """Refuses indices that are not in the order of the dense tensor, or come twice."""
    require_inside(sparse, name)
    steps = registry.function("sign")(sparse.indices[1:] - sparse.indices[:-1])
    # The first axis along which neighbours differ weighs more than all behind it together.
    way = linear(steps, registry.function("ones_like")(sparse.dense_shape) * 2)
    rises = way > 0 if strictly else way >= 0
    require(
        _reduce_all(rises),
        f"`{name}`: the indices of the sparse tensor are not in order, or one comes twice",
        "elements come in the order in which they lie in the dense tensor; `tf.sparse.reorder` "
        "puts them so",
    )


def _order(indices: Any, shape: Any) -> Any:
    """Which element lies first in the dense tensor, which second, and so on."""
    argsort = registry.function("argsort")
    known = get_static_value(shape)
    rank = indices.shape[1] if indices.shape.rank else None
    if not rank or (known is not None and math.prod(known.tolist()) < 1 << 63):
        if not rank:
            elements(shape, "the order of a sparse tensor")
        return argsort(linear(indices, shape), stable=True)
    order = argsort(indices[:, rank - 1], stable=True)
    for axis in reversed(range(rank - 1)):
        order = _gather(order, argsort(_gather(indices[:, axis], order), stable=True))
    return order


def runs(rows: Any) -> tuple[Any, Any, Any]:
    """Of rows, of which equal ones lie side by side: which are the first, their numbers, how many.

    The numbers count the rows that differ.
    """
    differ = registry.function("reduce_any")(registry.function("not_equal")(rows[1:], rows[:-1]), 1)
    first = _concat([_holdfast.convert([True]), differ], 0)[: registry.function("shape")(rows)[0]]
    numbers = registry.function("math.cumsum")(_cast(first, int64)) - 1
    return first, numbers, _reduce_sum(_cast(first, int64))


def ordered(sparse: Any) -> Any:
    """The same elements in the order in which they lie in the dense tensor."""
    order = _order(sparse.indices, sparse.dense_shape)
    return SparseTensor._made(
        sparse._facts(),
        (_gather(sparse.indices, order), _gather(sparse.values, order), sparse.dense_shape),
    )


def summed(indices: Any, values: Any, shape: Any, how: str = "sum") -> tuple[Any, Any]:
    """Elements at the same place as one, in order: indices and values."""
    order = _order(indices, shape)
    rows = _gather(indices, order)
    first, groups, count = runs(rows)
    function = registry.function(f"math.unsorted_segment_{how}")
    found = function(_gather(values, order), groups, count)
    return registry.function("boolean_mask")(rows, first), found
