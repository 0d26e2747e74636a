"""Products of the matrices in ragged tensors, each of its own size."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.composite import handles
from ...errors import fail
from . import partition
from .dense import from_tensor
from .tensor import RaggedTensor, is_ragged

__all__: list[str] = []

_cast = registry.function("cast")
_equal = registry.function("equal")
_gather = registry.function("gather")
_matmul = registry.function("matmul")
_reduce_all = registry.function("reduce_all")
_repeat = registry.function("repeat")
_shape = registry.function("shape")


class _Matrices:
    """The matrices of a ragged tensor of three axes, filled up with zeros, and their sizes."""

    def __init__(self, value: Any, turned: bool, kind: Any) -> None:
        if not is_ragged(value):
            value = from_tensor(value, None, None, 1, kind)
        value = value.with_row_splits_dtype(kind)
        self.dense = value.to_tensor()
        self.count = value.nrows()
        rows, columns = value.row_lengths(), _repeat(_shape(self.dense, kind)[2:], self.count)
        self.uniform = value.flat_values.shape[-1] if value.ragged_rank == 1 else None
        if value.ragged_rank > 1:
            columns = _width(value, rows)
        if turned:  # a matrix has as many rows as it is high, which its fellows need not be
            rows, columns, self.uniform = columns, rows, value._uniform[0]
        self.rows, self.columns = rows, columns


def _width(value: Any, rows: Any) -> Any:
    """How long the rows of each matrix are; refuses those that differ."""
    lengths = partition.lengths_of(value.values.row_splits)
    numbers = partition.rowids_of(value.row_splits)
    found = registry.function("math.unsorted_segment_max")(lengths, numbers, value.nrows())
    found = registry.function("where")(rows > 0, found, registry.function("zeros_like")(found))
    partition.require(
        _reduce_all(_equal(lengths, _gather(found, numbers))),
        "`matmul`: the rows of a matrix differ in length",
        "all rows of a matrix are as long",
    )
    return found


def _one_size(value: Any) -> Any:
    """A ragged matrix as a dense one; refuses rows that differ in length."""
    if not is_ragged(value):
        return value
    lengths = value.row_lengths()
    partition.require(
        _reduce_all(_equal(lengths, lengths[:1])),
        "`matmul`: the rows of a matrix differ in length",
        "all rows of a matrix are as long",
    )
    return value.to_tensor()


@handles(_matmul, RaggedTensor)
def _product(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    *args: Any,
    **kwargs: Any,
) -> Any:
    beside = next(x.dtype for x in (a, b) if is_ragged(x))
    a, b = (x if is_ragged(x) else _holdfast.convert(x, _wanted(x, beside)) for x in (a, b))
    turns = (transpose_a, transpose_b, adjoint_a, adjoint_b)
    rank, other = a.shape.rank, b.shape.rank
    even = is_ragged(a) and rank is not None and rank > a.ragged_rank + 1
    if even and not is_ragged(b) and other == 2 and not transpose_a and not adjoint_a:
        # One matrix for all rows.
        return a.with_flat_values(_matmul(a.flat_values, b, *turns, *args, **kwargs))
    if rank is None or rank != other:
        fail(
            "E1102",
            f"`matmul` of ragged tensors: `a` is of shape {a.shape} and `b` of {b.shape}",
            "both have as many axes",
        )
    if rank == 2:
        return _matmul(_one_size(a), _one_size(b), *turns, *args, **kwargs)
    kind = next(x.row_splits.dtype for x in (a, b) if is_ragged(x))
    if rank > 3:
        a, b = (x if is_ragged(x) else from_tensor(x, None, None, 1, kind) for x in (a, b))
        _need_same_batches(a.row_splits, b.row_splits)
        inner = [x.values for x in (a, b)]
        if any(map(is_ragged, inner)):
            found = _product(*inner, *turns, *args, **kwargs)
        else:
            found = _matmul(*inner, *turns, *args, **kwargs)
        return RaggedTensor._rows(found, a.row_splits, a._uniform[0])
    left = _Matrices(a, transpose_a or adjoint_a, kind)
    right = _Matrices(b, transpose_b or adjoint_b, kind)
    partition.require(
        _equal(left.count, right.count),
        "`matmul`: `a` and `b` differ in their batches",
        "they pair",
    )
    partition.require(
        _reduce_all(_equal(left.columns, right.rows)),
        "`matmul`: a matrix of `a` has no fellow in `b` of as many rows as it has columns",
        "their sizes do not fit",
    )
    found = _matmul(*_as_wide(left.dense, right.dense, turns), *turns, *args, **kwargs)
    if right.uniform is not None:
        return from_tensor(found, left.rows, None, 1, kind)
    lengths = (left.rows, _repeat(right.columns, left.rows))
    return from_tensor(found, lengths, None, 2, kind)


def _as_wide(a: Any, b: Any, turns: tuple[bool, ...]) -> tuple[Any, Any]:
    """Filled up to as many columns of the one as there are rows of the other."""
    across, along = (1 if turns[0] or turns[2] else 2), (2 if turns[1] or turns[3] else 1)
    sizes = _shape(a)[across], _shape(b)[along]
    most = registry.function("maximum")(*sizes)
    return tuple(
        registry.function("pad")(x, [[0, most - size if i == axis else 0] for i in range(3)])
        for x, axis, size in ((a, across, sizes[0]), (b, along, sizes[1]))
    )


def _need_same_batches(one: Any, other: Any) -> None:
    what = "`matmul`: `a` and `b` differ in their batches"
    partition.require(_equal(_shape(one)[0], _shape(other)[0]), what, "they pair")
    same = _reduce_all(_equal(one, _cast(other, one.dtype)))
    partition.require(same, what, "they pair")


def _wanted(value: Any, beside: Any) -> Any:
    return None if hasattr(value, "dtype") else beside
