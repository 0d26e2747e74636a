"""Which tensors are values from inside a traced function, handed out by a store."""

from __future__ import annotations

import functools
import weakref
from typing import Any

from . import _holdfast, nest

__all__ = ["function_of", "note", "note_tensor"]

_known: dict[int, tuple[weakref.ref[Any], str]] = {}  # by the tensor's number, while it lives


def note(value: Any, function: str) -> None:
    """Remembers that the tensors in `value` were computed inside `function`."""
    for leaf in nest.flatten(value):
        if isinstance(leaf, _holdfast.Tensor):
            note_tensor(leaf, function)


def note_tensor(tensor: Any, function: str) -> None:
    """The same for one tensor."""
    number = tensor._id
    _known[number] = weakref.ref(tensor, functools.partial(_forget, number)), function


def _forget(number: int, _: weakref.ref[Any]) -> None:
    _known.pop(number, None)


def function_of(tensor: Any) -> str:
    """The function that a tensor was handed out of; "" if none."""
    found = _known.get(getattr(tensor, "_id", -1))
    return found[1] if found else ""
