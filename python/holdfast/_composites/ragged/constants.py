"""Ragged tensors from Python's lists, and ranges of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.dtypes import DType, as_dtype, int64
from ..._tensors.shape import as_shape
from ...errors import fail
from . import partition
from .tensor import RaggedTensor
from .value import RaggedTensorValue

__all__ = ["constant", "constant_value", "ragged_range"]

_cast = registry.function("cast")
_maximum = registry.function("maximum")
_repeat = registry.function("repeat")


@named_ops
def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> Any:
    """Nested lists as a ragged tensor; a tensor where `ragged_rank` is 0 or it is no list."""
    kind = as_dtype(row_splits_dtype)
    if _is_inside(pylist, ragged_rank, inner_shape):
        made = _holdfast.constant(pylist, None if dtype is None else as_dtype(dtype))
        return registry.function("reshape")(made, as_shape(inner_shape).as_list())
    values, splits = _taken_apart(pylist, ragged_rank, inner_shape)
    whole = not splits and isinstance(pylist, np.ndarray)  # which says of what it has no element
    made = _flat(pylist if whole else values, dtype, inner_shape)
    if not splits:
        return made
    return RaggedTensor._of(made, [_holdfast.convert(np.array(each), kind) for each in splits])


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """The same as a session gives it: arrays of NumPy's."""
    if _is_inside(pylist, ragged_rank, inner_shape):
        whole = np.array(pylist, None if dtype is None else _numpy_dtype(dtype))
        return whole.reshape(as_shape(inner_shape).as_list())
    values, splits = _taken_apart(pylist, ragged_rank, inner_shape)
    wanted = None if dtype is None else _numpy_dtype(dtype)
    found: Any = np.array(values, wanted)
    if not values and dtype is None:
        found = np.array(values, np.float64)
    if inner_shape is not None:
        found = found.reshape([-1, *inner_shape])
    kind = as_dtype(row_splits_dtype).as_numpy_dtype
    for each in reversed(splits):
        found = RaggedTensorValue(found, np.array(each, kind))
    return found


def _numpy_dtype(dtype: Any) -> Any:
    if dtype is bytes:
        return dtype
    return dtype.as_numpy_dtype if isinstance(dtype, DType) else np.dtype(dtype)


def _is_inside(pylist: Any, ragged_rank: int | None, inner_shape: Any) -> bool:
    """Whether `inner_shape` is the shape of the whole: there is no axis of rows besides."""
    if ragged_rank is not None or inner_shape is None or not _is_list(pylist):
        return False
    return len(as_shape(inner_shape)) >= max(_depths(pylist))


def _flat(values: Any, dtype: Any, inner_shape: Any) -> Any:
    wanted = None if dtype is None else as_dtype(dtype)
    made = _holdfast.constant(values, wanted)
    if inner_shape is None:
        return made
    sizes = as_shape(inner_shape).as_list()
    return registry.function("reshape")(made, [-1, *sizes])


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _depths(value: Any) -> tuple[int, int]:
    """How deep the values lie, -1 where there are none, and how deep lists go at most."""
    if not _is_list(value):
        return 0, 0
    scalar, deepest = -1, 0
    for part in value:
        inner, most = _depths(part)
        if inner >= 0:
            if scalar not in (-1, inner + 1):
                fail(
                    "E1103",
                    "a list for `tf.ragged.constant` has values at different depths",
                    "all values of a ragged tensor have as many axes around them",
                )
            scalar = inner + 1
        deepest = max(deepest, most)
    if scalar >= 0 and deepest + 1 > scalar:
        fail(
            "E1103",
            f"a list for `tf.ragged.constant` has values at depth {scalar}, and an empty list "
            "deeper than that",
            "all values of a ragged tensor have as many axes around them",
        )
    return scalar, deepest + 1


def _taken_apart(
    pylist: Any, ragged_rank: int | None, inner_shape: Any
) -> tuple[list[Any], list[list[int]]]:
    """The innermost values, and the splits of each axis."""
    if ragged_rank is not None and ragged_rank < 0:
        fail("E1103", f"`ragged_rank` is {ragged_rank}, expected 0 or more")
    if not _is_list(pylist):
        if ragged_rank:
            fail("E1103", f"{pylist!r} has no axis, and `ragged_rank` is {ragged_rank}")
        if inner_shape is not None and as_shape(inner_shape).rank:
            fail("E1103", f"{pylist!r} has no axis, and `inner_shape` is {inner_shape}")
        return pylist, []
    scalar, deepest = _depths(pylist)
    inner = None if inner_shape is None else as_shape(inner_shape).rank
    depth = scalar if scalar >= 0 else max(deepest, (ragged_rank or 0) + 1 + (inner or 0))
    if ragged_rank is not None and scalar < 0 and deepest > depth:
        depth = deepest
    if inner is None:
        inner = 0 if ragged_rank is None else depth - 1 - ragged_rank
        inner = max(inner, 0)
    axes = depth - 1 - inner if ragged_rank is None else ragged_rank
    if axes < 0 or axes + 1 + inner != depth:
        fail(
            "E1103",
            f"a list of depth {depth} was to have {axes} ragged axes and {inner} more inside",
            "one axis is that of the rows, the others are ragged or inside",
        )
    values: Any = [_plain(part) for part in pylist]
    splits = []
    for _ in range(axes):
        lengths = [len(part) for part in values]
        splits.append([0, *np.cumsum(lengths, dtype=np.int64).tolist()])
        values = [_plain(x) for part in values for x in part]
    return _inner_values(values, inner, inner_shape), splits


def _inner_values(values: list[Any], inner: int, inner_shape: Any) -> list[Any]:
    if not inner:
        return values
    if inner_shape is not None:  # in one row, for `reshape`
        for _ in range(inner):
            values = [x for part in values for x in part]
    return values


@named_ops
def ragged_range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> Any:
    """Row `i` counts from `starts[i]` up to `limits[i]` by steps of `deltas[i]`."""
    if limits is None:
        starts, limits = 0, starts
    kind = as_dtype(row_splits_dtype)
    wanted = None if dtype is None else as_dtype(dtype)
    found = [_holdfast.convert(x) for x in (starts, limits, deltas)]
    given = [x for x in (starts, limits, deltas) if hasattr(x, "dtype")]
    if wanted is None:
        order = [x.dtype for x in (found if not given else map(_holdfast.convert, given))]
        names = ("int32", "int64", "float32", "float64")
        wanted = max(order, key=lambda d: names.index(d.name) if d.name in names else -1)
    start, limit, delta = (_cast(x, wanted) for x in found)
    for x, what in ((start, "starts"), (limit, "limits"), (delta, "deltas")):
        if x.shape.rank is not None and x.shape.rank > 1:
            fail("E1102", f"`tf.ragged.range`: `{what}` is of shape {x.shape}, expected a vector")
    nonzero = registry.function("reduce_all")(registry.function("not_equal")(delta, 0))
    partition.require(nonzero, "`tf.ragged.range`: `deltas` has a 0", "such a row has no end")
    if wanted.is_floating:
        sizes = registry.function("math.ceil")((limit - start) / delta)
    else:  # the way from the lowest number to the highest has no number of its own dtype
        begin, end, step = (_cast(x, int64) for x in (start, limit, delta))
        sizes = (end - begin + step - registry.function("sign")(step)) // step
    lengths = registry.function("reshape")(_cast(_maximum(sizes, 0), kind), [-1])
    rows = registry.function("shape")(lengths)
    steps = _cast(partition.positions(lengths), wanted)

    def each(x: Any) -> Any:
        row = registry.function("broadcast_to")(x, rows) if x.shape.rank == 0 else x
        row = registry.function("broadcast_to")(row, rows)
        return _repeat(row, lengths, axis=0)

    values = each(start) + steps * each(delta)
    return RaggedTensor._of(values, [partition.splits_of_lengths(lengths)])
