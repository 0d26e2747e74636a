"""Elements and rows of ragged tensors by their numbers, and by masks."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.composite import handles
from ...errors import fail
from . import partition
from .broadcasting import same_rows
from .dense import from_tensor, to_sparse
from .rows import rows_of
from .tensor import RaggedTensor, is_ragged, whole_axis

__all__ = ["boolean_mask", "coordinates"]

_cast = registry.function("cast")
_gather = registry.function("gather")
_logical_and = registry.function("logical_and")
_reduce_all = registry.function("reduce_all")


@handles(registry.function("gather"), RaggedTensor)
@named_ops
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """Rows by their numbers; with `batch_dims`, of each batch its own."""
    if not is_ragged(params):
        params = _holdfast.convert(params)
    if not is_ragged(indices):
        indices = partition.as_index(indices, "indices")
    batches = 0 if batch_dims is None else int(batch_dims)
    if batches < 0:
        rank = indices.shape.rank
        if rank is None:
            fail("E1102", "`gather`: `batch_dims` is negative, and the rank is not known")
        batches += rank
    at = batches if axis is None else whole_axis(axis, params.shape.rank, "axis", "gather")
    if batches > at:
        fail("E1103", f"`gather`: `axis` is {at}, expected `batch_dims`, {batches}, or more")
    if not is_ragged(params) and not is_ragged(indices):
        return _gather(params, indices, axis=at, batch_dims=batches)
    if at == 0:
        return _rows(params, indices)
    if batches == 0:
        return _inside(params, indices, at)
    return _batched(params, indices, at, batches)


def _rows(params: Any, indices: Any) -> Any:
    if is_ragged(indices):
        flat = _rows(params, indices.flat_values)
        return indices.with_flat_values(flat)
    if not is_ragged(params):
        return _gather(params, indices)
    numbers = _cast(indices, params.row_splits.dtype)
    count = params.nrows()
    inside = _reduce_all(_logical_and(numbers >= 0, numbers < count))
    partition.require(
        inside, "`gather`: `indices` has a number that is no row's", "rows count from 0"
    )
    rank = indices.shape.rank
    if rank == 0:
        return params[numbers]
    if rank is None:
        fail("E1102", "`gather`: the rank of `indices` is not known")
    if rank == 1:
        return rows_of(params, numbers)
    nested = from_tensor(numbers, None, None, rank - 1, numbers.dtype)
    return nested.with_flat_values(rows_of(params, nested.flat_values))


def _inside(params: Any, indices: Any, axis: int) -> Any:
    """The same numbers of every row."""
    if not is_ragged(params):
        if not is_ragged(indices):
            return _gather(params, indices, axis=axis)
        params = from_tensor(params, None, None, axis, indices.row_splits.dtype)
    if axis > 1:
        inner = _inside(params.values, indices, axis - 1)
        return RaggedTensor._rows(inner, params.row_splits, params._uniform[0])
    kind, rank = params.row_splits.dtype, indices.shape.rank
    if rank is None:
        fail("E1102", "`gather`: the rank of `indices` is not known")
    nested = None  # what the numbers lie in
    if rank > 1:
        nested = _split_to(indices, rank - 1, kind).with_row_splits_dtype(kind)
    numbers = _cast(indices if nested is None else nested.flat_values, kind)
    rows, each = params.nrows(), registry.function("reshape")(numbers, [1, -1])
    lengths = partition.lengths_of(params.row_splits)[:, None]
    inside = _reduce_all(_logical_and(each >= 0, each < lengths))
    partition.require(
        inside, "`gather`: a row has no element of a number in `indices`", "rows differ"
    )
    places = params.row_splits[:-1][:, None] + each
    values = rows_of(params.values, registry.function("reshape")(places, [-1]))
    if rank == 0:
        return values
    if not is_ragged(values) and not is_ragged(indices):  # all rows are as long now
        shape = registry.function("shape")
        sizes = [rows[None], shape(indices, rows.dtype), shape(values, rows.dtype)[1:]]
        return registry.function("reshape")(values, registry.function("concat")(sizes, 0))
    if nested is not None:  # for each row once more
        again = registry.function("tile")(
            registry.function("range")(nested.nrows(), dtype=kind), rows[None]
        )
        values = rows_of(nested, again).with_flat_values(values)
    size = registry.function("size")(numbers, kind) if nested is None else nested.nrows()
    splits = registry.function("range")(rows + 1, dtype=rows.dtype) * size
    return RaggedTensor._rows(values, splits, indices.shape[0])


def _batched(params: Any, indices: Any, axis: int, batches: int) -> Any:
    """Each batch its own numbers: those of the first axis are counted on from its first row."""
    kind = next(x for x in (params, indices) if is_ragged(x)).row_splits.dtype
    if not is_ragged(params):
        params = from_tensor(params, None, None, 1, kind)
    if not is_ragged(indices) and indices.shape.rank is None:
        fail("E1102", "`gather`: the rank of `indices` is not known")
    if batches > 1:
        if not is_ragged(indices):
            indices = from_tensor(_cast(indices, kind), None, None, 1, kind)
        _need_same_batches(params, indices)
        inner = gather(params.values, indices.values, None, axis - 1, batches - 1)
        return RaggedTensor._rows(inner, params.row_splits, params._uniform[0])
    if axis > 1:  # all rows of a batch have the numbers of that batch
        _need_as_many(params.nrows(), _row_count(indices, kind))
        each = rows_of(indices, partition.rowids_of(params.row_splits))
        inner = gather(params.values, each, None, axis - 1, 1)
        return RaggedTensor._rows(inner, params.row_splits, params._uniform[0])
    flat_result = False
    if not is_ragged(indices):
        if indices.shape.rank == 1:
            indices, flat_result = indices[..., None], True
        indices = from_tensor(_cast(indices, kind), None, None, 1, kind)
    _need_as_many(params.nrows(), indices.nrows())
    flat = _cast(indices.flat_values, kind)
    rows = partition.rowids_of(indices.row_splits)
    for each in indices.nested_row_splits[1:]:
        rows = registry.function("repeat")(rows, partition.lengths_of(each), axis=0)
    if flat.shape.rank not in (1, None):  # a batch's number is for whole rows of `flat`
        rows = registry.function("reshape")(rows, [-1] + [1] * (flat.shape.rank - 1))
    starts = _gather(params.row_splits[:-1], rows)
    lengths = _gather(partition.lengths_of(params.row_splits), rows)
    inside = _reduce_all(_logical_and(flat >= 0, flat < lengths))
    partition.require(
        inside, "`gather`: a batch has no row of a number in `indices`", "rows differ"
    )
    found = indices.with_flat_values(_rows(params.values, starts + flat))
    return found.values if flat_result else found


def _row_count(x: Any, kind: Any) -> Any:
    return x.nrows() if is_ragged(x) else registry.function("shape")(x, kind)[0]


def _need_as_many(one: Any, other: Any) -> None:
    same = registry.function("equal")(one, _cast(other, one.dtype))
    partition.require(same, "`gather`: the batches differ in number", "each has its own")


def _need_same_batches(params: Any, indices: Any) -> None:
    if same_rows([_outer(params), _outer(indices)]):
        return
    _need_as_many(params.nrows(), indices.nrows())
    splits = params.row_splits
    same = _reduce_all(registry.function("equal")(splits, _cast(indices.row_splits, splits.dtype)))
    partition.require(same, "`gather`: the batches differ in their rows", "each has its own")


def _outer(ragged: Any) -> Any:
    return RaggedTensor._of(ragged.flat_values, ragged.nested_row_splits[:1])


@handles(registry.function("gather_nd"), RaggedTensor)
@named_ops
def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: int = 0,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Any:
    """Elements by a number for each axis."""
    if batch_dims:
        fail("E1105", "`gather_nd` of a RaggedTensor with `batch_dims`")
    if is_ragged(indices):
        flat = indices.flat_values
        if flat.shape.rank is not None and flat.shape.rank > 1:
            inner = gather_nd(params, flat, bad_indices_policy=bad_indices_policy)
            return indices.with_flat_values(inner)
        dense = indices.to_tensor()
        return gather_nd(params, dense, bad_indices_policy=bad_indices_policy)
    indices = partition.as_index(indices, "indices")
    depth = indices.shape[-1] if indices.shape.rank else None
    if depth is None:
        fail("E1102", "`gather_nd`: how many numbers `indices` has for an element is not known")
    if not is_ragged(params):
        return registry.function("gather_nd")(
            params, indices, bad_indices_policy=bad_indices_policy
        )
    if bad_indices_policy == "IGNORE":
        fail(
            "E1105",
            "`gather_nd` of a RaggedTensor with `bad_indices_policy` 'IGNORE'",
            "what would stand in the place of a row that is not there has no shape",
        )
    if bad_indices_policy not in ("", "DEFAULT", "ERROR"):
        fail(
            "E1103",
            f"`gather_nd`: `bad_indices_policy` is {bad_indices_policy!r}, expected '', 'DEFAULT', "
            "'ERROR' or 'IGNORE'",
        )
    numbers = _cast(indices, params.row_splits.dtype)
    if depth == 0:
        fail("E1105", "`gather_nd` of a RaggedTensor by empty indices")
    places, count = numbers[..., 0], params.nrows()
    values: Any = params
    for axis in range(1, depth + 1):
        here = numbers[..., axis - 1]
        inside = _reduce_all(_logical_and(here >= 0, here < count))
        partition.require(
            inside, "`gather_nd`: `indices` leads behind the end of an axis", "it ends"
        )
        if axis == depth:
            return _rows(values, places)
        if not is_ragged(values):
            stacked = registry.function("concat")([places[..., None], numbers[..., axis:]], -1)
            return registry.function("gather_nd")(values, stacked)
        splits = values.row_splits
        count = _gather(partition.lengths_of(splits), places)
        places = _gather(splits[:-1], places) + numbers[..., axis]
        values = values.values
    return values


@named_ops
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements whose mask is true; rows stay rows."""
    if not is_ragged(data):
        data = _holdfast.convert(data)
    if not is_ragged(mask):
        mask = _holdfast.convert(mask)
    if mask.dtype.name != "bool":
        fail("E1101", f"`boolean_mask`: `mask` is {mask.dtype.name}, expected bool")
    rank = mask.shape.rank
    if rank is None or rank == 0:
        fail(
            "E1102",
            f"`boolean_mask`: `mask` is of shape {mask.shape}, expected a known rank, 1 or more",
        )
    if is_ragged(mask) or rank > 1:
        kind = (
            (mask if is_ragged(mask) else data).row_splits.dtype
            if is_ragged(mask) or is_ragged(data)
            else "int64"
        )
        kind = registry.function("cast")(0, kind).dtype
        mask = _split_to(mask, rank - 1, kind)
        return _masked_rows(_split_to(data, rank - 1, kind), mask)
    return _masked(data, mask)


def _split_to(x: Any, depth: int, kind: Any) -> Any:
    """With splits for as many axes at least."""
    if not is_ragged(x):
        return from_tensor(x, None, None, depth, kind)
    if x.ragged_rank >= depth:
        return x
    return x.with_flat_values(from_tensor(x.flat_values, None, None, depth - x.ragged_rank, kind))


def _masked(data: Any, mask: Any) -> Any:
    shape, given = registry.function("shape"), registry.function("size")(mask, "int64")
    rows = data.nrows() if is_ragged(data) else shape(data, "int64")[0]
    partition.require(
        registry.function("equal")(given, _cast(rows, "int64")),
        "`boolean_mask`: `mask` and `data` differ in their rows",
        "they pair",
    )
    places = registry.function("where")(mask)[:, 0]
    if not is_ragged(data):
        return _gather(data, places)
    return rows_of(data, _cast(places, data.row_splits.dtype))


def _masked_rows(data: Any, mask: Any) -> Any:
    splits = mask.row_splits
    if not same_rows([_outer(data), _outer(mask)]):
        same = registry.function("reduce_all")(
            registry.function("equal")(_cast(data.row_splits, splits.dtype), splits)
        )
        partition.require(
            same, "`boolean_mask`: the rows of `mask` are no rows of `data`", "they pair"
        )
    inner = mask.values
    if is_ragged(inner):
        return RaggedTensor._rows(_masked_rows(data.values, inner), splits)
    kept = registry.function("math.unsorted_segment_sum")(
        _cast(inner, splits.dtype), partition.rowids_of(splits), partition.row_count(splits)
    )
    values = data.values
    return RaggedTensor._rows(_masked(values, inner), partition.splits_of_lengths(kept))


def coordinates(condition: Any) -> Any:
    """The places of the true elements, one in a row: a number for each axis."""
    flat = condition.flat_values
    where = registry.function("where")
    if flat.shape.rank not in (1, None):
        condition = condition.with_flat_values(
            from_tensor(flat, None, None, flat.shape.rank - 1, condition.row_splits.dtype)
        )
    all_places = to_sparse(condition).indices
    return _gather(all_places, where(condition.flat_values)[:, 0])
