"""`tf.RaggedTensor`: rows of different lengths, which lie one after the other in one tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import _holdfast
from ..._flow.checks import with_checks
from ..._flow.printing import AsItIs
from ..._flow.pyfunc import python_node
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.composite import Composite, made_of
from ..._tensors.dtypes import DType, as_dtype, int64, string
from ..._tensors.shape import TensorShape, TensorSpec
from ..._tensors.symbols import is_symbol
from ..._tensors.tensor import Tensor, get_static_value
from ...errors import fail
from . import partition
from .printing import printed, text_of
from .spec import RaggedTensorSpec
from .value import RaggedTensorValue, nested_array, nested_list

__all__ = ["RaggedTensor", "is_ragged", "whole_axis"]

_cast = registry.function("cast")
_concat = registry.function("concat")
_reduce_max = registry.function("reduce_max")
_shape = registry.function("shape")


def is_ragged(value: Any) -> bool:
    """Whether it is a ragged tensor."""
    return isinstance(value, RaggedTensor)


def _made_by(name: str, values: Any) -> Any:
    """The values of a factory as a tensor or a ragged one."""
    if isinstance(values, RaggedTensor):
        return values
    found = _holdfast.convert(values)
    if found.shape.rank == 0:
        fail("E1102", f"`{name}`: `values` is a scalar, expected a tensor with a first axis")
    return found


class RaggedTensor(Composite):
    """Rows of different lengths. Made by `tf.ragged.constant` and the `from_...` methods.

    Row `i` is `values[row_splits[i]:row_splits[i + 1]]`; `values` may be ragged again. Operators,
    indexing and the ways from and to other tensors are put onto it in `names.py`.
    """

    __slots__ = ("__weakref__", "_flat", "_splits", "_uniform")
    __array_priority__ = 100
    _flat: Any  # the innermost values
    _splits: tuple[Any, ...]  # of each ragged axis, the outermost first
    _uniform: tuple[int | None, ...]  # how long the rows of each are, where all are as long

    def __init__(self, values: Any, row_splits: Any) -> None:
        fail(
            "E1104",
            "`RaggedTensor` is not made by its constructor",
            "what its rows are can be said in several ways",
            fix="call `tf.ragged.constant`, or `tf.RaggedTensor.from_row_splits` and its kin",
        )

    # -- as a composite

    @classmethod
    def _of(cls, flat: Any, splits: Sequence[Any], uniform: Sequence[int | None] = ()) -> Any:
        """One of parts that are known to fit."""
        made = object.__new__(cls)
        made._flat, made._splits = flat, tuple(splits)
        made._uniform = tuple(uniform) or (None,) * len(made._splits)
        return made

    @classmethod
    def _rows(cls, values: Any, splits: Any, uniform: int | None = None) -> Any:
        """The same, of `values` that may be ragged."""
        if isinstance(values, RaggedTensor):
            return cls._of(values._flat, (splits, *values._splits), (uniform, *values._uniform))
        return cls._of(values, (splits,), (uniform,))

    def _tensors(self) -> tuple[Any, ...]:
        return self._flat, *self._splits

    def _facts(self) -> tuple[int | None, ...]:
        return self._uniform

    def _printed(self, summarize: int) -> list[Any]:
        def write(flat: Any, *splits: Any) -> list[Any]:
            return [_holdfast.convert(printed(flat, list(splits), summarize))]

        (text,) = python_node(write, self._tensors(), [TensorSpec([], string)])
        return [AsItIs(text)]

    @classmethod
    def _either(cls, a: Any, b: Any) -> Any:
        return tuple(x if x == y else None for x, y in zip(a, b, strict=True))

    @classmethod
    def _each_time(cls, facts: Any) -> Any:
        return (None,) * len(facts)

    @classmethod
    def _made(cls, facts: Any, tensors: tuple[Any, ...]) -> Any:
        # A specification of no ragged axis is that of a tensor: a row of ragged rows.
        return cls._of(tensors[0], tensors[1:], facts) if len(tensors) > 1 else tensors[0]

    @classmethod
    def _spec(cls, facts: Any, specs: tuple[Any, ...]) -> RaggedTensorSpec:
        flat, *splits = specs
        if not splits:
            return RaggedTensorSpec(flat.shape, flat.dtype, 0)
        rows = splits[0].shape.num_elements()
        sizes: list[int | None] = [None if rows is None else rows - 1, *facts]
        shape = TensorShape(None)
        if flat.shape.rank is not None:
            shape = TensorShape(sizes).concatenate(flat.shape[1:])
        return RaggedTensorSpec(shape, flat.dtype, len(splits), splits[0].dtype)

    def _row_count(self) -> Any:
        known = self.shape[0] if self.shape.rank is not None else None
        return self.nrows() if known is None else known

    def _row(self, i: Any) -> Any:
        whole: Any = self
        return whole[i if isinstance(i, int) else _cast(i, self.row_splits.dtype)]

    def _gradient_part(self) -> Any:
        return self._flat

    def _with_gradient(self, gradient: Any) -> Any:
        return self.with_flat_values(_holdfast.convert(gradient))

    def _fetched(self, values: list[Any]) -> RaggedTensorValue:
        flat, *splits = values
        found: Any = flat
        for each in reversed(splits):
            found = RaggedTensorValue(found, each)
        return found  # type: ignore[no-any-return]

    def _fed(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, RaggedTensorValue):
            return value.flat_values, *value.nested_row_splits
        return super()._fed(value)

    # -- factories

    @classmethod
    @with_checks
    @named_ops
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Row `i` is `values[row_splits[i]:row_splits[i + 1]]`."""
        values = _made_by("from_row_splits", values)
        splits = partition.as_vector(row_splits, "row_splits")
        if splits.shape.num_elements() == 0:
            fail("E1103", "`from_row_splits`: `row_splits` is empty, expected one number or more")
        return cls._checked(values, splits, "from_row_splits", validate)

    @classmethod
    def _checked(
        cls, values: Any, splits: Any, name: str, validate: bool, uniform: int | None = None
    ) -> Any:
        values, splits = _matched(values, splits)
        if validate:
            partition.checked(splits, partition.value_count(values, splits.dtype), name)
        return cls._rows(values, splits, uniform)

    @classmethod
    @with_checks
    @named_ops
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows of these lengths."""
        values = _made_by("from_row_lengths", values)
        lengths = partition.as_vector(row_lengths, "row_lengths")
        splits = partition.splits_of_lengths(lengths)
        return cls._checked(values, splits, "from_row_lengths", validate)

    @classmethod
    @with_checks
    @named_ops
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows that begin here."""
        values = _made_by("from_row_starts", values)
        starts = partition.as_vector(row_starts, "row_starts")
        count = partition.value_count(values, starts.dtype)
        splits = _concat([starts, [count]], 0)
        return cls._checked(values, splits, "from_row_starts", validate)

    @classmethod
    @with_checks
    @named_ops
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows that end here."""
        values = _made_by("from_row_limits", values)
        limits = partition.as_vector(row_limits, "row_limits")
        splits = _concat([_holdfast.convert([0], limits.dtype), limits], 0)
        return cls._checked(values, splits, "from_row_limits", validate)

    @classmethod
    @with_checks
    @named_ops
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """The row of each value, in ascending order."""
        values = _made_by("from_value_rowids", values)
        rowids = partition.as_vector(value_rowids, "value_rowids")
        given = nrows is not None
        if given:
            count = partition.as_index(nrows, "nrows", rowids.dtype)
        else:
            one = registry.function("pad")(rowids, [[1, 0]], constant_values=-1)
            count = one[-1] + 1
        if validate:
            ascending = registry.function("reduce_all")(rowids[:-1] <= rowids[1:])
            why = "the values of a row lie side by side, in the order of the rows"
            partition.require(ascending, "`from_value_rowids`: `value_rowids` falls", why)
            inside = registry.function("reduce_all")(
                registry.function("logical_and")(rowids >= 0, rowids < count)
            )
            what = "`from_value_rowids`: `value_rowids` has a number that is no row's"
            partition.require(inside, what, "rows are numbered from 0 to `nrows - 1`")
        splits = partition.splits_of_rowids(rowids, count)
        return cls._checked(values, splits, "from_value_rowids", validate)

    @classmethod
    @with_checks
    @named_ops
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> Any:
        """Rows that are all as long; of length 0, `nrows` says how many."""
        values = _made_by("from_uniform_row_length", values)
        inner = values._splits[0].dtype if isinstance(values, RaggedTensor) else int64
        length = partition.as_index(uniform_row_length, "uniform_row_length")
        length = length if hasattr(uniform_row_length, "dtype") else _cast(length, inner)
        known = get_static_value(length)
        if known is not None and known < 0:
            fail("E1103", f"`uniform_row_length` is {known}, expected 0 or more")
        count = partition.value_count(values, length.dtype)
        if nrows is not None:
            rows = partition.as_index(nrows, "nrows", length.dtype)
        elif known is not None:
            rows = count // length if known else _holdfast.convert(0, length.dtype)
        else:
            rows = registry.function("math.divide_no_nan")(
                _cast(count, "float64"), _cast(length, "float64")
            )
            rows = _cast(rows, length.dtype)
        splits = registry.function("range")(rows + 1, dtype=length.dtype) * length
        uniform = None if known is None else int(known)
        return cls._checked(values, splits, "from_uniform_row_length", validate, uniform)

    @classmethod
    @named_ops
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows: splits of each axis, the outermost first."""
        return cls._nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    @named_ops
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows: lengths of each axis, the outermost first."""
        return cls._nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def _nested(cls, make: Callable[..., Any], flat: Any, parts: Any, validate: bool) -> Any:
        if isinstance(parts, Tensor):
            fail(
                "E1104",
                "a ragged tensor of several axes got one tensor, expected a list of vectors",
                "each ragged axis has a vector of its own",
            )
        found = flat if isinstance(flat, RaggedTensor) else _holdfast.convert(flat)
        for each in reversed(list(parts)):
            found = make(found, each, validate=validate)
        return found

    @classmethod
    @named_ops
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows: the row of each value of each axis, the outermost first."""
        if isinstance(nested_value_rowids, Tensor):
            fail("E1104", "`nested_value_rowids` is a tensor, expected a list of vectors")
        ids = list(nested_value_rowids)
        if isinstance(nested_nrows, Tensor):
            fail("E1104", "`nested_nrows` is a tensor, expected a list of numbers")
        counts = [None] * len(ids) if nested_nrows is None else list(nested_nrows)
        if len(counts) != len(ids):
            fail(
                "E1104",
                f"`nested_nrows` has {len(counts)} numbers for {len(ids)} axes of row numbers",
            )
        found = flat_values
        for each, count in zip(reversed(ids), reversed(counts), strict=True):
            found = cls.from_value_rowids(found, each, count, validate=validate)
        return found if ids else _holdfast.convert(found)

    # -- parts

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        dtype: DType = self._flat.dtype
        return dtype

    @property
    def shape(self) -> TensorShape:
        """What is known of its shape: None for ragged axes."""
        if self._flat is None or not hasattr(self._flat, "shape"):
            return TensorShape(None)
        shape: TensorShape = self._spec(
            self._uniform, tuple(TensorSpec(t.shape, t.dtype) for t in self._tensors())
        ).shape
        return shape

    def get_shape(self) -> TensorShape:
        """What is known of its shape."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """How many axes have splits."""
        return len(self._splits)

    @property
    def values(self) -> Any:
        """The rows joined: a tensor, or a ragged one with an axis less."""
        if len(self._splits) == 1:
            return self._flat
        return RaggedTensor._of(self._flat, self._splits[1:], self._uniform[1:])

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        return self._flat

    @property
    def row_splits(self) -> Any:
        """Where each row begins in `values`, and the last one ends."""
        return self._splits[0]

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of each ragged axis, the outermost first."""
        return self._splits

    @property
    def uniform_row_length(self) -> Any:
        """How long all rows are, where that is known to be one number; else None."""
        length = self._uniform[0]
        return None if length is None else _holdfast.convert(length, self._splits[0].dtype)

    @property
    def _row_partition(self) -> Any:
        return self._splits[0]

    @named_ops
    def value_rowids(self, name: str | None = None) -> Any:
        """The row of each value."""
        return partition.rowids_of(self._splits[0])

    @named_ops
    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """The same of each ragged axis."""
        return tuple(partition.rowids_of(each) for each in self._splits)

    @named_ops
    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """How many rows there are."""
        count = partition.row_count(self._splits[0])
        return count if out_type is None else _cast(count, out_type)

    @named_ops
    def row_starts(self, name: str | None = None) -> Any:
        """Where each row begins."""
        return self._splits[0][:-1]

    @named_ops
    def row_limits(self, name: str | None = None) -> Any:
        """Where each row ends."""
        return self._splits[0][1:]

    @named_ops
    def row_lengths(self, axis: Any = 1, name: str | None = None) -> Any:
        """How long the rows are, of an axis: ragged where that is not the first."""
        known = self.shape.rank
        rank = None if known is None else known
        at = whole_axis(axis, rank, "axis", "row_lengths")
        if at == 0:
            return self.nrows()
        if at == 1:
            return partition.lengths_of(self._splits[0])
        inner = self.values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.row_lengths(at - 1))
        sizes = _shape(inner, self._splits[0].dtype)
        return self.with_values(registry.function("fill")(sizes[:1], sizes[at - 1]))

    @named_ops
    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """How long the rows of each ragged axis are."""
        return tuple(partition.lengths_of(each) for each in self._splits)

    @named_ops
    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Any:
        """The smallest shape of a dense tensor that holds all rows."""
        kind = self._splits[0].dtype if out_type is None else as_dtype(out_type)
        zero = _holdfast.convert(0, self._splits[0].dtype)
        sizes = [self.nrows()]
        for each in self._splits:
            longest = registry.function("maximum")(_reduce_max(partition.lengths_of(each)), zero)
            sizes.append(longest)
        inner = _shape(self._flat, self._splits[0].dtype)[1:]
        whole = _cast(_concat([registry.function("stack")(sizes), inner], 0), kind)
        if axis is None:
            return whole
        if isinstance(axis, int) and axis < 0:
            whole_axis(axis, self.shape.rank, "axis", "bounding_shape")
            axis += self.shape.rank or 0
        return registry.function("gather")(whole, axis)

    # -- with other parts

    def with_values(self, new_values: Any) -> Any:
        """The same rows of other values."""
        new = new_values if isinstance(new_values, RaggedTensor) else _holdfast.convert(new_values)
        if not isinstance(new, RaggedTensor) and new.shape.rank == 0:
            fail("E1102", "`with_values` got a scalar, expected as many values as there are")
        new, splits = _matched(new, self._splits[0])
        _same_count(self.values, new)
        return RaggedTensor._rows(new, splits, self._uniform[0])

    def with_flat_values(self, new_values: Any) -> Any:
        """The same rows of other innermost values."""
        if isinstance(new_values, RaggedTensor):
            found: Any = new_values
            for splits, uniform in zip(
                reversed(self._splits), reversed(self._uniform), strict=True
            ):
                found, splits = _matched(found, splits)
                found = RaggedTensor._rows(found, splits, uniform)
            return found
        new = _holdfast.convert(new_values)
        if new.shape.rank == 0:
            fail("E1102", "`with_flat_values` got a scalar, expected as many values as there are")
        _same_count(self._flat, new)
        return RaggedTensor._of(new, self._splits, self._uniform)

    def with_row_splits_dtype(self, dtype: Any) -> Any:
        """The same with splits of this dtype."""
        wanted = as_dtype(dtype)
        if wanted.name not in ("int32", "int64"):
            fail("E1104", f"row splits are int32 or int64, and {wanted.name} was asked for")
        if self._splits[0].dtype == wanted:
            return self
        return RaggedTensor._of(
            self._flat, [_cast(each, wanted) for each in self._splits], self._uniform
        )

    # -- as something else

    def to_list(self) -> list[Any]:
        """As nested lists of Python's values."""
        flat, *splits = (_value_of(t) for t in self._tensors())
        return nested_list(flat, splits)

    def numpy(self) -> Any:
        """An array of arrays; a plain one where all rows are as long."""
        flat, *splits = (_value_of(t) for t in self._tensors())
        return nested_array(flat, splits)

    _numpy = numpy

    def consumers(self) -> list[Any]:
        """The operations of a graph that take one of its parts."""
        return [op for t in self._tensors() for op in t.consumers()]

    def __hash__(self) -> int:
        if not self._flat._symbolic:
            raise TypeError("a RaggedTensor with a value has no hash: `==` compares elements")
        return id(self)

    def __bool__(self) -> bool:  # noqa: PLE0304
        fail(
            "E1104",
            "a RaggedTensor has no truth",
            "it has many elements, or none",
            fix="reduce it first, with `tf.reduce_all` or `tf.reduce_any`",
        )

    def __reduce__(self) -> Any:
        return _restored, (self._uniform, *(_value_of(t) for t in self._tensors()))

    def __repr__(self) -> str:
        if any(is_symbol(t) and not _holdfast.has_value(t) for t in self._tensors()):
            return f"tf.RaggedTensor(values={self.values}, row_splits={self.row_splits})"
        return f"<tf.RaggedTensor {text_of(self.numpy())}>"


def whole_axis(axis: Any, rank: int | None, argument: str, name: str) -> int:
    """An axis from 0 on; refuses what is none."""
    found = get_static_value(axis) if isinstance(axis, Tensor) else axis
    if not hasattr(found, "__index__"):
        fail("E1104", f"`{name}`: `{argument}` is {axis!r}, expected an int")
    at = int(found)
    if rank is None:
        if at < 0:
            fail("E1103", f"`{name}`: `{argument}` is {at}, and the rank is not known")
        return at
    if not -rank <= at < rank:
        fail(
            "E1103",
            f"`{name}`: `{argument}` is {at}, expected {-rank} to {rank - 1}",
            f"the tensor has {rank} axes",
        )
    return at % rank


def _value_of(tensor: Any) -> Any:
    return np.asarray(tensor.numpy(), dtype=object if tensor.dtype.name == "string" else None)


def _restored(uniform: Any, flat: Any, *splits: Any) -> RaggedTensor:
    tensors = [_holdfast.convert(each) for each in splits]
    found: RaggedTensor = RaggedTensor._of(_holdfast.convert(flat), tensors, uniform)
    return found


def _matched(values: Any, splits: Any) -> tuple[Any, Any]:
    """Both with splits of one dtype: the wider one."""
    if not isinstance(values, RaggedTensor) or values._splits[0].dtype == splits.dtype:
        return values, splits
    return values.with_row_splits_dtype(int64), _cast(splits, int64)


def _same_count(was: Any, now: Any) -> None:
    before, after = (x.shape[0] if x.shape.rank else None for x in (was, now))
    if before is not None and after is not None and before != after:
        fail("E1102", f"a ragged tensor of {before} values got {after} others for them")


RaggedTensorSpec._VALUE = RaggedTensor


made_of(
    RaggedTensorValue,
    lambda value: RaggedTensor.from_nested_row_splits(value.flat_values, value.nested_row_splits),
)
