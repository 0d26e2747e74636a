"""`tf.experimental.RowPartition`: how values lie in rows, without the values."""

from __future__ import annotations

from typing import Any

from ..._tensors import registry
from ..._tensors.composite import Composite, CompositeSpec
from ..._tensors.dtypes import DType, as_dtype, int32, int64
from ..._tensors.shape import TensorShape, TensorSpec
from ..._tensors.tensor import get_static_value
from ...errors import fail
from . import partition

__all__ = ["RowPartition"]

_cast = registry.function("cast")
_concat = registry.function("concat")


def _whole(value: Any, argument: str, dtype: Any, rank: int) -> Any:
    """Row numbers, lengths or counts as a tensor of this many axes."""
    found = partition.as_index(value, argument, dtype)
    if found.shape.rank not in (rank, None):
        what = "a scalar" if rank == 0 else "a vector"
        fail("E1102", f"`RowPartition`: `{argument}` is of shape {found.shape}, expected {what}")
    return found


def _kind(value: Any, dtype: Any, dtype_hint: Any) -> Any:
    """The dtype that an argument gets: the one that is asked for, else its own, else the hint."""
    if dtype is not None:
        return as_dtype(dtype)
    if hasattr(value, "dtype"):
        return None
    return int64 if dtype_hint is None else as_dtype(dtype_hint)


def _need(holds: Any, made_by: str, what: str) -> None:
    partition.require(holds, f"`RowPartition.{made_by}`: {what}", "rows lie one behind the other")


def _rises(made_by: str, argument: str, tensor: Any) -> None:
    steps = registry.function("reduce_all")(tensor[:-1] <= tensor[1:])
    _need(steps, made_by, f"`{argument}` falls")


class RowPartition(Composite):
    """Values in rows, of which the i-th is `values[row_splits[i]:row_splits[i + 1]]`."""

    __slots__ = ("__weakref__", "_length", "_nvals", "_splits", "_uniform")
    _splits: Any
    _uniform: Any  # how long all rows are, where they are made to be as long: a tensor
    _length: int | None  # the same, as far as it is known
    _nvals: int | None  # how many values there are, as far as it was said

    def __init__(self, row_splits: Any, *args: Any, **kwargs: Any) -> None:
        fail(
            "E1104",
            "`RowPartition` is not made by its constructor",
            "what its rows are can be said in several ways",
            fix="call `tf.experimental.RowPartition.from_row_splits`, or one of its kin",
        )

    @classmethod
    def _of(cls, splits: Any, uniform: Any = None, nvals: int | None = None) -> RowPartition:
        known = None if uniform is None else get_static_value(uniform)
        return cls._made((None if known is None else int(known), nvals), (splits, uniform))

    # -- as a composite

    def _tensors(self) -> tuple[Any, ...]:
        return (self._splits,) if self._uniform is None else (self._splits, self._uniform)

    def _facts(self) -> tuple[int | None, int | None]:
        return self._length, self._nvals

    @classmethod
    def _made(cls, facts: Any, tensors: tuple[Any, ...]) -> RowPartition:
        made = object.__new__(cls)
        made._splits, made._uniform = tensors if len(tensors) > 1 else (*tensors, None)
        made._length, made._nvals = facts
        return made

    @classmethod
    def _either(cls, a: Any, b: Any) -> Any:
        return tuple(x if x == y else None for x, y in zip(a, b, strict=True))

    @classmethod
    def _each_time(cls, facts: Any) -> Any:
        return None, None

    @classmethod
    def _spec(cls, facts: Any, specs: tuple[Any, ...]) -> RowPartitionSpec:
        return RowPartitionSpec(facts, specs)

    # -- factories

    @classmethod
    def from_row_splits(
        cls, row_splits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Of where each row begins, and the last one ends."""
        kind = _kind(row_splits, dtype, dtype_hint)
        splits = _whole(row_splits, "row_splits", kind, 1)
        if splits.shape.num_elements() == 0:
            fail("E1103", "`RowPartition.from_row_splits`: `row_splits` is empty")
        if validate:
            zero = registry.function("equal")(splits[0], 0)
            _need(zero, "from_row_splits", "`row_splits` begins at another number than 0")
            _rises("from_row_splits", "row_splits", splits)
        return cls._of(splits)

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Of how long each row is."""
        kind = _kind(row_lengths, dtype, dtype_hint)
        lengths = _whole(row_lengths, "row_lengths", kind, 1)
        if validate:
            least = registry.function("reduce_all")(lengths >= 0)
            _need(least, "from_row_lengths", "`row_lengths` has a number below 0")
        return cls._of(partition.splits_of_lengths(lengths))

    @classmethod
    def from_row_starts(
        cls,
        row_starts: Any,
        nvals: Any,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Of where each row begins, and how many values there are."""
        starts = _whole(row_starts, "row_starts", _kind(row_starts, dtype, dtype_hint), 1)
        count = _whole(nvals, "nvals", starts.dtype, 0)
        if validate:
            all_zero = registry.function("reduce_all")(registry.function("equal")(starts[:1], 0))
            _need(all_zero, "from_row_starts", "`row_starts` begins at another number than 0")
            _rises("from_row_starts", "row_starts", starts)
            inside = registry.function("reduce_all")(starts[-1:] <= count)
            _need(inside, "from_row_starts", "a row begins behind the last value")
        known = get_static_value(count)
        return cls._of(_concat([starts, [count]], 0), None, None if known is None else int(known))

    @classmethod
    def from_row_limits(
        cls, row_limits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Of where each row ends."""
        limits = _whole(row_limits, "row_limits", _kind(row_limits, dtype, dtype_hint), 1)
        if validate:
            least = registry.function("reduce_all")(limits[:1] >= 0)
            _need(least, "from_row_limits", "`row_limits` begins below 0")
            _rises("from_row_limits", "row_limits", limits)
        return cls._of(_concat([registry.function("zeros")([1], limits.dtype), limits], 0))

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: Any,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Of the row of each value, in ascending order, and how many rows there are."""
        ids = _whole(value_rowids, "value_rowids", _kind(value_rowids, dtype, dtype_hint), 1)
        if nrows is None:
            count = registry.function("pad")(ids, [[1, 0]], constant_values=-1)[-1] + 1
        else:
            count = _whole(nrows, "nrows", ids.dtype, 0)
        if validate:
            _rises("from_value_rowids", "value_rowids", ids)
            every = registry.function("logical_and")(ids >= 0, ids < count)
            what = "`value_rowids` has a number that is no row's"
            _need(registry.function("reduce_all")(every), "from_value_rowids", what)
        known = ids.shape.num_elements()
        return cls._of(partition.splits_of_rowids(ids, count), None, known)

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: Any,
        nvals: Any = None,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Of rows that are all as long: of how many there are, or of how many values."""
        name = "from_uniform_row_length"
        if nvals is None and nrows is None:
            fail("E1104", f"`RowPartition.{name}` needs `nvals` or `nrows`")
        given = [x for x in (uniform_row_length, nvals, nrows) if hasattr(x, "dtype")]
        kind = _kind(given[0] if given else 0, dtype, dtype_hint) or as_dtype(given[0].dtype)
        length = _whole(uniform_row_length, "uniform_row_length", kind, 0)
        if validate:
            _need(length >= 0, name, "`uniform_row_length` is below 0")
        if nrows is None:
            values = _whole(nvals, "nvals", kind, 0)
            one = registry.function("maximum")(length, 1)
            zero = registry.function("equal")(length, 0)
            rows = registry.function("where")(zero, length, values // one)
        else:
            rows = _whole(nrows, "nrows", kind, 0)
            values = length * rows if nvals is None else _whole(nvals, "nvals", kind, 0)
        if validate:
            fits = registry.function("equal")(rows * length, values)
            _need(fits, name, "`uniform_row_length` times `nrows` is not `nvals`")
        known = get_static_value(values)
        splits = registry.function("range")(rows + 1, dtype=kind) * length
        return cls._of(splits, length, None if known is None else int(known))

    # -- what it says

    @property
    def dtype(self) -> DType:
        """The dtype of its numbers: int32 or int64."""
        dtype: DType = self._splits.dtype
        return dtype

    def row_splits(self) -> Any:
        """Where each row begins, and the last one ends."""
        return self._splits

    def row_starts(self) -> Any:
        """Where each row begins."""
        return self._splits[:-1]

    def row_limits(self) -> Any:
        """Where each row ends."""
        return self._splits[1:]

    def row_lengths(self) -> Any:
        """How long each row is."""
        return partition.lengths_of(self._splits)

    def value_rowids(self) -> Any:
        """The row of each value."""
        return partition.rowids_of(self._splits)

    def offsets_in_rows(self) -> Any:
        """The place of each value in its row."""
        return partition.positions(self.row_lengths())

    def nvals(self) -> Any:
        """How many values there are."""
        return self._splits[-1]

    def nrows(self) -> Any:
        """How many rows there are."""
        return partition.row_count(self._splits)

    def uniform_row_length(self) -> Any:
        """How long all rows are, where they were made to be as long; else None."""
        return self._uniform

    def is_uniform(self) -> bool:
        """Whether the rows were made to be as long."""
        return self._uniform is not None

    @property
    def static_nrows(self) -> int | None:
        """How many rows there are, as far as it is known now."""
        size: int | None = self._splits.shape.num_elements()
        return None if size is None else size - 1

    @property
    def static_nvals(self) -> int | None:
        """How many values there are, as far as it was said."""
        return self._nvals

    @property
    def static_uniform_row_length(self) -> int | None:
        """How long all rows are, as far as it is known now."""
        return self._length

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same with numbers of this dtype."""
        wanted = as_dtype(dtype)
        if wanted not in (int32, int64):
            fail("E1104", f"numbers of rows are int32 or int64, and {wanted.name} was asked for")
        if wanted == self.dtype:
            return self
        uniform = None if self._uniform is None else _cast(self._uniform, wanted)
        return RowPartition._of(_cast(self._splits, wanted), uniform, self._nvals)

    def __repr__(self) -> str:
        if self._uniform is None:
            return f"tf.RowPartition(row_splits={self._splits})"
        return f"tf.RowPartition(nrows={self.nrows()}, uniform_row_length={self._uniform})"


class RowPartitionSpec(CompositeSpec):
    """What is known of how values lie in rows."""

    __slots__ = ("_known", "_specs")

    def __init__(self, known: Any, specs: tuple[TensorSpec, ...]) -> None:
        self._known, self._specs = known, tuple(specs)

    @property
    def dtype(self) -> DType:
        """The dtype of its numbers."""
        dtype: DType = self._specs[0].dtype
        return dtype

    @property
    def shape(self) -> TensorShape:
        """How many rows there are, and how long all are."""
        size = self._specs[0].shape.num_elements()
        return TensorShape([None if size is None else size - 1, self._known[0]])

    def _serialize(self) -> tuple[Any, ...]:
        return self._known, self._specs

    def _facts(self) -> Any:
        return self._known

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        return self._specs


RowPartitionSpec._VALUE = RowPartition
