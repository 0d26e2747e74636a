"""Expressions by which the user's line can name an object: what a fix may write there."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .diagnostics import user_frame
from .listed import SHOWN_ITEMS, key_text

__all__ = ["TRACED_METHODS", "name_of_scope", "visible_name"]

TRACED_METHODS = "_holdfast_functions"  # where an object keeps its traced methods

_DEPTH = 3  # attributes and items from a variable of the frame
_LOOKED_AT = 20_000

Wanted = Callable[[Any], bool]


def visible_name(wanted: Wanted, but: str = "") -> str:
    """The shortest expression, other than `but`, that means a wanted object in the user's frame.

    Names come first, then attributes and items: `g`, `self.graph`, `nets[0]["graph"]`. Nothing of
    the user's is run: attributes are looked up in `__dict__`. "" if no expression means it.
    """
    frame = user_frame()
    if frame is None:
        return ""
    level = list(_variables(frame))
    seen: set[int] = set()
    looked_at = 0
    for _ in range(_DEPTH + 1):
        below: list[tuple[str, Any]] = []
        for name, value in level:
            looked_at += 1
            if looked_at > _LOOKED_AT:
                return ""
            if name != but and wanted(value):
                return name
            if id(value) not in seen:
                seen.add(id(value))
                below.extend(_parts(name, value))
        level = below
    return ""


def _variables(frame: types.FrameType) -> Iterator[tuple[str, Any]]:
    """The local variables, then those of the functions around, then the globals."""
    spaces = [frame.f_locals]
    if frame.f_globals is not frame.f_locals:
        spaces.append(frame.f_globals)
    for space in spaces:
        for name, value in list(space.items()):
            if name.isidentifier() and name.strip("_") and not name.startswith("__"):
                yield name, value


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (types.ModuleType, type, types.FunctionType, str, bytes)):
        return
    if isinstance(value, (list, tuple)):
        for i, item in enumerate(value[:SHOWN_ITEMS]):
            yield f"{name}[{i}]", item
        return
    if isinstance(value, dict):
        for key, item in list(value.items())[:SHOWN_ITEMS]:
            if isinstance(key, (str, int)):
                yield f"{name}[{key_text(key)}]", item
        return
    space = getattr(type(value), "__dict__", {}) and getattr(value, "__dict__", None)
    if isinstance(space, Mapping):
        for method in getattr(space.get(TRACED_METHODS), "made", {}).values():
            yield f"{name}.{method.__name__}".removesuffix(".__call__"), method
        for key, item in list(space.items()):
            if isinstance(key, str) and key.isidentifier() and not key.startswith("_"):
                yield f"{name}.{key}", item


def name_of_scope(scope: int, name: str) -> str:
    """What the user's line can call the graph or the traced function that a scope stands for."""

    def wanted(value: Any) -> bool:
        found = getattr(type(value), "_stands_for", None)
        return found is not None and bool(found(value, scope))

    def is_traced(value: Any) -> bool:
        """A callable object is traced under the name of its class, which makes another one."""
        kind = type(value)
        return kind.__name__ == name and kind.__module__ != "builtins" and callable(value)

    return visible_name(wanted) or visible_name(is_traced)
