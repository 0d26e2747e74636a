"""`tf.SparseTensor`: the elements of a tensor that are not zero, and where they are."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.composite import Composite, made_of
from ..._tensors.dtypes import DType, int64
from ..._tensors.shape import TensorShape
from ..._tensors.tensor import get_static_value
from ...errors import fail
from .spec import SparseTensorSpec

__all__ = ["SparseTensor", "SparseTensorValue", "is_sparse", "need_sparse"]

SparseTensorValue = collections.namedtuple(
    "SparseTensorValue", ["indices", "values", "dense_shape"]
)


def _known_shape(sizes: Any) -> TensorShape:
    """What is known of a shape that a tensor holds."""
    known = get_static_value(sizes, partial=True)
    if known is not None:
        return TensorShape([None if n is None or n < 0 else int(n) for n in known])
    size = sizes.shape.num_elements()
    return TensorShape(None if size is None else [None] * size)


class SparseTensor(Composite):
    """Elements of a larger tensor: `values[i]` is at `indices[i]`, all others are zero."""

    __slots__ = ("__weakref__", "_dense_shape", "_indices", "_static", "_values")
    __array_priority__ = 100

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = _as_int64(indices, "indices")
        self._values = _holdfast.convert(values)
        if isinstance(dense_shape, TensorShape):
            dense_shape = dense_shape.as_list()
        self._dense_shape = _as_int64(dense_shape, "dense_shape")
        self._static = _known_shape(self._dense_shape)
        self._check()

    def _check(self) -> None:
        """Refuses parts that can't belong together."""
        for part, rank, what in (
            (self._indices, 2, "indices"),
            (self._values, 1, "values"),
            (self._dense_shape, 1, "dense_shape"),
        ):
            if part.shape.rank not in (rank, None):
                fail(
                    "E1102",
                    f"`SparseTensor`: `{what}` is of shape {part.shape}, expected {rank} axes",
                    "element `values[i]` is at `indices[i]`, which has a number for each axis",
                )
        rows, columns = self._indices.shape.as_list() if self._indices.shape.rank else (None, None)
        count = self._values.shape[0] if self._values.shape.rank else None
        axes = self._dense_shape.shape[0] if self._dense_shape.shape.rank else None
        if None not in (rows, count) and rows != count:
            fail(
                "E1102",
                f"`SparseTensor`: `indices` has {rows} rows, and `values` {count} elements",
                "element `values[i]` is at `indices[i]`",
            )
        if None not in (columns, axes) and columns != axes:
            fail(
                "E1102",
                f"`SparseTensor`: `indices` has {columns} columns, and `dense_shape` {axes} sizes",
                "both have a number for each axis",
            )

    # -- as a composite

    def _tensors(self) -> tuple[Any, ...]:
        return self._indices, self._values, self._dense_shape

    def _printed(self, summarize: int) -> list[Any]:
        begin, end = "'SparseTensor(indices=", ")'"
        parts = (self._indices, ", values=", self._values, ", shape=", self._dense_shape)
        return [begin, *parts, end]

    def _extent(self) -> Any:
        return self._dense_shape

    def _invariants(self, shape: TensorShape) -> list[Any]:
        return [[None, shape.rank], [None], [shape.rank]]

    def _facts(self) -> Any:
        return None if self._static.rank is None else tuple(self._static.as_list())

    @classmethod
    def _made(cls, facts: Any, tensors: tuple[Any, ...]) -> SparseTensor:
        made = object.__new__(cls)
        made._indices, made._values, made._dense_shape = tensors
        made._static = said = TensorShape(facts)
        if isinstance(made._dense_shape, _holdfast.Tensor):
            known = _known_shape(made._dense_shape)
            made._static = known.merge_with(said) if known.is_compatible_with(said) else known
        return made

    def _restated(self, facts: Any) -> SparseTensor:
        made = self._made(facts, self._tensors())
        made._static = TensorShape(facts)
        return made

    @classmethod
    def _either(cls, a: Any, b: Any) -> Any:
        common = TensorShape(a).most_specific_compatible_shape(TensorShape(b))
        return None if common.rank is None else tuple(common.as_list())

    @classmethod
    def _each_time(cls, facts: Any) -> Any:
        return None  # but for the rank, which the number of sizes says

    @classmethod
    def _spec(cls, facts: Any, specs: tuple[Any, ...]) -> SparseTensorSpec:
        _, values, shape = specs
        rank = shape.shape.num_elements()
        static = TensorShape(facts)
        if static.rank is None and rank is not None:
            static = TensorShape([None] * rank)
        return SparseTensorSpec(static, values.dtype)

    def _row_count(self) -> Any:
        known = self.shape[0] if self.shape.rank is not None else None
        return self._dense_shape[0] if known is None else known

    def _row(self, i: Any) -> Any:
        chosen = self.indices[:, 0] == registry.function("cast")(i, int64)
        keep = registry.function("boolean_mask")
        places, values = keep(self.indices, chosen), keep(self.values, chosen)
        return SparseTensor(places[:, 1:], values, self.dense_shape[1:])

    def _gradient_part(self) -> Any:
        return self._values

    def _with_gradient(self, gradient: Any) -> SparseTensor:
        return self.with_values(_holdfast.convert(gradient))

    def _fetched(self, values: list[Any]) -> SparseTensorValue:
        return SparseTensorValue(*values)

    # -- parts

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """One of what a session gives, or itself."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not isinstance(sparse_tensor_value, SparseTensorValue):
            kind = type(sparse_tensor_value).__name__
            fail("E1104", f"`SparseTensor.from_value` got a {kind}, expected a SparseTensorValue")
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Any:
        """Where the elements are, one in a row."""
        return self._indices

    @property
    def values(self) -> Any:
        """The elements."""
        return self._values

    @property
    def dense_shape(self) -> Any:
        """The shape of the larger tensor, as a vector."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The same as far as it is known."""
        return self._static

    def get_shape(self) -> TensorShape:
        """The same."""
        return self._static

    def set_shape(self, shape: Any) -> None:
        """Says what is known of the shape."""
        self._static = self._static.merge_with(shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        dtype: DType = self._values.dtype
        return dtype

    @property
    def op(self) -> Any:
        """The operation of a graph that makes the elements."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph of the elements."""
        return self._values.graph

    def consumers(self) -> list[Any]:
        """The operations of a graph that take one of its parts."""
        return [op for t in self._tensors() for op in t.consumers()]

    def eval(self, feed_dict: Any = None, session: Any = None) -> SparseTensorValue:
        """Its value in a session."""
        from ..._graphs.session import get_default_session

        running = session or get_default_session()
        if running is None:
            raise ValueError("`SparseTensor.eval` needs a session: give one, or open one")
        value: SparseTensorValue = running.run(self, feed_dict)
        return value

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other elements at the same places."""
        new = _holdfast.convert(new_values)
        count, was = (t.shape[0] if t.shape.rank else None for t in (new, self._values))
        if new.shape.rank == 0 or (None not in (count, was) and count != was):
            fail("E1102", f"a sparse tensor of {was} values got a tensor of shape {new.shape}")
        return SparseTensor._made(self._facts(), (self._indices, new, self._dense_shape))

    def _numpy(self) -> Any:
        indices, values, shape = (t.numpy() for t in self._tensors())
        out = np.full(shape, b"" if values.dtype == object else 0, values.dtype)
        out[tuple(indices.T)] = values
        return out

    def __tf_print__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        parts = (self._indices, self._values, self._dense_shape)
        return "SparseTensor(indices={!s}, values={!s}, dense_shape={!s})".format(*parts)

    def __reduce__(self) -> Any:
        return SparseTensor, tuple(t.numpy() for t in self._tensors())


def _as_int64(value: Any, argument: str) -> Any:
    if isinstance(value, _holdfast.Tensor) and value.dtype != int64:
        fail(
            "E1101",
            f"`SparseTensor`: `{argument}` is of dtype {value.dtype.name}, expected int64",
            fix=f"`tf.cast({argument}, tf.int64)`",
        )
    if hasattr(value, "dtype") and not isinstance(value, _holdfast.Tensor):
        return registry.function("cast")(_holdfast.convert(value), int64)
    return _holdfast.convert(value, int64)


def is_sparse(value: Any) -> bool:
    """Whether it is a sparse tensor."""
    return isinstance(value, SparseTensor)


def need_sparse(value: Any, name: str) -> Any:
    """A sparse tensor, also of what a session gave; refuses any other value."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not is_sparse(value):
        fail(
            "E1104",
            f"`{name}` got a {type(value).__name__}, expected a SparseTensor",
            fix="make one of a dense tensor: `tf.sparse.from_dense(...)`",
        )
    return value


SparseTensorSpec._VALUE = SparseTensor
made_of(SparseTensorValue, SparseTensor.from_value)
