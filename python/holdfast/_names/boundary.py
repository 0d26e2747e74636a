"""Where the user's code meets ours: what users call hides our frames from tracebacks.

A function of Python's stays in the traceback of what it raises. Each function and method that
users call is therefore wrapped in a `PublicFunction`, which has no frame and removes ours. Inside
the package, functions are called as they are.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _holdfast
from .._messages.calls import refuse_call

__all__ = ["close", "is_ours", "prepare"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NAME = __name__.partition(".")[0]
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = ("site-packages", "dist-packages")
_closed: set[type] = set()

# Where the classes are of objects that users hold, also of those that have no public name.
_HANDED = tuple(
    f"{_NAME}.{path}"
    for path in (
        *(
            "_devices.",
            "_flow.",
            "_gradients.",
            "_graphs.",
            "_names.",
            "_records.",
            "_tensors.",
            "_variables.",
        ),
        *("_v1.", "_tracing.concrete", "_tracing.function", "_tracing.methods"),
    )
)


def prepare() -> None:
    """Tells the binding which files are ours, and which we call."""
    numpy = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
    installed = tuple(_LIBRARY + name for name in _INSTALLED)
    staging, standard = (_PACKAGE + "_autograph" + os.sep,), (_LIBRARY, "<frozen ")
    _holdfast.set_frames(staging, (_PACKAGE,), (numpy,), installed, standard, refuse_call)


def _public_modules(below: str = "") -> list[types.ModuleType]:
    """The modules that users import, of the whole package or below a dotted path."""
    start = f"{_NAME}.{below}" if below else _NAME
    return [
        module
        for name, module in list(sys.modules.items())
        if (name == start or name.startswith(f"{start}."))
        and not any(part.startswith("_") for part in name.split("."))
    ]


def is_ours(kind: type) -> bool:
    """Whether a class is one of the package's, and not of the program that uses it."""
    return kind.__module__.partition(".")[0] == _NAME


def _ours(value: Any) -> bool:
    return isinstance(value, types.FunctionType) and value.__code__.co_filename.startswith(_PACKAGE)


def _public(function: Any) -> Any:
    return _holdfast.PublicFunction(function) if _ours(function) else function


def _wrapped_method(value: Any) -> Any:
    inner = _public(value.__func__)
    return value if inner is value.__func__ else type(value)(inner)


def _wrapped_property(value: Any) -> Any:
    get, put, drop = value.fget, value.fset, value.fdel
    if not (_ours(get) or _ours(put) or _ours(drop)):
        return value
    return property(_public(get), _public(put), _public(drop), value.__doc__)


# What stands in a class in place of a value of these types; the others stay.
_WRAPPED: dict[type, Callable[[Any], Any]] = {
    types.FunctionType: _public,
    staticmethod: _wrapped_method,
    classmethod: _wrapped_method,
    property: _wrapped_property,
}


# Called by Python while classes are made, or by us alone.
_LEFT = frozenset({"__init_subclass__", "__class_getitem__", "__set_name__", "__prepare__"})
_ENTRIES = frozenset({"_slow_call"})  # what the binding calls for a user


def _close_class(kind: type) -> None:
    """Wraps what users call of a class of ours, and of the classes it stands on."""
    if kind in _closed:  # with what it stands on
        return
    for each in kind.__mro__:
        if each in _closed or not is_ours(each):
            continue
        _closed.add(each)
        for name, value in list(vars(each).items()):
            wrap = _WRAPPED.get(type(value))
            if wrap is None or name in _LEFT:
                continue
            if name[0] == "_" and name[-2:] != "__" and name not in _ENTRIES:
                continue
            found = wrap(value)
            if found is not value:
                setattr(each, name, found)


def close(below: str = "") -> None:
    """Wraps what users meet: the functions and classes they can name, and classes they are handed.

    `below` is the dotted path of a part that is loaded late; what it needed is wrapped with it.
    Functions that are also found by a text are wrapped where they are made, to be the same.
    """
    for module in _public_modules(below):
        for name, value in list(vars(module).items()):
            if isinstance(value, type) and not issubclass(value, BaseException):
                _close_class(value)
            elif _ours(value) and (not name.startswith("_") or name == "__getattr__"):
                setattr(module, name, _holdfast.PublicFunction(value))
    for path, module in list(sys.modules.items()):
        if path.startswith(_HANDED):
            for value in list(vars(module).values()):
                if isinstance(value, type):
                    _close_class(value)
