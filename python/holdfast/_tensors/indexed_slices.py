"""`tf.IndexedSlices`, rows of a larger tensor, and what is known of them before."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ..errors import fail
from . import registry
from .composite import Composite, CompositeSpec
from .dtypes import DType, as_dtype, float32, int64
from .shape import TensorShape, TensorSpec, as_shape
from .tensor import Tensor, Undefined, array_of, get_static_value

__all__ = ["NAMES", "IndexedSlices", "IndexedSlicesSpec", "IndexedSlicesValue"]

IndexedSlicesValue = collections.namedtuple(
    "IndexedSlicesValue", ["values", "indices", "dense_shape"]
)


class IndexedSlices(Composite):
    """Rows of a larger tensor: `values[i]` is row `indices[i]`. Rows that come twice add up."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape
        self._has_shape = dense_shape is not None

    def _tensors(self) -> tuple[Any, ...]:
        parts = (self._values, self._indices)
        return (*parts, self._dense_shape) if self._has_shape else parts

    def _facts(self) -> bool:
        return self._has_shape

    @classmethod
    def _made(cls, facts: Any, tensors: tuple[Any, ...]) -> IndexedSlices:
        made = cls(*tensors)
        made._has_shape = facts  # also where the tensors are left out of a structure
        return made

    @classmethod
    def _spec(cls, facts: Any, specs: tuple[Any, ...]) -> IndexedSlicesSpec:
        values, indices, *shape = specs
        whole = TensorShape(None)
        if shape and shape[0].shape.rank and values.shape.rank is not None:
            whole = TensorShape([None]).concatenate(values.shape[1:])
        kind = shape[0].dtype if shape else None
        return IndexedSlicesSpec(whole, values.dtype, indices.dtype, kind, indices.shape)

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        shape = self._dense_shape
        return IndexedSlicesSpec(
            self.shape,
            self.dtype,
            self._indices.dtype,
            None if shape is None else shape.dtype,
            self._indices.shape,
        )

    def _gradient_part(self) -> Any:
        return self._values

    def _with_gradient(self, gradient: Any) -> IndexedSlices:
        return IndexedSlices(gradient, self._indices, self._dense_shape)

    def _fetched(self, values: list[Any]) -> IndexedSlicesValue:
        return IndexedSlicesValue(*values, *[None] * (3 - len(values)))

    def _fed(self, value: Any) -> tuple[Any, ...]:
        return super()._fed(value)[: len(self._tensors())]

    @property
    def values(self) -> Any:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Any:
        """Which rows they are."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the larger tensor, None if it is not known."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The same as a TensorShape."""
        if self._dense_shape is None:
            return TensorShape(None)
        if isinstance(self._dense_shape, Tensor):
            known = get_static_value(self._dense_shape, partial=True)
            return TensorShape(None if known is None else list(known))
        return TensorShape(np.asarray(self._dense_shape).tolist())

    @property
    def dtype(self) -> DType:
        """The dtype of the rows."""
        dtype: DType = self._values.dtype
        return dtype

    @property
    def device(self) -> str:
        """The device of the rows."""
        return str(self._values.device)

    name = Undefined("name")
    op = Undefined("op")
    graph = Undefined("graph")

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        if self._dense_shape is None:
            fail(
                "E1102",
                "these `IndexedSlices` have no `dense_shape`, so they make no tensor",
                "rows alone do not say how many others there are",
                fix="give `dense_shape` where the `IndexedSlices` are made",
            )
        if dtype is not None and as_dtype(dtype) != self.dtype:
            fail(
                "E1101",
                f"`IndexedSlices` of {self.dtype.name}, expected {as_dtype(dtype).name}",
                fix=f"`tf.cast` their `values` to {as_dtype(dtype).name}",
            )
        rows = self.shape[0] if self.shape.rank else None
        if rows is None:
            rows = self._dense_shape[0]
        return registry.function("math.unsorted_segment_sum")(self._values, self._indices, rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return array_of(self.__tf_tensor__(), dtype)

    def numpy(self) -> Any:
        """The larger tensor as a NumPy array."""
        return self.__tf_tensor__().numpy()

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"


class IndexedSlicesSpec(CompositeSpec):
    """What is known of an `IndexedSlices`: the whole's shape, and the dtypes of its parts."""

    __slots__ = (
        "_dense_shape_dtype",
        "_indices_dtype",
        "_indices_shape",
        "_shape",
        "_values_dtype",
    )

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = float32,
        indices_dtype: Any = int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape: TensorShape = as_shape(shape)
        self._values_dtype: DType = as_dtype(dtype)
        self._indices_dtype: DType = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = as_shape(indices_shape).with_rank(1)

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the rows."""
        return self._values_dtype

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._values_dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rows = self._indices_shape.concatenate(self._shape[1:])
        parts = [
            TensorSpec(rows, self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            parts.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(parts)

    def _facts(self) -> bool:
        return self._dense_shape_dtype is not None


IndexedSlicesSpec._VALUE = IndexedSlices


NAMES = {"IndexedSlicesSpec": IndexedSlicesSpec}
