"""Ragged tensors from dense and sparse ones, and the way back."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.shape import TensorShape
from ..._tensors.tensor import Tensor, get_static_value
from ...errors import fail
from ..sparse.tensor import SparseTensor
from . import partition
from .rows import first_of_rows
from .tensor import RaggedTensor

__all__ = ["from_sparse", "from_tensor", "to_sparse", "to_tensor"]

_cast = registry.function("cast")
_concat = registry.function("concat")
_fill = registry.function("fill")
_gather = registry.function("gather")
_maximum = registry.function("maximum")
_range = registry.function("range")
_reduce_max = registry.function("reduce_max")
_reshape = registry.function("reshape")
_shape = registry.function("shape")
_where = registry.function("where")
_zeros = registry.function("zeros")


# To a dense tensor.


def to_tensor(ragged: Any, default_value: Any = None, shape: Any = None) -> Any:
    """A dense tensor, shorter rows filled up with a default."""
    flat = ragged.flat_values
    if default_value is None:
        default = _zeros([], flat.dtype)
    else:
        default = _holdfast.convert(default_value, flat.dtype)
    sizes = _wanted_sizes(ragged, shape)
    rank = flat.shape.rank
    if rank is not None and default.shape.rank and default.shape.rank >= rank:
        fail(
            "E1102",
            f"`to_tensor`: `default_value` is of shape {default.shape}, and the values that it "
            f"stands for of shape {flat.shape[1:]}",
        )
    found = _padded(ragged, default, sizes)
    if sizes:
        inner = list(sizes[ragged.ragged_rank + 1 :])
        found = _with_inner_sizes(found, default, ragged.ragged_rank + 1, inner)
        found = _with_rows(found, default, sizes[0])
    return found


def _wanted_sizes(ragged: Any, shape: Any) -> list[Any]:
    """The size of each axis that was asked for, None where it is as large as need be."""
    if shape is None:
        return []
    if isinstance(shape, Tensor):
        rank = shape.shape.num_elements()
        if rank is None:
            rank = ragged.shape.rank
            if rank is None:
                fail("E1102", "`to_tensor`: `shape` is a tensor of an unknown size")
            shape = registry.function("reshape")(shape, [rank])
        sizes: list[Any] = [shape[i] for i in range(rank)]
        known = get_static_value(shape)
        if known is not None:
            sizes = [None if n < 0 else int(n) for n in known]
    else:
        whole = shape if isinstance(shape, (list, tuple)) else TensorShape(shape)
        if isinstance(whole, TensorShape) and whole.rank is None:
            return []
        sizes = list(whole.as_list() if isinstance(whole, TensorShape) else whole)
        sizes = [None if isinstance(n, int) and n < 0 else n for n in sizes]
    have = ragged.shape.rank
    if have is not None and len(sizes) != have:
        fail(
            "E1102",
            f"`to_tensor`: `shape` has {len(sizes)} axes, and the ragged tensor {have}",
        )
    return sizes


def _padded(values: Any, default: Any, sizes: list[Any]) -> Any:
    if not isinstance(values, RaggedTensor):
        return values
    splits = values.row_splits
    inner = _padded(values.values, default, sizes[1:])
    lengths = partition.lengths_of(splits)
    wanted = sizes[1] if sizes else None
    if wanted is None:
        uniform = values._uniform[0]
        width = uniform if uniform is not None else _maximum(_reduce_max(lengths), 0)
    else:
        width = wanted if isinstance(wanted, int) else _cast(wanted, splits.dtype)
    columns = _range(_holdfast.convert(width, splits.dtype), dtype=splits.dtype)
    # The value behind the last one stands for all that is missing.
    count = partition.value_count(inner, splits.dtype)
    inside = columns[None, :] < lengths[:, None]
    places = _where(inside, splits[:-1][:, None] + columns[None, :], count)
    cell = _shape(inner)[1:]
    filler = registry.function("broadcast_to")(default, cell)
    return _gather(_concat([inner, filler[None]], 0), places)


def _with_rows(found: Any, default: Any, rows: Any) -> Any:
    """Cut to so many rows, or filled up with default ones."""
    if rows is None:
        return found
    known = found.shape[0]
    if isinstance(rows, int) and known == rows:
        return found
    rows = _cast(rows, "int32")
    have = _shape(found)[0]
    missing = _maximum(rows - have, 0)
    more = registry.function("broadcast_to")(
        default, _concat([missing[None], _shape(found)[1:]], 0)
    )
    return _concat([found[:rows], more], 0)


def _with_inner_sizes(found: Any, default: Any, axis: int, sizes: list[Any]) -> Any:
    for i, size in enumerate(sizes):
        if size is None or found.shape[axis + i] == size:
            continue
        order = [axis + i, *(k for k in range(found.shape.rank) if k != axis + i)]
        turned = _with_rows(registry.function("transpose")(found, order), default, size)
        back = sorted(range(len(order)), key=lambda k: order[k])
        found = registry.function("transpose")(turned, back)
    return found


# From a dense tensor.


def from_tensor(tensor: Any, lengths: Any, padding: Any, ragged_rank: int, kind: Any) -> Any:
    """A dense tensor as a ragged one; without its padding, or cut to `lengths`."""
    if isinstance(tensor, RaggedTensor):
        return tensor
    if lengths is not None and padding is not None:
        fail("E1104", "`from_tensor` got `lengths` and `padding`, expected one of them at most")
    dense = _holdfast.convert(tensor)
    rank = dense.shape.rank
    if not isinstance(ragged_rank, int):
        fail("E1104", f"`from_tensor`: `ragged_rank` is {ragged_rank!r}, expected an int")
    if ragged_rank < 1:
        fail("E1103", f"`from_tensor`: `ragged_rank` is {ragged_rank}, expected 1 or more")
    if rank is None:
        fail("E1102", "`from_tensor`: the rank of `tensor` is not known")
    if rank <= ragged_rank:
        fail(
            "E1102",
            f"`from_tensor`: `ragged_rank` is {ragged_rank}, and the tensor of shape {dense.shape} "
            f"has {rank} axes, expected {ragged_rank + 1} or more",
        )
    nested = isinstance(lengths, (list, tuple)) and any(
        isinstance(each, (list, tuple, Tensor)) for each in lengths
    )
    if nested:
        return _by_nested_lengths(dense, list(lengths), kind)
    if ragged_rank > 1:
        return _deeper(dense, lengths, padding, ragged_rank, kind)
    sizes = _shape(dense, kind)
    rows, width = sizes[0], sizes[1]
    flat = _reshape(dense, _concat([[-1], _shape(dense)[2:]], 0))
    known = dense.shape.as_list()
    cells = None if None in known[:2] else known[0] * known[1]
    flat = registry.function("ensure_shape")(flat, [cells, *known[2:]])
    if padding is not None:
        lengths = _lengths_without(dense, padding, kind)
    if lengths is None:
        splits = _range(rows + 1, dtype=kind) * width
        return RaggedTensor._of(flat, [splits], [known[1]])
    lengths = partition.as_index(lengths, "lengths", kind)
    if lengths.shape.rank not in (1, None):
        fail("E1102", f"`from_tensor`: `lengths` is of shape {lengths.shape}, expected a vector")
    if known[0] is not None and lengths.shape.rank and lengths.shape[0] not in (None, known[0]):
        fail(
            "E1102",
            f"`from_tensor`: `lengths` has {lengths.shape[0]} entries for {known[0]} rows",
        )
    lengths = _maximum(registry.function("minimum")(lengths, width), 0)
    starts = _range(rows, dtype=kind) * width
    values = _gather(flat, partition.gathered(starts, lengths))
    return RaggedTensor._of(values, [partition.splits_of_lengths(lengths)])


def _lengths_without(dense: Any, padding: Any, kind: Any) -> Any:
    """How long each row is without the padding at its end."""
    pad = _holdfast.convert(padding, dense.dtype)
    if pad.dtype != dense.dtype:
        fail("E1101", f"`from_tensor`: `padding` is {pad.dtype.name}, expected {dense.dtype.name}")
    if pad.shape.rank is not None and pad.shape.rank != dense.shape.rank - 2:
        fail(
            "E1102",
            f"`from_tensor`: `padding` is of shape {pad.shape}, expected {dense.shape[2:]}",
        )
    differs = registry.function("not_equal")(dense, pad)
    if dense.shape.rank > 2:
        differs = registry.function("reduce_any")(differs, list(range(2, dense.shape.rank)))
    places = _range(_shape(dense, kind)[1], dtype=kind) + 1
    return _maximum(_reduce_max(_where(differs, places, _zeros([], kind)), 1), 0)


def _deeper(dense: Any, lengths: Any, padding: Any, ragged_rank: int, kind: Any) -> Any:
    """Rows of rows: the outer axes are joined, made ragged, and parted again."""
    sizes, known = _shape(dense, kind), dense.shape.as_list()
    joined = _reshape(dense, _concat([[-1], _shape(dense)[2:]], 0))
    cells = None if None in known[:2] else known[0] * known[1]
    joined = registry.function("ensure_shape")(joined, [cells, *known[2:]])
    inner = from_tensor(joined, None, padding, ragged_rank - 1, kind)
    splits = _range(sizes[0] + 1, dtype=kind) * sizes[1]
    whole = RaggedTensor._rows(inner, splits, known[1])
    if lengths is None:
        return whole
    wanted = partition.as_index(lengths, "lengths", kind)
    return first_of_rows(whole, wanted)


def _by_nested_lengths(dense: Any, lengths: list[Any], kind: Any) -> Any:
    """Lengths of each ragged axis, the outermost first."""
    first, *rest = lengths
    outer = from_tensor(dense, first, None, 1, kind)
    if not rest:
        return outer
    inner = from_tensor(outer.values, rest if len(rest) > 1 else rest[0], None, 1, kind)
    return outer.with_values(inner)


# Sparse tensors.


def to_sparse(ragged: Any) -> Any:
    """A sparse tensor of the same values."""
    if ragged.flat_values.shape.rank not in (1, None):
        flat = ragged.flat_values
        depth = flat.shape.rank - 1
        return to_sparse(
            ragged.with_flat_values(from_tensor(flat, None, None, depth, ragged.row_splits.dtype))
        )
    # From the innermost axis outwards: which row each value is in, and where in it.
    columns: list[Any] = []
    splits = None
    for each in reversed(ragged.nested_row_splits):
        here = partition.positions(partition.lengths_of(each))
        if splits is not None:
            here = _gather(here, splits)
            splits = _gather(partition.rowids_of(each), splits)
        else:
            splits = partition.rowids_of(each)
        columns.insert(0, here)
    columns.insert(0, splits)
    indices = _cast(registry.function("stack")(columns, 1), "int64")
    shape = ragged.bounding_shape(out_type="int64")
    return SparseTensor(indices, ragged.flat_values, shape)


def from_sparse(st_input: Any, kind: Any) -> Any:
    """The rows of a sparse matrix, whose values begin at the left without a gap."""
    if not isinstance(st_input, SparseTensor):
        name = type(st_input).__name__
        fail("E1104", f"`RaggedTensor.from_sparse` got a {name}, expected a SparseTensor")
    if st_input.shape.rank not in (2, None):
        fail(
            "E1102",
            f"`RaggedTensor.from_sparse` got one of shape {st_input.shape}, expected a matrix",
        )
    indices = _cast(st_input.indices, kind)
    rows = _cast(st_input.dense_shape[0], kind)
    splits = partition.splits_of_rowids(indices[:, 0], rows)
    expected = partition.positions(partition.lengths_of(splits))
    partition.require(
        registry.function("reduce_all")(registry.function("equal")(indices[:, 1], expected)),
        "`RaggedTensor.from_sparse`: the values of a row do not begin at the left without a gap",
        "a row of a ragged tensor has no holes",
    )
    return RaggedTensor._of(st_input.values, [splits])
