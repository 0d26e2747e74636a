"""How rows lie in one long tensor, said by where each begins: `row_splits` and what follows of it.

Row `i` is `values[row_splits[i]:row_splits[i + 1]]`. All of this is written with ops, so it holds
for symbols too.
"""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._flow.checks import Assert, note_check
from ..._tensors import registry
from ..._tensors.dtypes import as_dtype, int32, int64
from ..._tensors.symbols import is_symbol
from ...errors import fail

__all__ = [
    "as_index",
    "checked",
    "gathered",
    "lengths_of",
    "merged",
    "positions",
    "require",
    "row_count",
    "rowids_of",
    "splits_of_lengths",
    "splits_of_rowids",
    "value_count",
]

_cast = registry.function("cast")
_concat = registry.function("concat")
_cumsum = registry.function("math.cumsum")
_equal = registry.function("equal")
_gather = registry.function("gather")
_ones_like = registry.function("ones_like")
_range = registry.function("range")
_reduce_all = registry.function("reduce_all")
_repeat = registry.function("repeat")
_segment_sum = registry.function("math.unsorted_segment_sum")
_shape = registry.function("shape")


def as_index(value: Any, argument: str, dtype: Any = None) -> Any:
    """Row splits, lengths or numbers as a tensor of int32 or int64."""
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, (list, tuple)) and not value:
        found = _holdfast.convert(value, wanted or int64)
    elif isinstance(value, _holdfast.Tensor) or hasattr(value, "dtype"):
        found = _holdfast.convert(value)
    else:
        found = _holdfast.convert(value)
        if found.dtype in (int32, int64):
            found = _cast(found, wanted or int64)
    if found.dtype not in (int32, int64):
        fail(
            "E1104",
            f"`{argument}` is of dtype {found.dtype.name}, expected int32 or int64",
            "it counts values",
        )
    return found if wanted is None else _cast(found, wanted)


def as_vector(value: Any, argument: str, dtype: Any = None) -> Any:
    """The same of rank 1."""
    found = as_index(value, argument, dtype)
    if found.shape.rank not in (1, None):
        fail("E1102", f"`{argument}` is of shape {found.shape}, expected a vector")
    return found


def require(holds: Any, what: str, why: str) -> None:
    """Refuses values for which a condition does not hold; in a graph, when it runs."""
    if not is_symbol(holds):
        if not bool(holds):
            fail("E1103", what, why)
        return
    Assert(holds, [f"{what}: {why}"])
    note_check(holds)


def lengths_of(splits: Any) -> Any:
    """How long each row is."""
    return splits[1:] - splits[:-1]


def row_count(splits: Any) -> Any:
    """How many rows there are, as a scalar of the same dtype."""
    known = splits.shape.num_elements()
    if known is not None:
        return _holdfast.convert(known - 1, splits.dtype)
    return _shape(splits, splits.dtype)[0] - 1


def value_count(values: Any, dtype: Any) -> Any:
    """How many values there are: the size of their first axis."""
    known = values.shape[0] if values.shape.rank else None
    return _holdfast.convert(known, dtype) if known is not None else _shape(values, dtype)[0]


def splits_of_lengths(lengths: Any) -> Any:
    """Where each row begins, and the last one ends."""
    zero = _holdfast.convert([0], lengths.dtype)
    return _concat([zero, _cumsum(lengths)], 0)


def rowids_of(splits: Any) -> Any:
    """The row of each value."""
    rows = _range(row_count(splits), dtype=splits.dtype)
    return _repeat(rows, lengths_of(splits), axis=0)


def splits_of_rowids(rowids: Any, nrows: Any) -> Any:
    """The reverse, of row numbers in ascending order."""
    return splits_of_lengths(_segment_sum(_ones_like(rowids), rowids, nrows))


def positions(lengths: Any) -> Any:
    """0, 1, ... of each row, one row after the other."""
    splits = splits_of_lengths(lengths)
    return _range(splits[-1], dtype=splits.dtype) - _repeat(splits[:-1], lengths, axis=0)


def gathered(starts: Any, lengths: Any) -> Any:
    """The numbers of the values of rows that begin and are as long as said."""
    return _repeat(starts, lengths, axis=0) + positions(lengths)


def merged(outer: Any, inner: Any) -> Any:
    """The splits of rows of rows as rows of what those hold."""
    return _gather(inner, outer)


def checked(splits: Any, values_count: Any, made_by: str) -> None:
    """Refuses splits that do not begin at 0, fall, or do not end where the values do."""
    for holds, what in (
        (_equal(splits[0], 0), "begins at another number than 0"),
        (_reduce_all(splits[:-1] <= splits[1:]), "falls"),
        (_equal(splits[-1], values_count), "does not end at the number of values"),
    ):
        if not is_symbol(holds) and not bool(holds):
            what = f"{what}: {_shown(splits)}, and there are {_shown(values_count)} values"
        require(
            holds,
            f"`{made_by}`: `row_splits` {what}",
            "row `i` is `values[row_splits[i]:row_splits[i + 1]]`",
        )


def _shown(tensor: Any) -> str:
    text = str(tensor.numpy().tolist())
    return text if len(text) <= 60 else f"{text[:57]}..."
