"""`ragged[...]`: rows, parts of rows, new axes."""

from __future__ import annotations

from typing import Any, NoReturn

from ..._messages.provenance import type_text
from ..._tensors import registry
from ..._tensors.symbols import is_symbol
from ..._tensors.tensor import Tensor
from ...errors import fail
from . import partition
from .constants import ragged_range
from .reshaping import expand_dims
from .rows import rows_of
from .tensor import RaggedTensor

__all__ = ["getitem"]

_cast = registry.function("cast")
_maximum = registry.function("maximum")
_minimum = registry.function("minimum")
_where = registry.function("where")


def getitem(ragged: Any, key: Any) -> Any:
    """`ragged[key]`."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if sum(each is Ellipsis for each in keys) > 1:
        fail("E1103", "a ragged tensor is indexed with more than one `...`")
    return _item(ragged, keys)


def _named(ragged: Any) -> NoReturn:
    fail(
        "E1103",
        f"a ragged tensor of shape {ragged.shape} is indexed by a number inside of a ragged axis",
        "not every row has an element of that number",
        fix="take a slice: `rt[:, i:i + 1]`, or make it dense first: `rt.to_tensor()[:, i]`",
    )


def _item(ragged: Any, keys: list[Any]) -> Any:
    if not keys:
        return ragged
    if not isinstance(ragged, RaggedTensor):
        return ragged[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _item(ragged, _without_dots(ragged, keys, ragged.shape.rank))
    if first is None:
        return expand_dims(_item(ragged, rest), 0)
    if isinstance(first, slice):
        return _inside(_sliced_rows(ragged, first), rest)
    place = _number(first)
    splits = ragged.row_splits
    count = partition.row_count(splits)
    if is_symbol(place) or is_symbol(count):
        place = _where(place < 0, place + count, place)
    else:
        at, rows = int(place), int(count)
        if not -rows <= at < rows:
            fail(
                "E1103",
                f"row {at} of a ragged tensor that has {rows} rows",
                "rows are numbered from 0, or from -1 backwards",
            )
        place = at % rows
    begin, end = splits[place], splits[place + 1]
    inner = ragged.values
    if isinstance(inner, RaggedTensor):
        row = _between(inner, begin, end)
    else:
        row = inner[begin:end]
    if ragged._uniform[0] is not None and not isinstance(row, RaggedTensor):
        row = registry.function("ensure_shape")(row, [ragged._uniform[0], *row.shape[1:]])
    return _item(row, rest)


def _between(ragged: Any, begin: Any, end: Any) -> Any:
    """Rows that lie side by side."""
    splits = ragged.row_splits[begin : end + 1]
    first, last = splits[0], splits[-1]
    inner = ragged.values
    values = _between(inner, first, last) if isinstance(inner, RaggedTensor) else inner[first:last]
    return RaggedTensor._rows(values, splits - first, ragged._uniform[0])


def _without_dots(ragged: Any, keys: list[Any], rank: int | None) -> list[Any]:
    """Keys with full slices for `...`, which comes first."""
    rest = keys[1:]
    if not rest:
        return []
    if rank is None:
        fail("E1102", "a ragged tensor of an unknown rank is indexed with `...`")
    taken = sum(each is not None for each in rest)
    if taken > rank:
        fail("E1103", f"a ragged tensor of {rank} axes is indexed with {taken} keys beside `...`")
    return [slice(None)] * (rank - taken) + rest


def _number(key: Any) -> Any:
    if isinstance(key, Tensor):
        if key.shape.rank not in (0, None) or not key.dtype.is_integer:
            fail(
                "E1104",
                f"a ragged tensor is indexed with {type_text(key)}, expected an integer scalar",
                fix="`tf.gather` takes many rows",
            )
        return key
    if isinstance(key, bool) or not hasattr(key, "__index__"):
        fail(
            "E1104",
            f"a ragged tensor is indexed with {key!r} of type {type(key).__name__}, expected "
            "integers, slices, `...` and `None`",
        )
    return int(key)


def _bounds(key: slice, lengths: Any) -> tuple[Any, Any, int]:
    """First place, the place behind the last, and the step of a slice of rows that are so long."""
    kind = lengths.dtype
    step = 1 if key.step is None else key.step
    if isinstance(step, Tensor):
        step = int(step)
    if not hasattr(step, "__index__") or step == 0:
        fail("E1103", f"the step of a slice is {step!r}, expected an integer other than 0")
    step = int(step)
    low, high = (0, lengths) if step > 0 else (-1, lengths - 1)

    def place(given: Any, otherwise: Any) -> Any:
        if given is None:
            return registry.function("zeros_like")(lengths) + otherwise
        at = _cast(_number(given), kind)
        at = _where(at < 0, at + lengths, registry.function("zeros_like")(lengths) + at)
        return _minimum(_maximum(at, low), high)

    begin = place(key.start, 0 if step > 0 else lengths - 1)
    end = place(key.stop, lengths if step > 0 else -1)
    return begin, end, step


def _is_whole(key: slice) -> bool:
    return key.start is None and key.stop is None and key.step in (None, 1)


def _sliced_rows(ragged: Any, key: slice) -> Any:
    if _is_whole(key):
        return ragged
    begin, end, step = _bounds(key, ragged.nrows())
    if step == 1:
        return _between(ragged, begin, _maximum(begin, end))
    end = _maximum(begin, end) if step > 0 else _minimum(begin, end)
    return rows_of(ragged, registry.function("range")(begin, end, step))


def _inside(ragged: Any, keys: list[Any]) -> Any:
    """The keys applied to each row."""
    if not keys:
        return ragged
    if not isinstance(ragged, RaggedTensor):
        return ragged[(slice(None), *keys)]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        rank = ragged.shape.rank
        return _inside(ragged, _without_dots(ragged, keys, None if rank is None else rank - 1))
    if first is None:
        return expand_dims(_inside(ragged, rest), 1)
    if isinstance(first, slice):
        cut = ragged if _is_whole(first) else _sliced_inside(ragged, first)
        return RaggedTensor._rows(_inside(cut.values, rest), cut.row_splits, cut._uniform[0])
    if ragged._uniform[0] is None:
        _named(ragged)
    length, at = ragged._uniform[0], int(_number(first))
    if not -length <= at < length:
        fail("E1103", f"element {at} of rows that have {length} elements each")
    places = ragged.row_splits[:-1] + at % length
    return _inside(rows_of(ragged.values, places), rest)


def _sliced_inside(ragged: Any, key: slice) -> Any:
    splits = ragged.row_splits
    begin, end, step = _bounds(key, partition.lengths_of(splits))
    starts = splits[:-1]
    if step == 1:
        lengths = _maximum(end - begin, 0)
        values = rows_of(ragged.values, partition.gathered(starts + begin, lengths))
        uniform = ragged._uniform[0]
        known = None if uniform is None else len(range(*key.indices(uniform)))
        return RaggedTensor._rows(values, partition.splits_of_lengths(lengths), known)
    places = ragged_range(starts + begin, starts + end, step, row_splits_dtype=splits.dtype)
    return RaggedTensor._rows(rows_of(ragged.values, places.values), places.row_splits)
