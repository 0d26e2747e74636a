"""Traced functions as methods: each instance has its own, and holds it itself.

The instance and its function refer to each other and to nothing that lives longer, so both go when
the last reference to the instance does, as soon as Python next looks for cycles.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._messages.visible import TRACED_METHODS

__all__ = ["bound"]


class _Functions:
    """The traced methods of one object. A copy of the object begins without any."""

    __slots__ = ("made", "owner")

    def __init__(self, owner: int = 0) -> None:
        self.owner = owner  # the object's id; a shallow copy of it brings this record along
        self.made: dict[Any, Any] = {}

    def __copy__(self) -> _Functions:
        return _Functions()

    def __deepcopy__(self, _: Any) -> _Functions:
        return _Functions()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Functions, ()


_holdfast.set_method_records(TRACED_METHODS, _Functions)  # C finds there what was made


def _functions_of(instance: Any) -> _Functions | None:
    space = getattr(instance, "__dict__", None)
    if space is None:
        return None
    found = space.get(TRACED_METHODS)
    if isinstance(found, _Functions) and found.owner == id(instance):
        return found
    made = _Functions(id(instance))
    if isinstance(instance, type):
        type.__setattr__(instance, TRACED_METHODS, made)
        return made
    space[TRACED_METHODS] = made
    return made


def bound(function: Any, instance: Any, make: Callable[[], Any]) -> Any:
    """The traced function of one instance, made when it is first asked for.

    An object without a `__dict__` has no room for it; there it is an argument like others.
    """
    functions = _functions_of(instance)
    if functions is None:
        return types.MethodType(function, instance)
    found = functions.made.get(function)
    return functions.made.setdefault(function, make()) if found is None else found
