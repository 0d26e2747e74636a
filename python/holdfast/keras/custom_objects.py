"""Classes and functions that a program lends to the reading of configs, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from .. import _holdfast
from ..errors import fail

__all__ = ["CustomObjectScope", "custom_object_scope", "get_custom_objects", "register"]


class _AsClass:
    """A function where the registry wants a class: what it makes is the function itself."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def from_config(self, config: dict[str, Any]) -> Any:
        """The function. It has no config."""
        return self._function


def register(name: str, value: Any) -> None:
    """Makes a class or a function known to C++ under a name."""
    kind: Any = value if isinstance(value, type) else _AsClass(value)
    _holdfast.register_class(name, kind)


class _CustomObjects(dict[str, Any]):
    """The program's own names. C++ knows them too, but for those that are ours: `Dense`."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            fail("E1104", f"a custom object has the name {name!r}, expected a text")
        if not callable(value):
            fail(
                "E1104",
                f"the custom object `{name}` is {value!r}, expected a class or a function",
            )
        if name in self._told or not _holdfast.has_class(name):
            register(name, value)
            self._told.add(name)
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        if name in self._told:
            self._told.remove(name)
            _holdfast.forget_class(name)

    def update(self, *args: Any, **kwargs: Any) -> None:
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, *default: Any) -> Any:
        if name not in self and default:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        for name in list(self):
            del self[name]


_OBJECTS = _CustomObjects()


def get_custom_objects() -> dict[str, Any]:
    """The dict of the program's own names; what is put there is known from then on."""
    return _OBJECTS


class CustomObjectScope:
    """Names that are known inside of a `with`."""

    def __init__(self, custom_objects: Mapping[str, Any]) -> None:
        self.custom_objects = dict(custom_objects or {})
        self._before: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._before = dict(_OBJECTS)
        try:
            _OBJECTS.update(self.custom_objects)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(_OBJECTS):
            if name not in self._before:
                del _OBJECTS[name]
        for name, value in self._before.items():
            if _OBJECTS.get(name) is not value:
                _OBJECTS[name] = value


custom_object_scope = CustomObjectScope
