"""`tf.TensorArray`: a list of tensors that a loop can write."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._graphs.eager import no_op
from .._graphs.name_scope import named_ops
from .._tensors import registry
from .._tensors.dtypes import as_dtype, int32
from .._tensors.shape import TensorShape, as_shape
from .._tensors.symbols import is_symbol
from ..errors import fail

__all__ = ["TensorArray"]


class TensorArray:
    """Elements of one dtype, written and read by index.

    A write gives another array; the old one still holds what it held inside a graph.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self._dtype = as_dtype(dtype)
        self._infer_shape = infer_shape
        self._element_shape = as_shape(element_shape)
        self._dynamic_size = bool(dynamic_size)
        if flow is None:
            count = _holdfast.convert(0 if size is None else size, int32)
            flow = _holdfast.list_reserve(self._dtype, self._dims(), count)
        self._flow = flow
        self._size = size

    def _dims(self) -> Any:
        shape = self._element_shape
        return None if shape.rank is None else shape.as_list()

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether a write may make it longer."""
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the elements, as far as it is known."""
        return self._element_shape

    @property
    def flow(self) -> Any:
        """The list behind it."""
        return self._flow

    @property
    def handle(self) -> Any:
        """None: an array is a value, not a resource."""
        return None

    def identity(self) -> TensorArray:
        """An array with the same elements, there once what it is to wait for has run."""
        if not is_symbol(self._flow):
            return self._with(self._flow)
        length = _holdfast.list_length(self._flow)
        flow = registry.raw_op("TensorListResize", input_handle=self._flow, size=length)
        return self._with(flow)

    grad = None

    def _with(self, flow: Any, element_shape: Any = None) -> TensorArray:
        made = TensorArray.__new__(TensorArray)
        made._dtype, made._infer_shape, made._dynamic_size = (
            self._dtype,
            self._infer_shape,
            self._dynamic_size,
        )
        made._element_shape = self._element_shape if element_shape is None else element_shape
        made._flow, made._size = flow, self._size
        return made

    def _index(self, index: Any) -> Any:
        return _holdfast.convert(index, int32) if not isinstance(index, _holdfast.Tensor) else index

    def _seen(self, shape: TensorShape) -> TensorShape:
        """What is known of all elements once one of this shape is among them."""
        if not self._infer_shape:
            return self._element_shape
        if self._element_shape.rank is None:
            return shape
        if not self._element_shape.is_compatible_with(shape):
            fail(
                "E1102",
                f"TensorArray: an element of shape {shape} among elements of shape "
                f"{self._element_shape}",
                "all elements have one shape, unless the array is made with `infer_shape=False`",
            )
        return self._element_shape.merge_with(shape)

    @named_ops
    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with another element `index`."""
        value = _holdfast.convert(value, self._dtype)
        return self._changed(self._put(self._flow, index, value), self._seen(value.shape))

    def _put(self, flow: Any, index: Any, value: Any) -> Any:
        """The list with another element."""
        if value.dtype != self._dtype:
            fail(
                "E1101",
                f"TensorArray: a {value.dtype.name} value written to an array of "
                f"{self._dtype.name}",
            )
        index = self._index(index)
        if not self._dynamic_size and not is_symbol(index) and not is_symbol(flow):
            length = int(_holdfast.list_length(flow))
            if not 0 <= int(index) < length:
                fail(
                    "E1103",
                    f"TensorArray: index {int(index)} of an array of {length} elements",
                    "an array grows only if it is made with `dynamic_size=True`",
                    fix="`tf.TensorArray(..., dynamic_size=True)`",
                )
        return _holdfast.list_set(flow, index, value, self._dynamic_size)

    def _changed(self, flow: Any, shape: TensorShape) -> TensorArray:
        if is_symbol(flow):
            return self._with(flow, shape)
        self._flow, self._element_shape = flow, shape  # eager code may go on with the old name
        return self

    @named_ops
    def read(self, index: Any, name: str | None = None) -> Any:
        """Element `index`."""
        return _holdfast.list_get(self._flow, self._index(index), self._dtype, self._dims())

    @named_ops
    def stack(self, name: str | None = None) -> Any:
        """All elements along a new first axis."""
        stacked = _holdfast.list_stack(self._flow, self._dtype, self._dims())
        fixed = isinstance(self._size, int) and not self._dynamic_size
        if fixed and is_symbol(stacked) and stacked.shape.rank is not None:
            stacked.set_shape([self._size, *stacked.shape.as_list()[1:]])
        return stacked

    @named_ops
    def concat(self, name: str | None = None) -> Any:
        """All elements joined along their first axis."""
        return _holdfast.list_concat(self._flow, self._dtype, self._dims())

    @named_ops
    def gather(self, indices: Any, name: str | None = None) -> Any:
        """The elements `indices` along a new first axis."""
        return registry.function("gather")(self.stack(), indices)

    @named_ops
    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """An array of the rows of `value`."""
        value = _holdfast.convert(value, self._dtype)
        row = value.shape[1:] if value.shape.rank is not None else value.shape
        made = self._changed(_holdfast.list_unstack(value), self._seen(row))
        made._size = (
            value.shape[0] if value.shape.rank is not None else None
        )  # as many as there are
        return made

    @named_ops
    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with rows of `value` as its elements `indices`."""
        indices, value = _holdfast.convert(indices), _holdfast.convert(value, self._dtype)
        made = self
        for i in range(len(indices)):
            made = made.write(indices[i], value[i])
        return made

    @named_ops
    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """An array of consecutive pieces of `value`."""
        pieces = registry.function("split")(_holdfast.convert(value, self._dtype), lengths)
        flow, shape = self._flow, pieces[0].shape
        for i, piece in enumerate(pieces):
            flow = self._put(flow, i, piece)
            if shape != piece.shape and shape.rank is not None:  # of some lengths
                shape = TensorShape([None, *shape.as_list()[1:]])
        return self._changed(flow, self._seen(shape))

    @named_ops
    def size(self, name: str | None = None) -> Any:
        """How many elements it has."""
        return _holdfast.list_length(self._flow)

    def close(self, name: str | None = None) -> Any:
        """Does nothing, in a graph by an operation: an array goes with its last reference."""
        return no_op()

    # Nested structures see the list inside, so that arrays pass through loops and functions.

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return (
            self._dtype,
            self._infer_shape,
            self._dynamic_size,
            self._element_shape,
            self._size,
        ), (self._flow,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> TensorArray:
        made = cls.__new__(cls)
        made._dtype, made._infer_shape, made._dynamic_size, made._element_shape, made._size = (
            metadata
        )
        (made._flow,) = components
        return made

    def __repr__(self) -> str:
        return f"<tf.TensorArray dtype={self._dtype.name} element_shape={self._element_shape}>"
