"""Functions that use tensors of a graph, made anew with values in their place.

What a function uses is what its closure and its defaults hold: tensors, structures of them, and
other such functions.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from .._structures import nesting
from .._tensors.symbols import is_symbol
from .._tracing.function import Function

__all__ = ["rebound", "symbols_in"]


def symbols_in(function: Any) -> list[Any]:
    """The tensors of a graph that a function uses, each once."""
    found: dict[int, Any] = {}

    def note(symbol: Any) -> Any:
        found.setdefault(id(symbol), symbol)
        return symbol

    _Walk(note).function(function)
    return list(found.values())


def rebound(function: Callable[..., Any], symbols: list[Any], values: list[Any]) -> Any:
    """The function with values in place of such tensors."""
    by_id = {id(symbol): value for symbol, value in zip(symbols, values, strict=True)}
    return _Walk(lambda symbol: by_id[id(symbol)]).function(function)


class _Walk:
    """Copies of functions in which `change` of each symbol stands in its place."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self._change = change
        self._seen: dict[int, Any] = {}

    def function(self, function: Any) -> Any:
        if isinstance(function, Function):
            return self.function(function.python_function)
        if isinstance(function, functools.partial):
            inner = self.function(function.func)
            args = map(self._value, function.args)
            named = {key: self._value(each) for key, each in function.keywords.items()}
            return functools.partial(inner, *args, **named)
        if isinstance(function, types.MethodType):
            return types.MethodType(self.function(function.__func__), function.__self__)
        return self._plain(function) if isinstance(function, types.FunctionType) else function

    def _plain(self, function: types.FunctionType) -> Any:
        if id(function) in self._seen:
            return self._seen[id(function)]
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        copy: Any = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, None, cells or None
        )
        self._seen[id(function)] = copy
        functools.update_wrapper(copy, function)
        del copy.__wrapped__
        copy.__defaults__ = tuple(map(self._value, function.__defaults__ or ())) or None
        named = function.__kwdefaults__
        copy.__kwdefaults__ = named and {key: self._value(each) for key, each in named.items()}
        for cell, given in zip(cells, function.__closure__ or (), strict=True):
            try:
                held = given.cell_contents
            except ValueError:  # nothing is in it yet
                continue
            cell.cell_contents = self._value(held)
        return copy

    def _value(self, value: Any) -> Any:
        if isinstance(value, (Function, functools.partial, types.MethodType, types.FunctionType)):
            return self.function(value) if _may_use(value) else value
        if type(value) not in (tuple, list, dict) and not is_symbol(value):
            return value
        flat = nesting.flatten(value)
        if not any(map(is_symbol, flat)):
            return value
        known = [self._change(leaf) if is_symbol(leaf) else leaf for leaf in flat]
        return nesting.pack_sequence_as(value, known)


def _may_use(value: Any) -> bool:
    """Whether a function is the program's own, which may hold tensors of its graph."""
    plain = value.python_function if isinstance(value, Function) else value
    module = getattr(plain, "__module__", None) or ""
    return module.partition(".")[0] != __name__.partition(".")[0]
