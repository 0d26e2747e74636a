"""What Python adds to tensors: how they print, iterate, pickle and are made from other values."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _holdfast
from .._devices.device import device
from ..errors import DiagnosticError, fail
from . import dtypes, registry, symbols
from .composite import Composite
from .constants import graph_outside, node_of_constant, plain_constant
from .dtypes import DType, as_dtype
from .shape import TensorShape, TensorSpec, as_shape

__all__ = [
    "Reference",
    "Tensor",
    "UnconnectedGradients",
    "constant",
    "convert_to_tensor",
    "get_static_value",
    "is_tensor",
    "numpy_text",
    "type_spec_from_value",
]

Tensor = _holdfast.Tensor


class UnconnectedGradients(enum.Enum):
    """What the gradient of something the target does not depend on is."""

    NONE = "none"
    ZERO = "zero"


class Reference:
    """A hashable stand-in for a tensor or a Variable: equal when it is the same one."""

    __slots__ = ("__weakref__", "_key", "_wrapped")

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped
        self._key = wrapped._id if isinstance(wrapped, Tensor) else id(wrapped)

    def deref(self) -> Any:
        """What this refers to."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            return NotImplemented
        return type(self._wrapped) is type(other._wrapped) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


# Printing.


def numpy_text(tensor: Any, is_repr: bool = False) -> str:
    """The value as NumPy would print it."""
    if tensor.dtype.name == "resource":
        return "<unprintable>"
    if tensor.dtype.name == "variant":
        return "<TensorList>"
    value = tensor.numpy() if has_numpy(tensor.dtype) else as_float32(tensor)
    if tensor.ndim == 0:  # NumPy's repr of a scalar names its type; TensorFlow's does not
        return repr(value) if isinstance(value, (bytes, str)) else str(value)
    text = repr(value) if is_repr else str(value)
    return text if has_numpy(tensor.dtype) else text.replace("dtype=float32", "dtype=bfloat16")


def has_numpy(dtype: DType) -> bool:
    """Whether NumPy can hold such elements; bfloat16 only where ml_dtypes is installed."""
    return dtype.name != "bfloat16" or dtypes.numpy_type("bfloat16") is not None


def as_float32(tensor: Any) -> Any:
    return registry.function("cast")(tensor, dtypes.float32).numpy()


def _repr(self: Any) -> str:
    if symbols.is_symbol(self):
        return f"<tf.Tensor {symbols.describe_symbol(self)}>"
    if self.dtype.name == "resource":
        return "<tf.Tensor: shape=(), dtype=resource>"
    text = numpy_text(self, is_repr=True)
    gap = "\n" if "\n" in text else ""
    held = "value" if self.dtype.name == "variant" else "numpy"
    return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, {held}={gap}{text}>"


def _str(self: Any) -> str:
    if symbols.is_symbol(self):
        return symbols.describe_symbol(self)
    text = numpy_text(self)
    gap = "\n" if "\n" in text else ""
    return f"tf.Tensor({gap}{text}, shape={self.shape}, dtype={self.dtype.name})"


def _format(self: Any, spec: str) -> str:
    if symbols.is_symbol(self) and not _holdfast.has_value(self):
        if not spec:
            return _str(self)
        self = _holdfast.asked_value(self, "format")
    if self.dtype.name in ("resource", "variant"):
        return format(numpy_text(self), spec)
    return format(self.numpy(), spec)


def _repr_html(self: Any) -> str:
    import html

    return f"<pre>{html.escape(repr(self))}</pre>"


# As a Python and a NumPy value.


def _iter(self: Any) -> Iterator[Any]:
    if self.shape.rank == 0:
        raise TypeError("a scalar tensor has no rows to go through")
    if symbols.is_symbol(self) and not _holdfast.scope_of(self)["open"]:
        self = _holdfast.asked_value(self, "iter")
    return (self[i] for i in range(len(self)))


def array_of(self: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    if symbols.is_symbol(self) and _holdfast.scope_of(self)["open"]:
        from . import numpy_calls

        numpy_calls.refuse(self)
    value = np.asarray(self.numpy(), dtype=object if self.dtype.name == "string" else None)
    return value if dtype is None else value.astype(dtype, copy=False)


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    from . import numpy_calls

    return numpy_calls.array_ufunc(self, ufunc, method, *inputs, **kwargs)


def _array_function(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    from . import numpy_functions

    return numpy_functions.array_function(function, args, kwargs)


def _complex(self: Any) -> complex:
    if self.ndim != 0:
        raise TypeError(f"`complex` of a tensor of shape {self.shape}, expected a scalar")
    return complex(self.numpy())


def _round(self: Any, digits: int | None = None) -> Any:
    if digits:
        raise TypeError("round() of a tensor takes no number of digits")
    return registry.function("round")(self)


def _reduce(self: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    value = self.numpy() if has_numpy(self.dtype) else as_float32(self)
    return _restore, (value, self.dtype.name, tuple(self.shape))


def _restore(value: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    return constant(value, dtype, shape)


def _self(self: Any, *_: Any) -> Any:
    return self  # immutable, so a copy is itself


# Methods.


def _get_shape(self: Any) -> TensorShape:
    """The shape."""
    shape: TensorShape = self.shape
    return shape


def _set_shape(self: Any, shape: Any) -> None:
    """Says what is known of the shape; ValueError where it does not fit what is known already.

    A symbol has the narrower shape from here on, and its value is checked when it runs.
    """
    wanted = as_shape(shape)
    if not self.shape.is_compatible_with(wanted):
        fail("E1102", f"`set_shape` got {wanted}, and the tensor's shape is {self.shape}")
    if self._symbolic and wanted.rank is not None and self.shape.merge_with(wanted) != self.shape:
        _holdfast.set_shape(self, [-1 if size is None else size for size in wanted.as_list()])


def _ref(self: Any) -> Reference:
    """A hashable reference to this tensor."""
    return Reference(self)


def _on(kind: str) -> Callable[..., Any]:
    def move(self: Any, gpu_index: int = 0) -> Any:
        """A copy of the tensor on that device."""
        with device(f"/{kind}:{gpu_index}"):
            return registry.function("identity")(self)

    return move


class Undefined:
    """An attribute of graph tensors that eager ones do not have."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, kind: Any = None) -> Any:
        if tensor is None:
            return self
        raise AttributeError(f"an eager tensor has no `{self.name}`: only those of a graph do")


class _NumPyOnly(Undefined):
    """An attribute of NumPy arrays that tensors do not have."""

    def __get__(self, tensor: Any, kind: Any = None) -> Any:
        if tensor is None:
            return self
        raise AttributeError(
            f"a tensor has no attribute {self.name!r}, NumPy's arrays have: write "
            f"`.numpy().{self.name}`, or call the function of `tf` that does the same"
        )


def attach() -> None:
    """Puts all of this onto the Tensor type."""
    for name, value in {
        "__repr__": _repr,
        "__str__": _str,
        "__format__": _format,
        "_repr_html_": _repr_html,
        "__iter__": _iter,
        "__array__": array_of,
        "__array_ufunc__": _array_ufunc,
        "__array_function__": _array_function,
        "__array_priority__": 100,
        "__complex__": _complex,
        "__round__": _round,
        "__reduce__": _reduce,
        "__copy__": _self,
        "__deepcopy__": _self,
        "get_shape": _get_shape,
        "set_shape": _set_shape,
        "ref": _ref,
        "result": _self,
        "experimental_ref": _ref,
        "cpu": _on("CPU"),
        "gpu": _on("GPU"),
        "backing_device": property(lambda self: self.device),
    }.items():
        setattr(Tensor, name, value)
    for name in ("T", "astype", "ravel", "transpose", "reshape", "clip", "size", "tolist", "data"):
        setattr(Tensor, name, _NumPyOnly(name))


# Making tensors.


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Any:
    """`value` as a tensor: a number, a nested list, an array, a Variable or a tensor."""
    if dtype is None and dtype_hint is not None and not isinstance(value, Tensor):
        try:
            return _as_node(_holdfast.convert(value, as_dtype(dtype_hint)), value, name)
        except (DiagnosticError, TypeError, ValueError):
            pass  # a hint is only a wish
    made = _holdfast.convert(value, None if dtype is None else as_dtype(dtype))
    return _as_node(made, value, name)


def _as_node(made: Any, value: Any, name: str | None) -> Any:
    """In a graph that is written by hand, a constant is a node with a name."""
    same = isinstance(value, Tensor) and made.dtype == value.dtype
    if made is value or made._symbolic:
        return value if same else made
    graph = _holdfast.current_graph()
    if graph is None:
        return value if same else made
    return graph._constant(made, name or "Const")


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """A tensor that holds `value`, repeated to `shape` if it is a single number."""
    if shape is None:
        return plain_constant(value, dtype, name)
    graph = _holdfast.current_graph()
    if graph is not None:
        with graph_outside():
            made = constant(value, dtype, shape)
        return node_of_constant(graph, made, name)
    made = plain_constant(value, dtype)
    wanted = as_shape(shape)
    if made.shape == wanted:
        return made
    count = wanted.num_elements()
    if count is None:
        fail("E1102", f"`constant` got the shape {wanted}, expected one that is fully known")
    have = made.shape.num_elements()
    if have == count:
        return registry.function("reshape")(made, wanted)
    if have == 1:
        return registry.function("fill")(wanted, registry.function("reshape")(made, []))
    fail(
        "E1102",
        f"`constant` got {have} elements for the shape {wanted}, which has {count}",
        "the values must fill the shape exactly, unless there is a single one to repeat",
        op="Const",
    )


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, or a Variable or composite that stands for one."""
    return isinstance(x, (Tensor, _holdfast.VariableBase, Composite))


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as NumPy has it; None of a Variable.

    Of a symbol what the trace knows: small integers that come from shapes. With `partial`, None
    stands for elements that it does not know.
    """
    if not isinstance(tensor, Tensor):
        return None if isinstance(tensor, _holdfast.VariableBase) else tensor
    if not symbols.is_symbol(tensor):
        return tensor.numpy()
    numbers = _holdfast.known_numbers(tensor)
    if numbers is None or (None in numbers and not partial):
        return None
    dtype = object if None in numbers else tensor.dtype.as_numpy_dtype
    sizes: list[Any] = tensor.shape.as_list()  # all known, or there were no numbers
    found = np.array(numbers, dtype).reshape(sizes)
    return found if tensor.shape.rank else found[()]


def type_spec_from_value(value: Any) -> Any:
    """The specification that exactly fits `value`."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    spec = getattr(value, "_type_spec", None)
    if spec is not None:
        return spec
    try:
        return type_spec_from_value(_holdfast.convert(value))
    except DiagnosticError as error:
        raise TypeError(f"no TypeSpec fits what is of type {type(value).__name__}") from error
