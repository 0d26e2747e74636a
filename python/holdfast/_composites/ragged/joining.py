"""Ragged tensors side by side."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.composite import handles
from ..._tensors.tensor import Tensor, get_static_value
from ...errors import fail
from . import partition
from .dense import from_tensor
from .reshaping import expand_dims
from .rows import rows_of
from .tensor import RaggedTensor, is_ragged, whole_axis

__all__ = ["concat", "stack"]

_concat = registry.function("concat")
_gather = registry.function("gather")
_range = registry.function("range")


def _alike(values: Any, name: str) -> list[Any]:
    """The values as ragged tensors of one ragged rank; dense ones where all are."""
    if not isinstance(values, (list, tuple)):
        fail("E1104", f"`{name}` got a {type(values).__name__}, expected a list of tensors")
    if not values:
        fail("E1103", f"`{name}` got no tensors")
    first = next((x for x in values if is_ragged(x)), None)
    hint = None if first is None else first.dtype
    found = [
        x if is_ragged(x) else _holdfast.convert(x, None if isinstance(x, Tensor) else hint)
        for x in values
    ]
    if first is None:
        return found
    kinds = {x.row_splits.dtype.name for x in found if is_ragged(x)}
    kind = "int64" if len(kinds) > 1 else next(iter(kinds))
    ranks = {x.shape.rank for x in found} - {None}
    if len(ranks) > 1:
        fail("E1102", f"`{name}` got tensors of {', '.join(map(str, sorted(ranks)))} axes")
    depth = max(x.ragged_rank for x in found if is_ragged(x))
    return [_deepened(x, depth, kind) for x in found]


def _deepened(x: Any, depth: int, kind: Any) -> Any:
    """With splits for as many axes."""
    if not is_ragged(x):
        if x.shape.rank is not None and x.shape.rank <= depth:
            fail("E1102", f"a tensor of shape {x.shape} beside ragged ones of more axes")
        return from_tensor(x, None, None, depth, registry.function("cast")(0, kind).dtype)
    x = x.with_row_splits_dtype(kind)
    if x.ragged_rank < depth:
        inner = from_tensor(x.flat_values, None, None, depth - x.ragged_rank, x.row_splits.dtype)
        return x.with_flat_values(inner)
    return x


def _axis_of(axis: Any, rank: int | None, name: str) -> int:
    known = get_static_value(axis) if isinstance(axis, Tensor) else axis
    if known is None:
        fail("E1105", f"`{name}` of ragged tensors needs `axis` while tracing")
    return whole_axis(known, rank, "axis", name)


@handles(registry.function("concat"), RaggedTensor)
@named_ops
def concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """One after the other along an axis."""
    if is_ragged(values):
        values = [values]
    found = _alike(values, "concat")
    return _joined(found, _axis_of(axis, found[0].shape.rank, "concat"))


def _joined(found: list[Any], axis: int) -> Any:
    if not is_ragged(found[0]):
        return _concat(found, axis)
    if len(found) == 1:
        return found[0]
    if axis == 0:
        values = _joined([x.values for x in found], 0)
        lengths = _concat([partition.lengths_of(x.row_splits) for x in found], 0)
        return RaggedTensor._rows(values, partition.splits_of_lengths(lengths))
    _same_rows(found)
    if axis > 1:
        inner = _joined([x.values for x in found], axis - 1)
        return RaggedTensor._rows(inner, found[0].row_splits, found[0]._uniform[0])
    # All rows of the first, then of the second; taken in turn they are the rows of the result.
    below = _joined([x.values for x in found], 0)
    lengths = [partition.lengths_of(x.row_splits) for x in found]
    each = _concat(lengths, 0)
    rows = found[0].nrows()
    parts = len(found)
    turns = registry.function("reshape")(
        _range(parts, dtype=rows.dtype)[None, :] * rows + _range(rows, dtype=rows.dtype)[:, None],
        [-1],
    )
    starts = partition.splits_of_lengths(each)[:-1]
    places = partition.gathered(_gather(starts, turns), _gather(each, turns))
    total = registry.function("add_n")(lengths)
    return RaggedTensor._rows(rows_of(below, places), partition.splits_of_lengths(total))


def _same_rows(found: list[Any]) -> None:
    counts = [x.nrows() for x in found]
    same = registry.function("reduce_all")(
        registry.function("equal")(registry.function("stack")(counts), counts[0])
    )
    partition.require(
        same, "`concat` got ragged tensors of different numbers of rows", "rows are joined in pairs"
    )


@handles(registry.function("stack"), RaggedTensor)
@named_ops
def stack(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Side by side along a new axis."""
    if is_ragged(values) or isinstance(values, Tensor):
        values = [values]
    found = _alike(values, "stack")
    rank = found[0].shape.rank
    at = _axis_of(axis, None if rank is None else rank + 1, "stack")
    if not is_ragged(found[0]):
        kind = registry.function("cast")(0, "int64").dtype
        if rank == 1 and at == 0:
            return _rows_of_dense(found, kind)
        if rank is not None and at >= rank - 1:
            return registry.function("stack")(found, at)
        found = [from_tensor(x, None, None, 1, kind) for x in found]
    return _joined([expand_dims(x, at) for x in found], at)


def _rows_of_dense(found: list[Any], kind: Any) -> Any:
    counts = [partition.value_count(x, kind) for x in found]
    splits = partition.splits_of_lengths(registry.function("stack")(counts))
    return RaggedTensor._of(_concat(found, 0), [splits])
