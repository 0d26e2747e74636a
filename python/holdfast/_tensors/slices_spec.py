"""`tf.IndexedSlicesSpec`: what is known of rows of a larger tensor."""

from __future__ import annotations

from typing import Any

from .dtypes import DType, as_dtype, float32, int64
from .shape import TensorShape, TensorSpec, as_shape
from .tensor import IndexedSlices

__all__ = ["NAMES", "IndexedSlicesSpec"]


class IndexedSlicesSpec:
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
    def value_type(self) -> type[Any]:
        """IndexedSlices."""
        return IndexedSlices

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

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        if value.dense_shape is None:
            return value.values, value.indices
        return value.values, value.indices, value.dense_shape

    def _from_components(self, tensors: Any) -> IndexedSlices:
        return IndexedSlices(*tensors)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether an `IndexedSlices`, or a specification of some, may be meant."""
        other = spec_or_value
        if isinstance(other, IndexedSlices):
            whole = other.shape
            return self._values_dtype == other.dtype and self._shape.is_compatible_with(whole)
        return (
            isinstance(other, IndexedSlicesSpec)
            and self._values_dtype == other._values_dtype
            and self._indices_dtype == other._indices_dtype
            and self._dense_shape_dtype == other._dense_shape_dtype
            and self._shape.is_compatible_with(other._shape)
            and self._indices_shape.is_compatible_with(other._indices_shape)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndexedSlicesSpec):
            return NotImplemented
        return repr(self._serialize()) == repr(other._serialize())

    def __hash__(self) -> int:
        return hash(repr(self._serialize()))

    def __repr__(self) -> str:
        return f"IndexedSlicesSpec{self._serialize()!r}"


NAMES = {"IndexedSlicesSpec": IndexedSlicesSpec}
