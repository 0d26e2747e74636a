"""Ragged tensors beside others: the rows of each repeated until all have one form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.symbols import is_symbol
from ...errors import fail
from . import partition
from .tensor import RaggedTensor

__all__ = ["broadcast", "map_flat", "same_rows"]

_concat = registry.function("concat")
_equal = registry.function("equal")
_gather = registry.function("gather")
_logical_or = registry.function("logical_or")
_range = registry.function("range")
_reduce_all = registry.function("reduce_all")
_repeat = registry.function("repeat")
_reshape = registry.function("reshape")
_shape = registry.function("shape")
_where = registry.function("where")


def map_flat(function: Callable[..., Any], *values: Any) -> Any:
    """`function` of the innermost values of ragged tensors, which are made alike first."""
    alike = broadcast(values)
    first = next(x for x in alike if isinstance(x, RaggedTensor))
    flat = [x.flat_values if isinstance(x, RaggedTensor) else x for x in alike]
    return RaggedTensor._of(function(*flat), first.nested_row_splits, first._uniform)


def same_rows(ragged: Sequence[Any]) -> bool:
    """Whether these are known to have the same rows, without looking at values."""
    first = ragged[0]
    return all(
        len(x._splits) == len(first._splits)
        and all(a is b or _same_tensor(a, b) for a, b in zip(x._splits, first._splits, strict=True))
        for x in ragged[1:]
    )


def _same_tensor(a: Any, b: Any) -> bool:
    if a._id == b._id:
        return True
    if a.dtype != b.dtype or a.shape != b.shape or is_symbol(a) or is_symbol(b):
        return False
    # By their numbers: in a trace an op of two tensors that are there gives a symbol.
    return bool(np.array_equal(a.numpy(), b.numpy()))


def _rank_of(x: Any) -> int:
    rank = x.shape.rank
    if rank is None:
        fail("E1102", "a ragged tensor is used beside a tensor of an unknown rank")
    return int(rank)


def broadcast(values: Sequence[Any]) -> list[Any]:
    """Ragged tensors of the same rows; dense ones stay where they fit the innermost values."""
    ragged = [x for x in values if isinstance(x, RaggedTensor)]
    first = ragged[0]
    kind = first.row_splits.dtype
    if any(x.row_splits.dtype != kind for x in ragged):
        values = [
            x.with_row_splits_dtype("int64") if isinstance(x, RaggedTensor) else x for x in values
        ]
        return broadcast(values)
    found = [
        x if isinstance(x, RaggedTensor) else _holdfast.convert(x, _kind_beside(x, first))
        for x in values
    ]
    ranks = [_rank_of(x) for x in found]
    depth = max(
        (max(ranks) - r + x.ragged_rank) for x, r in zip(found, ranks, strict=True) if is_here(x)
    )
    inner = max(ranks) - depth - 1
    loose = [x for x, r in zip(found, ranks, strict=True) if not is_here(x) and r > inner]
    if not loose and same_rows(ragged) and len({_rank_of(x) for x in ragged}) == 1:
        return found
    return _expanded(found, ranks, depth, kind)


def is_here(x: Any) -> bool:
    return isinstance(x, RaggedTensor)


def _kind_beside(x: Any, ragged: Any) -> Any:
    """The dtype that a number takes beside a ragged tensor; a tensor has its own."""
    return None if hasattr(x, "dtype") else ragged.dtype


class _Walked:
    """An operand on the way inwards: for each element of the result so far, its own element."""

    def __init__(self, value: Any, missing: int, kind: Any) -> None:
        self._value, self._missing, self._kind = value, missing, kind
        self._axis = -missing  # the axis of its own that comes next
        self.places: Any = None  # None: of no axis yet, one element for all

    def lengths(self, count: Any) -> Any:
        """How long the next axis is, for each element so far."""
        if self._axis < 0:
            return registry.function("ones")([count], self._kind)
        if is_here(self._value) and 0 < self._axis <= self._value.ragged_rank:
            own = partition.lengths_of(self._value.nested_row_splits[self._axis - 1])
        elif is_here(self._value) and self._axis == 0:
            return registry.function("fill")([count], self._value.nrows())
        else:
            return registry.function("fill")([count], self._size())
        return _gather(own, self.places)

    @property
    def stretches(self) -> bool:
        """Whether the next axis is as long for all, so that a length of 1 may be repeated."""
        if not is_here(self._value) or not 0 < self._axis <= self._value.ragged_rank:
            return True
        return self._value._uniform[self._axis - 1] is not None

    def _size(self) -> Any:
        if not is_here(self._value):
            return _shape(self._value, self._kind)[self._axis]
        rank = self._value.ragged_rank
        return _shape(self._value.flat_values, self._kind)[self._axis - rank]

    def step(self, lengths: Any, wanted: Any, count: Any) -> None:
        """Goes into an axis, whose rows are so long, and wanted so long."""
        if self._axis >= 0:
            own = (
                self.places
                if self.places is not None
                else registry.function("zeros")([count], self._kind)
            )
            if is_here(self._value) and 0 < self._axis <= self._value.ragged_rank:
                starts = _gather(self._value.nested_row_splits[self._axis - 1], own)
            else:
                starts = own * lengths
            within = partition.positions(wanted)
            if self.stretches:
                repeated = _repeat(_equal(lengths, 1), wanted, axis=0)
                within = _where(repeated, registry.function("zeros_like")(within), within)
            self.places = _repeat(starts, wanted, axis=0) + within
        self._axis += 1

    def elements(self, total: Any) -> Any:
        """Its innermost values, for each element of the result."""
        flat = self._value.flat_values if is_here(self._value) else self._value
        if self._axis <= 0:  # it has fewer axes than the result's innermost values
            return flat
        joined = self._axis - (self._value.ragged_rank if is_here(self._value) else 0)
        if joined > 1:
            flat = _reshape(flat, _concat([[-1], _shape(flat)[joined:]], 0))
        return _gather(flat, self.places)


def _expanded(values: list[Any], ranks: list[int], depth: int, kind: Any) -> list[Any]:
    """All of one form: axis by axis, rows of length 1 are repeated as often as others are long."""
    most = max(ranks)
    walked = [_Walked(x, most - r, kind) for x, r in zip(values, ranks, strict=True)]
    count = _holdfast.convert(1, kind)
    splits = []
    for axis in range(depth + 1):
        lengths = [w.lengths(count) for w in walked]
        wanted, bends = lengths[0], walked[0].stretches
        for each, w in zip(lengths[1:], walked[1:], strict=True):
            alike = _equal(wanted, each)
            if bends:
                alike = _logical_or(alike, _equal(wanted, 1))
            if w.stretches:
                alike = _logical_or(alike, _equal(each, 1))
            partition.require(
                _reduce_all(alike),
                f"ragged tensors do not fit beside each other: rows of axis {axis} differ",
                "rows have one length, or those of one of them all have length 1",
            )
            if bends:
                wanted = _where(_equal(wanted, 1), each, wanted)
            bends = bends and w.stretches
        for w, own in zip(walked, lengths, strict=True):
            w.step(own, wanted, count)
        splits.append(partition.splits_of_lengths(wanted))
        count = splits[-1][-1]
    return [
        w.elements(count)
        if r <= most - depth - 1 and not is_here(x)
        else RaggedTensor._of(w.elements(count), splits[1:])
        for w, x, r in zip(walked, values, ranks, strict=True)
    ]
