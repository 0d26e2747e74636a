"""The datasets that a function uses: what it keeps for them belongs to a position."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

from .. import _holdfast
from .._tracing.function import Function

__all__ = ["datasets_in", "global_names"]


def datasets_in(function: Any) -> list[Any]:
    """Those in its closure, its defaults, its object and the globals it names, each once."""
    walk = _Walk()
    walk.value(function)
    return walk.found


class _Walk:
    def __init__(self) -> None:
        self.found: list[Any] = []
        self._seen: set[int] = set()

    def value(self, value: Any) -> None:
        if isinstance(value, _holdfast.DatasetBase):
            if id(value) not in self._seen:
                self._seen.add(id(value))
                self.found.append(value)
            return
        if not isinstance(value, _MAY_HOLD) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        for part in _parts(value):
            self.value(part)


_MAY_HOLD = (
    list,
    tuple,
    dict,
    Function,
    functools.partial,
    types.MethodType,
    types.FunctionType,
)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, Function):
        yield value.python_function
    elif isinstance(value, functools.partial):
        yield value.func
        yield from value.args
        yield from value.keywords.values()
    elif isinstance(value, types.MethodType):
        yield value.__func__
        yield from getattr(value.__self__, "__dict__", {}).values()
    else:
        yield from _of_function(value)


def _of_function(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # nothing is in it yet
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    if (function.__module__ or "").partition(".")[0] == __name__.partition(".")[0]:
        return  # our own modules hold nothing of the program's
    for name in global_names(function.__code__):
        if name in function.__globals__:
            yield function.__globals__[name]


def global_names(code: types.CodeType) -> dict[str, None]:
    """The globals that code reads, with the functions in it, each once: no names of attributes."""
    found = {
        each.argval: None
        for each in dis.get_instructions(code)
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.update(global_names(constant))
    return found
