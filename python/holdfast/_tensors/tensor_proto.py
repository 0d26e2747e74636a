"""`tf.make_tensor_proto`: a tensor's value in TensorFlow's format, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _holdfast
from ..errors import fail
from .constants import graph_outside
from .dtypes import as_dtype, numpy_type
from .shape import as_shape
from .shape_proto import TensorShapeProto, field, varint
from .symbols import is_symbol

__all__ = ["NAMES", "TensorProto", "TensorShapeProto", "make_ndarray", "make_tensor_proto"]


class TensorProto:
    """A value: its dtype's number, its shape, and its elements as bytes or strings."""

    def __init__(
        self,
        dtype: int = 0,
        tensor_shape: TensorShapeProto | None = None,
        tensor_content: bytes = b"",
        string_val: Any = (),
    ) -> None:
        self.dtype, self.tensor_content = dtype, tensor_content
        self.tensor_shape = tensor_shape if tensor_shape is not None else TensorShapeProto()
        self.string_val = list(string_val)

    def SerializeToString(self) -> bytes:
        """The bytes of the protobuf."""
        text = b"\x08" + varint(self.dtype) + field(2, self.tensor_shape.SerializeToString())
        if self.tensor_content:
            text += field(4, self.tensor_content)
        return text + b"".join(field(8, part) for part in self.string_val)


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """The value of `values`. With `shape` the last element is repeated until there are enough.

    `verify_shape`: the values have the shape already. `allow_broadcast`: one element may become
    any shape; it may without too, and this only lets both options stand beside each other.
    """
    if isinstance(values, TensorProto):
        return values
    if allow_broadcast and verify_shape:
        raise ValueError("`allow_broadcast` and `verify_shape` contradict each other: give one")
    if is_symbol(values):
        fail("E1104", "`values` is a tensor of a graph, which has no value to write down")
    kind = None if dtype is None else as_dtype(dtype)
    with graph_outside():
        tensor = values if isinstance(values, _holdfast.Tensor) else _holdfast.convert(values, kind)
    if kind is not None and tensor.dtype != kind:
        fail("E1101", f"`values` is {tensor.dtype.name}, expected {kind.name}")
    wanted = tensor.shape if shape is None else as_shape(shape)
    if not wanted.is_fully_defined():
        raise ValueError(f"`shape` is {wanted}, expected one without unknown sizes")
    if verify_shape and wanted != tensor.shape:
        raise TypeError(f"`values` has the shape {tensor.shape}, and `shape` says {wanted}")
    sizes = [int(size or 0) for size in wanted.as_list()]
    flat = np.asarray(tensor.numpy()).reshape(-1)
    missing = math.prod(sizes) - flat.size
    if missing < 0 or (missing and not flat.size):
        raise ValueError(f"`values` has {flat.size} elements, and `shape` {wanted} takes others")
    if missing:
        flat = np.concatenate([flat, np.repeat(flat[-1:], missing)])
    made = TensorProto(
        tensor.dtype.as_datatype_enum,
        TensorShapeProto([TensorShapeProto.Dim(size) for size in sizes]),
    )
    if tensor.dtype.name == "string":
        made.string_val = flat.tolist()
    else:
        made.tensor_content = flat.tobytes()
    return made


def make_ndarray(tensor: TensorProto) -> Any:
    """The NumPy array of a value in TensorFlow's format."""
    kind = as_dtype(tensor.dtype)
    shape = [d.size for d in tensor.tensor_shape.dim]
    if kind.name == "string":
        return np.array(tensor.string_val, object).reshape(shape)
    element = numpy_type(kind.name) if kind.name == "bfloat16" else kind.as_numpy_dtype
    return np.frombuffer(tensor.tensor_content, element).copy().reshape(shape)


NAMES = {"make_tensor_proto": make_tensor_proto, "make_ndarray": make_ndarray}
