"""`tf.experimental.DynamicRaggedShape`: the shape of a ragged tensor, rows and all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.composite import Composite, CompositeSpec
from ..._tensors.dtypes import DType, as_dtype, int32, int64
from ..._tensors.shape import TensorShape, TensorSpec
from ..._tensors.tensor import get_static_value
from ...errors import fail
from . import partition
from .row_partition import RowPartition
from .tensor import RaggedTensor

__all__ = ["DynamicRaggedShape"]

_cast = registry.function("cast")
_concat = registry.function("concat")


def _known_sizes(inner: Any) -> TensorShape:
    known = get_static_value(inner, partial=True)
    if known is not None:
        return TensorShape([None if n is None or n < 0 else int(n) for n in known])
    count = inner.shape.num_elements()
    return TensorShape(None if count is None else [None] * count)


def _kind_of(parts: Sequence[Any], inner: Any, dtype: Any) -> DType:
    if dtype is not None:
        return as_dtype(dtype)
    kinds = {p.dtype for p in parts}
    if hasattr(inner, "dtype"):
        kinds.add(as_dtype(inner.dtype))
    return int32 if kinds == {int32} else int64


class DynamicRaggedShape(Composite):
    """Rows of each ragged axis, and the shape of the innermost values."""

    __slots__ = ("__weakref__", "_inner", "_parts", "_static")
    _parts: tuple[RowPartition, ...]
    _inner: Any
    _static: TensorShape  # what is known of the innermost values

    def __init__(
        self,
        row_partitions: Sequence[RowPartition],
        inner_shape: Any,
        dtype: Any = None,
        validate: bool = False,
        static_inner_shape: Any = None,
    ) -> None:
        parts = list(row_partitions)
        for each in parts:
            if not isinstance(each, RowPartition):
                kind = type(each).__name__
                fail("E1104", f"`row_partitions` has a {kind}, expected RowPartitions")
        kind = _kind_of(parts, inner_shape, dtype)
        self._parts = tuple(each.with_dtype(kind) for each in parts)
        plain = inner_shape.as_list() if isinstance(inner_shape, TensorShape) else inner_shape
        self._inner = partition.as_vector(plain, "inner_shape", kind)
        self._static = _known_sizes(self._inner)
        if static_inner_shape is not None:
            self._static = self._static.merge_with(static_inner_shape)
        self._check(validate)

    def _check(self, validate: bool) -> None:
        """Refuses rows that are not as many as there are values around them."""
        if self._parts and self._static.rank == 0:
            fail("E1102", "`inner_shape` is empty, and there are `row_partitions`")
        for i, part in enumerate(self._parts):
            inner = self._parts[i + 1] if i + 1 < len(self._parts) else None
            have = part.static_nvals
            if inner is not None:
                need = inner.static_nrows
            else:
                need = self._static[0] if self._static.rank else None
            what = f"axis {i + 1} and axis {i + 2} of a DynamicRaggedShape do not fit"
            if have is not None and need is not None:
                if have != need:
                    fail("E1102", f"{what}: {have} values are in {need} rows")
            elif validate:
                rows = self._inner[0] if inner is None else inner.nrows()
                fits = registry.function("equal")(part.nvals(), rows)
                partition.require(fits, what, "the values of rows are the rows of the next axis")

    # -- as a composite

    def _tensors(self) -> tuple[Any, ...]:
        return self._inner, *(t for part in self._parts for t in part._tensors())

    def _facts(self) -> Any:
        static = None if self._static.rank is None else tuple(self._static.as_list())
        return static, tuple((part.is_uniform(), part._facts()) for part in self._parts)

    @classmethod
    def _made(cls, facts: Any, tensors: tuple[Any, ...]) -> DynamicRaggedShape:
        made = object.__new__(cls)
        static, parts = facts
        made._inner, *rest = tensors
        found = []
        for uniform, known in parts:
            count = 2 if uniform else 1
            found.append(RowPartition._made(known, tuple(rest[:count])))
            rest = rest[count:]
        made._parts, made._static = tuple(found), TensorShape(static)
        return made

    @classmethod
    def _either(cls, a: Any, b: Any) -> Any:
        common = TensorShape(a[0]).most_specific_compatible_shape(TensorShape(b[0]))
        parts = tuple(
            (uniform, RowPartition._either(x, y))
            for (uniform, x), (_, y) in zip(a[1], b[1], strict=True)
        )
        return None if common.rank is None else tuple(common.as_list()), parts

    @classmethod
    def _each_time(cls, facts: Any) -> Any:
        static, parts = facts
        return (
            None if static is None else (None,) * len(static),
            tuple((uniform, RowPartition._each_time(known)) for uniform, known in parts),
        )

    @classmethod
    def _spec(cls, facts: Any, specs: tuple[Any, ...]) -> DynamicRaggedShapeSpec:
        return DynamicRaggedShapeSpec(facts, specs)

    # -- factories

    @classmethod
    def from_tensor(cls, t: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of a tensor, ragged or not."""
        if not isinstance(t, RaggedTensor):
            tensor = _holdfast.convert(t)
            wanted = int32 if dtype is None else as_dtype(dtype)
            return cls([], registry.function("shape")(tensor, wanted), wanted)
        kind = t.row_splits.dtype if dtype is None else as_dtype(dtype)
        parts = [
            RowPartition._of(
                _cast(splits, kind), None if length is None else _holdfast.convert(length, kind)
            )
            for splits, length in zip(t.nested_row_splits, t._uniform, strict=True)
        ]
        inner = registry.function("shape")(t.flat_values, kind)
        return cls(parts, inner, kind, static_inner_shape=t.flat_values.shape)

    @classmethod
    def from_row_partitions(cls, row_partitions: Any, dtype: Any = None) -> DynamicRaggedShape:
        """Of rows alone, whose innermost values are scalars."""
        if not row_partitions:
            fail("E1103", "`DynamicRaggedShape.from_row_partitions`: there are no `row_partitions`")
        last = row_partitions[-1]
        return cls(row_partitions, registry.function("stack")([last.nvals()]), dtype)

    @classmethod
    def from_lengths(
        cls, lengths: Any, num_row_partitions: int | None = None, dtype: Any = int64
    ) -> DynamicRaggedShape:
        """Of the length of each axis: an int, or of a ragged one a tuple with that of each row."""
        name = "`DynamicRaggedShape.from_lengths`"
        if not isinstance(lengths, list):
            fail("E1104", f"{name}: `lengths` is a {type(lengths).__name__}, expected a list")
        for each in lengths:
            plain = each if isinstance(each, tuple) else (each,)
            if any(isinstance(n, bool) or not isinstance(n, int) for n in plain):
                fail("E1104", f"{name}: `lengths` has {each!r}, expected an int or a tuple of ints")
        ragged = [i for i, each in enumerate(lengths) if isinstance(each, tuple)]
        depth = num_row_partitions
        if depth is None:
            depth = ragged[-1] if ragged else 0
        if not isinstance(depth, int):
            fail("E1104", f"{name}: `num_row_partitions` is {depth!r}, expected an int")
        if depth and not depth < len(lengths):
            fail("E1103", f"{name}: {depth} row partitions for {len(lengths)} axes")
        if ragged and (ragged[0] == 0 or ragged[-1] > depth):
            fail("E1103", f"{name}: axis {ragged[-1] if ragged[0] else 0} can't be ragged here")
        if depth <= 0:
            return cls([], lengths, dtype)
        parts, count = [], lengths[0]
        for each in lengths[1 : depth + 1]:
            if isinstance(each, int):
                rows, count = count, count * each
                parts.append(RowPartition.from_uniform_row_length(each, count, rows, dtype=dtype))
            else:
                if len(each) != count:
                    fail("E1102", f"{name}: there are {count} rows, and lengths of {len(each)}")
                parts.append(RowPartition.from_row_lengths(each, dtype=dtype))
                count = sum(each)
        return cls(parts, [count, *lengths[depth + 1 :]], dtype)

    # -- what it says

    @property
    def dtype(self) -> DType:
        """The dtype of its numbers."""
        dtype: DType = self._inner.dtype
        return dtype

    @property
    def rank(self) -> int | None:
        """How many axes there are."""
        inner = self._static.rank
        return None if inner is None else inner + len(self._parts)

    @property
    def inner_rank(self) -> int | None:
        """How many axes the innermost values have."""
        return self._static.rank

    @property
    def num_row_partitions(self) -> int:
        """How many axes have rows of their own."""
        return len(self._parts)

    @property
    def inner_shape(self) -> Any:
        """The shape of the innermost values."""
        return self._inner

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The rows of each ragged axis."""
        return self._parts

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """How long each axis is, as far as it is known; a tuple of the lengths of a ragged one."""
        inner: list[Any] = [...] if self._static.rank is None else self._static.as_list()
        if not self._parts:
            return inner
        found: list[Any] = [self._parts[0].static_nrows]
        for part in self._parts:
            if part.is_uniform() or not ragged_lengths:
                found.append(part.static_uniform_row_length)
                continue
            known = get_static_value(part.row_lengths())
            found.append(None if known is None else tuple(known.tolist()))
        return found + (inner if self._static.rank is None else inner[1:])

    def is_uniform(self, axis: int) -> bool:
        """Whether all rows of an axis are as long."""
        at, rank = _axis(axis), self.rank
        if at < 0 or (rank is not None and at >= rank):
            raise IndexError(f"axis {at} of a DynamicRaggedShape of {rank} axes")
        return at == 0 or at > len(self._parts) or self._parts[at - 1].is_uniform()

    def with_dtype(self, dtype: Any) -> DynamicRaggedShape:
        """The same with numbers of this dtype."""
        wanted = as_dtype(dtype)
        if wanted == self.dtype:
            return self
        return DynamicRaggedShape(self._parts, _cast(self._inner, wanted), wanted)

    def _size(self, axis: int) -> Any:
        """How long an axis is whose rows are all as long."""
        if axis == 0 and self._parts:
            return self._parts[0].nrows()
        if 0 < axis <= len(self._parts):
            length = self._parts[axis - 1].uniform_row_length()
            if length is None:
                raise ValueError(f"axis {axis} of this shape is ragged: its rows differ in length")
            return length
        return self._inner[axis - len(self._parts)]

    def __getitem__(self, index: Any) -> Any:
        rank = self.rank
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise IndexError("a part of a DynamicRaggedShape is taken without steps")
            if rank is None:
                fail("E1102", "a part of a DynamicRaggedShape whose rank is not known")
            start, stop, _ = index.indices(rank)
            return self._part(start, stop, rank)
        at = _axis(index)
        if rank is None and (at < 0 or at > len(self._parts)):
            fail("E1102", f"axis {at} of a DynamicRaggedShape whose rank is not known")
        if rank is not None and not -rank <= at < rank:
            raise IndexError(f"axis {at} of a DynamicRaggedShape of {rank} axes")
        return self._size(at % rank if rank is not None else at)

    def _part(self, start: int, stop: int, rank: int) -> DynamicRaggedShape:
        depth, kind = len(self._parts), self.dtype
        if stop <= start:
            return DynamicRaggedShape([], registry.function("zeros")([0], kind), kind)
        if start == 0 and stop == rank:
            return self
        if start == 0 and stop > depth:
            return DynamicRaggedShape(self._parts, self._inner[: stop - depth], kind)
        if start == 0 and stop > 1:
            return DynamicRaggedShape.from_row_partitions(self._parts[: stop - 1], kind)
        sizes = [self._size(axis) for axis in range(start, stop)]
        return DynamicRaggedShape([], registry.function("stack")(sizes), kind)

    def __len__(self) -> int:
        if self.rank is None:
            raise ValueError("the rank of this shape is not known")
        return self.rank

    def __iter__(self) -> Any:
        raise TypeError("a DynamicRaggedShape is not iterated: its axes may be ragged")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DynamicRaggedShape):
            return NotImplemented
        return self.static_lengths() == other.static_lengths()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        said = ("..." if n is ... else str(n) for n in self.static_lengths())
        lengths = ", ".join(said)
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={len(self._parts)}>"

    # -- values of it

    def _of_values(self, flat: Any) -> Any:
        """The tensor of this shape whose innermost values are given."""
        if not self._parts:
            return flat
        uniform = [part.static_uniform_row_length for part in self._parts]
        return RaggedTensor._of(flat, [part.row_splits() for part in self._parts], uniform)


class DynamicRaggedShapeSpec(CompositeSpec):
    """What is known of such a shape."""

    __slots__ = ("_known", "_specs")

    def __init__(self, known: Any, specs: tuple[TensorSpec, ...]) -> None:
        self._known, self._specs = known, tuple(specs)

    @property
    def shape(self) -> TensorShape:
        """The shape of its numbers: those of the innermost values."""
        return self._specs[0].shape

    def _serialize(self) -> tuple[Any, ...]:
        return self._known, self._specs

    def _facts(self) -> Any:
        return self._known

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        return self._specs


DynamicRaggedShapeSpec._VALUE = DynamicRaggedShape


def _axis(index: Any) -> int:
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        fail("E1104", f"an axis of a DynamicRaggedShape is {index!r}, expected an int or a slice")
    return int(index)
