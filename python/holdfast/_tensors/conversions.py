"""Conversions of a program's own classes to tensors: `tf.register_tensor_conversion_function`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _holdfast
from ..errors import fail

__all__ = ["register_tensor_conversion_function"]

# By priority, then by age: (priority, types, function).
_registered: list[tuple[int, tuple[type, ...], Callable[..., Any]]] = []

_OURS = (int, float, complex, str, bytes, list, tuple, np.ndarray, np.generic, _holdfast.Tensor)


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Lets `conversion_func(value, dtype, name, as_ref)` convert the objects of a class.

    It gives a tensor, or NotImplemented where another function should try; lower priorities go
    first. What Python's numbers, lists and NumPy's arrays become is not open to change.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(kind, type) for kind in types):
        fail("E1104", "`base_type` has what is no class, expected a class or a tuple of classes")
    if any(issubclass(kind, _OURS) for kind in types):
        fail(
            "E1104",
            "`base_type` has a class whose conversion is not open to change",
            "what Python's numbers, lists and NumPy's arrays become is the same everywhere",
            fix="give your own class",
        )
    if not callable(conversion_func):
        fail(
            "E1104",
            f"`conversion_func` is of type {type(conversion_func).__name__}, expected a function",
        )
    _registered.append((priority, types, conversion_func))
    _registered.sort(key=lambda entry: entry[0])
    every = tuple(kind for _, kinds, _ in _registered for kind in kinds)
    _holdfast.set_conversion(_convert, every)


def _convert(value: Any, dtype: Any) -> Any:
    """Asked by the binding for each object of a registered class."""
    for _, types, function in _registered:
        if not isinstance(value, types):
            continue
        made = function(value, dtype=dtype, name=None, as_ref=False)
        if made is NotImplemented:
            continue
        if not isinstance(made, _holdfast.Tensor):
            fail(
                "E1104",
                f"the conversion of {type(value).__name__} gave {type(made).__name__}, no tensor",
                "a function given to `register_tensor_conversion_function` makes tensors",
            )
        if dtype is not None and made.dtype != dtype:
            fail(
                "E1101",
                f"the conversion of {type(value).__name__} gave {made.dtype.name}, "
                f"expected {dtype.name}",
            )
        return made
    return NotImplemented
