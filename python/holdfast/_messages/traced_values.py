"""Which tensors are values from inside a traced function, handed out by a store."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._structures import nesting

__all__ = ["function_of", "note", "note_tensor"]


def note(value: Any, function: str) -> None:
    """Remembers that the tensors in `value` were computed inside `function`."""
    for leaf in nesting.flatten(value):
        if isinstance(leaf, _holdfast.Tensor):
            note_tensor(leaf, function)


def note_tensor(tensor: Any, function: str) -> None:
    """The same for one tensor."""
    _holdfast.note_inside(tensor, function)


def function_of(tensor: Any) -> str:
    """The function that a tensor was handed out of; "" if none."""
    return str(_holdfast.function_inside(tensor))
