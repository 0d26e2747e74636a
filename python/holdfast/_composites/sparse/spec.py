"""`tf.SparseTensorSpec`: what is known of a sparse tensor."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.composite import CompositeSpec
from ..._tensors.dtypes import DType, as_dtype, float32, int64
from ..._tensors.shape import TensorShape, TensorSpec, as_shape
from ...errors import fail

__all__ = ["SparseTensorSpec"]


class SparseTensorSpec(CompositeSpec):
    """What is known of a sparse tensor: its shape and dtype."""

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self._shape: TensorShape = as_shape(shape)
        self._dtype: DType = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape of the dense tensor."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The specification that exactly fits a sparse tensor."""
        spec: SparseTensorSpec = value._type_spec
        return spec

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    def _with_shape(self, shape: Any, added: int) -> Any:
        return SparseTensorSpec(shape, self._dtype)

    def _piece_specs(self) -> list[TensorSpec]:
        rank = self._shape.rank
        wide = None if rank is None else rank + 1
        return [
            TensorSpec([None, wide], int64),
            TensorSpec([None], self._dtype),
            TensorSpec([1, rank], int64),
        ]

    def _pieces(self, value: Any, i: Any) -> list[Any]:
        if not isinstance(value, self.value_type):
            fail("E1104", f"the function of `map_fn` gave {value!r}, expected {self!r}")
        row = registry.function("cast")(i, int64)
        ones = registry.function("ones_like")(value.indices[:, :1])
        indices = registry.function("concat")([ones * row, value.indices], 1)
        return [indices, value.values, registry.function("expand_dims")(value.dense_shape, 0)]

    def _from_pieces(self, pieces: list[Any], n: Any) -> Any:
        indices, values, shapes = pieces
        largest = registry.function("reduce_max")(shapes, axis=0)
        # Of no rows the largest would be the least number that there is.
        least = 0 if self._shape.rank is None else [d or 0 for d in self._shape.as_list()]
        largest = registry.function("maximum")(largest, _holdfast.convert(least, int64))
        first = registry.function("cast")([n], int64)
        shape = registry.function("concat")([first, largest], 0)
        return self.value_type(indices, values, shape)

    def _from_components(self, tensors: Any) -> Any:
        made = self.value_type(*tensors)  # which looks at the numbers of the dense shape
        made.set_shape(self._shape)
        return made

    def _facts(self) -> Any:
        return None if self._shape.rank is None else tuple(self._shape.as_list())

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rank = self._shape.rank
        return (
            TensorSpec([None, rank], int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], int64),
        )
