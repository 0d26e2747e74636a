"""Where the elements of a sparse tensor are: as rows of numbers, and as one number each."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.dtypes import int64
from ..ragged.partition import require
from .tensor import SparseTensor

__all__ = ["linear", "ordered", "require_inside", "require_ordered", "summed", "unravelled"]

_cast = registry.function("cast")
_concat = registry.function("concat")
_cumprod = registry.function("math.cumprod")
_gather = registry.function("gather")
_reduce_all = registry.function("reduce_all")
_reduce_sum = registry.function("reduce_sum")


def strides_of(shape: Any) -> Any:
    """How far apart neighbours along each axis are in the flat tensor."""
    return _cumprod(shape, 0, exclusive=True, reverse=True)


def linear(indices: Any, shape: Any) -> Any:
    """The number of each element in the flat tensor."""
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
    numbers = linear(sparse.indices, sparse.dense_shape)
    before, behind = numbers[:-1], numbers[1:]
    rises = before < behind if strictly else before <= behind
    require(
        _reduce_all(rises),
        f"`{name}`: the indices of the sparse tensor are not in order, or one comes twice",
        "elements come in the order in which they lie in the dense tensor; `tf.sparse.reorder` "
        "puts them so",
    )


def ordered(sparse: Any) -> Any:
    """The same elements in the order in which they lie in the dense tensor."""
    order = registry.function("argsort")(linear(sparse.indices, sparse.dense_shape), stable=True)
    return SparseTensor._made(
        sparse._facts(),
        (_gather(sparse.indices, order), _gather(sparse.values, order), sparse.dense_shape),
    )


def summed(indices: Any, values: Any, shape: Any, how: str = "sum") -> tuple[Any, Any]:
    """Elements at the same place as one, in order: indices and values."""
    numbers = linear(indices, shape)
    order = registry.function("argsort")(numbers, stable=True)
    sorted_numbers = _gather(numbers, order)
    first = _concat(
        [
            _holdfast.convert([True]),
            registry.function("not_equal")(sorted_numbers[1:], sorted_numbers[:-1]),
        ],
        0,
    )[: registry.function("size")(numbers)]
    groups = registry.function("math.cumsum")(_cast(first, int64)) - 1
    places = registry.function("boolean_mask")(sorted_numbers, first)
    count = _reduce_sum(_cast(first, int64))
    function = registry.function(f"math.unsorted_segment_{how}")
    found = function(_gather(values, order), groups, count)
    return unravelled(places, shape), found
