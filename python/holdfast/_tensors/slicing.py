"""`variable[1:3].assign(x)`: a slice of a Variable that remembers where it was cut from."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from .tensor import Tensor

# Slices that are still alive, by the tensor's id: who they were cut from, and how.
_cut: dict[int, tuple[weakref.ref[Any], Any, Any]] = {}


def remember(tensor: Any, variable: Any, key: Any) -> Any:
    """Notes that `tensor` is `variable[key]`."""
    number: int = tensor._id

    def forget(_: weakref.ref[Any]) -> None:
        _cut.pop(number, None)

    _cut[number] = (weakref.ref(tensor, forget), variable, key)
    return tensor


class _Assign:
    """`assign` of a tensor that was cut from a Variable; other tensors have no such attribute."""

    def __get__(self, tensor: Any, kind: Any = None) -> Callable[..., Any]:
        if tensor is None:
            raise AttributeError("type object 'Tensor' has no attribute 'assign'")
        found = _cut.get(tensor._id)
        if found is None:
            raise AttributeError(
                "a Tensor is immutable and has no attribute 'assign'; a Variable has, and a slice "
                "taken of one"
            )
        _, variable, key = found

        def assign(value: Any, name: str | None = None) -> Any:
            """Puts `value` into the part of the Variable that this slice shows."""
            return variable._assign_part(key, value, name)

        return assign


def attach() -> None:
    """Puts `assign` onto the Tensor type."""
    setattr(Tensor, "assign", _Assign())  # noqa: B010
