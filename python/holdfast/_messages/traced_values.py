"""Which tensors are values from inside a traced function, handed out by a store."""

from __future__ import annotations

from typing import Any

from .. import _holdfast, nest

__all__ = ["function_of", "note", "note_tensor"]

# By the tensor's number, which no other ever has. Only messages ask, and of tensors of late: a
# weak reference to each would cost more than the store.
_known: dict[int, str] = {}
_MOST = 4096


def note(value: Any, function: str) -> None:
    """Remembers that the tensors in `value` were computed inside `function`."""
    for leaf in nest.flatten(value):
        if isinstance(leaf, _holdfast.Tensor):
            note_tensor(leaf, function)


def note_tensor(tensor: Any, function: str) -> None:
    """The same for one tensor."""
    _known[tensor._id] = function
    if len(_known) > _MOST:
        for oldest in list(_known)[: _MOST // 2]:
            _known.pop(oldest, None)


def function_of(tensor: Any) -> str:
    """The function that a tensor was handed out of; "" if none."""
    return _known.get(getattr(tensor, "_id", -1), "")
