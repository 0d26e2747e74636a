"""Ragged tensors with other axes: more, fewer, joined, in another order."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ...errors import fail
from . import partition
from .dense import from_tensor
from .rows import rows_of
from .tensor import RaggedTensor, whole_axis

__all__ = ["expand_dims", "merge_dims", "reverse", "squeeze", "tile"]

_concat = registry.function("concat")
_gather = registry.function("gather")
_range = registry.function("range")
_reshape = registry.function("reshape")
_shape = registry.function("shape")


def expand_dims(ragged: Any, axis: Any) -> Any:
    """With a new axis of size 1."""
    if not isinstance(ragged, RaggedTensor):
        return registry.function("expand_dims")(ragged, axis)
    rank = ragged.shape.rank
    at = whole_axis(axis, None if rank is None else rank + 1, "axis", "expand_dims")
    kind = ragged.row_splits.dtype
    if at == 0:
        splits = registry.function("stack")([_holdfast.convert(0, kind), ragged.nrows()])
        rows = ragged.shape[0] if rank else None
        return RaggedTensor._rows(ragged, splits, rows)
    if at == 1:
        return RaggedTensor._rows(ragged, _range(ragged.nrows() + 1, dtype=kind), 1)
    return ragged.with_values(expand_dims(ragged.values, at - 1))


def squeeze(ragged: Any, axis: Any) -> Any:
    """Without axes of size 1."""
    if axis is None:
        fail("E1104", "`squeeze` of a RaggedTensor needs `axis`: its sizes differ from row to row")
    rank = ragged.shape.rank
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    for at in sorted({whole_axis(a, rank, "axis", "squeeze") for a in axes}, reverse=True):
        ragged = _squeezed(ragged, at)
    return ragged


def _squeezed(ragged: Any, at: int) -> Any:
    if not isinstance(ragged, RaggedTensor):
        return registry.function("squeeze")(ragged, [at])
    if at == 0:
        one = registry.function("equal")(ragged.nrows(), 1)
        partition.require(one, "`squeeze`: axis 0 has another size than 1", "only such axes go")
        return ragged.values
    if at == 1:
        ones = registry.function("reduce_all")(
            registry.function("equal")(partition.lengths_of(ragged.row_splits), 1)
        )
        partition.require(
            ones, "`squeeze`: axis 1 has rows of other lengths than 1", "only such go"
        )
        return ragged.values
    return ragged.with_values(_squeezed(ragged.values, at - 1))


def merge_dims(ragged: Any, outer_axis: int, inner_axis: int) -> Any:
    """The axes from one to another as one."""
    rank = ragged.shape.rank
    outer = whole_axis(outer_axis, rank, "outer_axis", "merge_dims")
    inner = whole_axis(inner_axis, rank, "inner_axis", "merge_dims")
    if outer > inner:
        fail(
            "E1103",
            f"`merge_dims`: `outer_axis` is {outer_axis} and `inner_axis` is {inner_axis}",
            "the outer one comes first",
        )
    for _ in range(outer, inner):
        ragged = _merged(ragged, outer)
    return ragged


def _merged(ragged: Any, axis: int) -> Any:
    """The axes `axis` and `axis + 1` as one."""
    if not isinstance(ragged, RaggedTensor):
        sizes = _shape(ragged)
        known = ragged.shape.as_list()
        found = _reshape(ragged, _concat([sizes[:axis], [-1], sizes[axis + 2 :]], 0))
        both = known[axis : axis + 2]
        size = None if None in both else both[0] * both[1]
        return registry.function("ensure_shape")(found, [*known[:axis], size, *known[axis + 2 :]])
    if axis == 0:
        return ragged.values
    if axis > 1:
        return ragged.with_values(_merged(ragged.values, axis - 1))
    inner = ragged.values
    if not isinstance(inner, RaggedTensor):
        inner = from_tensor(inner, None, None, 1, ragged.row_splits.dtype)
    splits = partition.merged(ragged.row_splits, inner.row_splits)
    return RaggedTensor._rows(inner.values, splits)


def reverse(ragged: Any, axes: Any) -> Any:
    """With the order of some axes turned around."""
    if not isinstance(ragged, RaggedTensor):
        return registry.function("reverse")(ragged, axes)
    rank = ragged.shape.rank
    wanted = {whole_axis(a, rank, "axis", "reverse") for a in axes}
    inner = [a - 1 for a in wanted if a > 1]
    if inner:
        ragged = ragged.with_values(reverse(ragged.values, inner))
    splits = ragged.row_splits
    lengths, starts = partition.lengths_of(splits), splits[:-1]
    if 1 in wanted:
        places = partition.gathered(starts, lengths)
        ends = registry.function("repeat")(starts + splits[1:] - 1, lengths, axis=0)
        ragged = ragged.with_values(rows_of(ragged.values, ends - places))
    if 0 in wanted:
        ragged = rows_of(ragged, _range(ragged.nrows() - 1, -1, -1))
    return ragged


def tile(ragged: Any, multiples: Any) -> Any:
    """Repeated along each axis, as often as said."""
    multiples = _holdfast.convert(multiples)
    kind = ragged.row_splits.dtype
    times = registry.function("cast")(multiples, kind)
    return _tiled(ragged, times, 0)


def _tiled(ragged: Any, times: Any, axis: int) -> Any:
    if not isinstance(ragged, RaggedTensor):
        ones = _holdfast.convert([1], times.dtype)
        return registry.function("tile")(ragged, _concat([ones, times[axis + 1 :]], 0))
    # Each row is repeated, then what is inside; last the rows themselves.
    inner = _tiled(ragged.values, times, axis + 1)
    splits, count = ragged.row_splits, times[axis + 1]
    lengths = partition.lengths_of(splits)
    longer = lengths * count
    within = partition.positions(longer)
    each = registry.function("repeat")(lengths, longer, axis=0)
    starts = registry.function("repeat")(splits[:-1], longer, axis=0)
    safe = registry.function("maximum")(each, 1)
    values = rows_of(inner, starts + within % safe)
    found = RaggedTensor._rows(values, partition.splits_of_lengths(longer))
    if axis:
        return found
    rows = found.nrows()
    return rows_of(found, _range(rows * times[0]) % registry.function("maximum")(rows, 1))
