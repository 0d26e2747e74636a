"""Lists and dicts that tell when something is put into them, while a checkpoint waits for it."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

__all__ = ["waiting_container"]


class _Telling:
    """What both kinds do: change themselves and what the program gave, then tell their owner."""

    _given: Any
    _owner: weakref.ref[Any]
    _tell: Callable[[Any], None]


def _telling(kind: type, name: str) -> Any:
    change = getattr(kind, name)

    @functools.wraps(change)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        out = change(self, *args, **kwargs)
        self._follow()
        owner = self._owner()
        if owner is not None:
            self._tell(owner)
        return out

    return method


class ListWrapper(_Telling, list):  # type: ignore[type-arg]
    """A list of which a checkpoint hears."""

    def _follow(self) -> None:
        self._given[:] = self

    def __repr__(self) -> str:
        return f"ListWrapper({super().__repr__()})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (list(self),)


class DictWrapper(_Telling, dict):  # type: ignore[type-arg]
    """A dict of which a checkpoint hears."""

    def _follow(self) -> None:
        self._given.clear()
        self._given.update(self)

    def __repr__(self) -> str:
        return f"DictWrapper({super().__repr__()})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (dict(self),)


for _name in (
    *("append", "extend", "insert", "__setitem__", "__iadd__", "__delitem__", "pop"),
    *("remove", "clear", "reverse", "sort", "__imul__"),
):
    setattr(ListWrapper, _name, _telling(list, _name))
for _name in (
    *("update", "setdefault", "__setitem__", "__ior__", "__delitem__", "pop", "popitem"),
    "clear",
):
    setattr(DictWrapper, _name, _telling(dict, _name))


def waiting_container(holder: Any, name: str, value: Any, tell: Callable[[Any], None]) -> Any:
    """Puts a list or dict that tells in the place of a plain one that an object holds."""
    attributes = getattr(holder, "__dict__", None)
    if attributes is None or attributes.get(name) is not value:
        return value
    if type(value) is list:
        made: Any = ListWrapper(value)
    elif type(value) is dict:
        made = DictWrapper(value)
    else:
        return value
    made._given, made._owner, made._tell = value, weakref.ref(holder), tell
    attributes[name] = made
    return made
