"""NumPy's functions of whole arrays, on symbols: ours, where one does the same.

Each function here has the name and the parameters of NumPy's. A parameter that is missing is one
that no op of ours has, and what is given for it is refused with the call.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _holdfast
from . import registry
from .symbols import is_symbol

__all__ = ["array_function"]

Tensor = _holdfast.Tensor
_LOOKED_INTO = 64  # arguments of a list; a symbol among them is one of the first


def array_function(function: Any, args: Any, kwargs: Any) -> Any:
    """NumPy asks here before it applies `function` to a tensor."""
    own = getattr(function, "_implementation", None)
    if own is None:  # such as `np.array(x, like=tensor)`
        return NotImplemented
    ours = _table().get(function)
    if ours is None or not any(map(is_symbol, _tensors((*args, *kwargs.values())))):
        return own(*args, **kwargs)
    given = {name: value for name, value in kwargs.items() if not _is_default(name, value)}
    try:
        bound = _signature(ours).bind(*args, **given)
    except TypeError:  # an argument that no op has
        return own(*args, **kwargs)
    found = ours(*bound.args, **bound.kwargs)
    return own(*args, **kwargs) if found is NotImplemented else found


def _tensors(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (part for part in value[:_LOOKED_INTO] if isinstance(part, Tensor))


def _is_default(name: str, value: Any) -> bool:
    """Whether an argument says what leaving it out says."""
    if value is np._NoValue:
        return True
    return (name == "where" and value is True) or (
        name in ("out", "dtype", "order", "stable") and value is None
    )


@functools.cache
def _signature(ours: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(ours)


def _op(path: str) -> Any:
    return registry.function(path)


def _flat(a: Any, axis: Any) -> tuple[Any, Any]:
    """NumPy goes through all elements where no axis is given."""
    return (_op("reshape")(a, [-1]), 0) if axis is None else (a, axis)


def _as_floats(a: Any, dtype: Any) -> Any:
    """What NumPy computes means with."""
    if dtype is not None:
        return _op("cast")(a, dtype)
    a = _op("identity")(a)
    exact = a.dtype.is_integer or a.dtype.name == "bool"
    return _op("cast")(a, "float64") if exact else a


# Reductions.


def mean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    return _op("reduce_mean")(_as_floats(a, dtype), axis=axis, keepdims=bool(keepdims))


def average(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return mean(a, axis, keepdims=keepdims)


def var(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    floats = _as_floats(a, dtype)
    return _op("math.reduce_variance")(floats, axis=axis, keepdims=bool(keepdims))


def std(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    return _op("math.reduce_std")(_as_floats(a, dtype), axis=axis, keepdims=bool(keepdims))


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return _op("math.count_nonzero")(a, axis=axis, keepdims=keepdims)


def argmax(a: Any, axis: Any = None) -> Any:
    flat, along = _flat(a, axis)
    return _op("argmax")(flat, axis=along)


def argmin(a: Any, axis: Any = None) -> Any:
    flat, along = _flat(a, axis)
    return _op("argmin")(flat, axis=along)


def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    flat, along = _flat(a, axis)
    return np.add.accumulate(flat, axis=along, dtype=dtype)


def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    flat, along = _flat(a, axis)
    return np.multiply.accumulate(flat, axis=along, dtype=dtype)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is not None and axis is None:
        return NotImplemented  # of a vector or of a matrix: they differ
    order = "euclidean" if ord is None else ord
    return _op("norm")(_as_floats(x, None), ord=order, axis=axis, keepdims=keepdims)


# Element by element.


def clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    if a_min is not None:
        a = _op("maximum")(a, a_min)
    return a if a_max is None else _op("minimum")(a, a_max)


def round_(a: Any, decimals: int = 0) -> Any:
    return _op("round")(a) if decimals == 0 else NotImplemented


def where(condition: Any, x: Any, y: Any) -> Any:
    return _op("where")(condition, x, y)


def zeros_like(a: Any, dtype: Any = None) -> Any:
    return _op("zeros_like")(a, dtype)


def ones_like(a: Any, dtype: Any = None) -> Any:
    return _op("ones_like")(a, dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    filled = _op("cast")(fill_value, dtype or _op("identity")(a).dtype)
    return _op("broadcast_to")(filled, _op("shape")(a))


# Shapes.


def transpose(a: Any, axes: Any = None) -> Any:
    return _op("transpose")(a, axes)


def squeeze(a: Any, axis: Any = None) -> Any:
    return _op("squeeze")(a, axis)


def expand_dims(a: Any, axis: Any) -> Any:
    return _op("expand_dims")(a, axis) if isinstance(axis, int) else NotImplemented


def reshape(a: Any, /, shape: Any, order: str = "C") -> Any:
    if order != "C":
        return NotImplemented
    return _op("reshape")(a, shape if isinstance(shape, (list, tuple, Tensor)) else [shape])


def ravel(a: Any, order: str = "C") -> Any:
    return _op("reshape")(a, [-1]) if order == "C" else NotImplemented


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    rank = a.shape.rank
    if rank is None:
        return NotImplemented
    order = list(range(rank))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return _op("transpose")(a, order)


def broadcast_to(array: Any, shape: Any) -> Any:
    return _op("broadcast_to")(array, shape if isinstance(shape, (list, tuple)) else [shape])


def tile(A: Any, reps: Any) -> Any:
    times = [reps] if isinstance(reps, int) else list(reps)
    rank = A.shape.rank
    if rank is None or len(times) > rank:
        return NotImplemented
    return _op("tile")(A, [1] * (rank - len(times)) + times)


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return _op("repeat")(a, repeats, axis=axis)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    flat, along = _flat(a, axis)
    rolled = _op("roll")(flat, shift, along)
    return rolled if axis is not None else _op("reshape")(rolled, _op("shape")(a))


def pad(array: Any, pad_width: Any, mode: str = "constant") -> Any:
    rank = array.shape.rank
    if mode not in ("constant", "reflect", "symmetric") or rank is None:
        return NotImplemented
    widths = np.broadcast_to(np.asarray(pad_width), (rank, 2))
    return _op("pad")(array, widths.tolist(), mode=mode.upper())


# Several arrays.


def stack(arrays: Any, axis: int = 0) -> Any:
    return _op("stack")(list(arrays), axis=axis)


def concatenate(arrays: Any, axis: Any = 0) -> Any:
    if axis is None:
        arrays, axis = [_op("reshape")(each, [-1]) for each in arrays], 0
    return _op("concat")(list(arrays), axis=axis)


def vstack(tup: Any) -> Any:
    rows = [_op("identity")(each) for each in tup]
    ranks = [each.shape.rank for each in rows]
    if None in ranks or 0 in ranks:
        return NotImplemented
    both = zip(rows, ranks, strict=True)
    return concatenate([_op("expand_dims")(r, 0) if rank == 1 else r for r, rank in both])


def hstack(tup: Any) -> Any:
    rows = [_op("identity")(each) for each in tup]
    ranks = [each.shape.rank for each in rows]
    if None in ranks or 0 in ranks:
        return NotImplemented
    return concatenate(rows, 0 if ranks[0] == 1 else 1)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    if not isinstance(indices_or_sections, int):
        return NotImplemented
    return list(_op("split")(ary, indices_or_sections, axis=axis))


def take(a: Any, indices: Any, axis: Any = None) -> Any:
    flat, along = _flat(a, axis)
    return _op("gather")(flat, indices, axis=along)


def sort(a: Any, axis: Any = -1) -> Any:
    flat, along = _flat(a, axis)
    return _op("sort")(flat, axis=along)


def argsort(a: Any, axis: Any = -1) -> Any:
    flat, along = _flat(a, axis)
    return _op("cast")(_op("argsort")(flat, axis=along), "int64")


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    rank = a.shape.rank
    if rank is None or n != 1:
        return NotImplemented
    before: list[Any] = [slice(None)] * rank
    after = list(before)
    before[axis], after[axis] = slice(None, -1), slice(1, None)
    return a[tuple(after)] - a[tuple(before)]


# Products.


def dot(a: Any, b: Any) -> Any:
    first, second = _op("identity")(a), _op("identity")(b)
    ranks = first.shape.rank, second.shape.rank
    if None in ranks:
        return NotImplemented
    if 0 in ranks:
        return first * second
    return _op("tensordot")(first, second, [[-1 % ranks[0]], [max(ranks[1] - 2, 0)]])


def outer(a: Any, b: Any) -> Any:
    column = _op("reshape")(a, [-1, 1])
    return column * _op("reshape")(b, [1, -1])


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return _op("tensordot")(a, b, axes)


def einsum(subscripts: str, *operands: Any) -> Any:
    if not isinstance(subscripts, str):
        return NotImplemented
    return _op("einsum")(subscripts, list(operands))


def trace(a: Any) -> Any:
    return _op("linalg.trace")(a) if a.shape.rank == 2 else NotImplemented


def size(a: Any) -> Any:
    return math.prod(a.shape) if a.shape.is_fully_defined() else NotImplemented


_OURS = (
    *(mean, average, var, std, count_nonzero, argmax, argmin, cumsum, cumprod, clip, where),
    *(zeros_like, ones_like, full_like, transpose, squeeze, expand_dims, reshape, ravel),
    *(swapaxes, broadcast_to, tile, repeat, roll, pad, stack, concatenate, vstack, hstack, split),
    *(take, sort, argsort, diff, dot, outer, tensordot, einsum, trace, size),
)
_LINEAR = {"inv": "linalg.inv", "det": "linalg.det", "solve": "linalg.solve"}


@functools.cache
def _table() -> dict[Any, Callable[..., Any]]:
    table: dict[Any, Callable[..., Any]] = {getattr(np, f.__name__): f for f in _OURS}
    table |= {np.round: round_, np.around: round_, np.linalg.norm: norm}
    table |= {getattr(np.linalg, name): _op(path) for name, path in _LINEAR.items()}
    return table
