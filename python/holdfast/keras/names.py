"""Scopes of names, and the version of Keras whose names these are."""

from __future__ import annotations

from typing import Any

from .._graphs.name_scope import name_scope as _scope
from ..errors import fail, unsupported

__all__ = ["VERSION", "checked_name", "name_scope", "version"]

VERSION = "3.15.1"


def version() -> str:
    """The version of Keras that this stands in for."""
    return VERSION


def name_scope(name: str, **kwargs: Any) -> Any:
    """A scope in which ops and variables have a name before their own."""
    if kwargs:
        unsupported(
            f"`name_scope` with `{next(iter(kwargs))}` is not supported",
            "a scope is known by its name alone",
        )
    if not isinstance(name, str) or "/" in name:
        fail("E1104", f"`name` of `name_scope` is {name!r}, expected a text without `/`")
    return _scope(name)


def checked_name(name: str | None, kind: type) -> str:
    """A name for a layer; empty where C++ is to find one."""
    if name is None or name == "":
        return ""
    if not isinstance(name, str) or "/" in name:
        fail(
            "E1104",
            f"`{kind.__name__}`: `name` is {name!r}, expected a string without `/`",
            "names of layers become parts of names of variables",
        )
    return name
