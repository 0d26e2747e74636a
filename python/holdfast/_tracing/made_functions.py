"""Functions that a traced function makes and leaves behind: every call makes its own.

A lambda that sees a name of the traced function sees the tensor of that call. The same goes for a
method of an object that the trace made, and for a partial call.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from .locations import MISSING

__all__ = ["FUNCTIONS", "FunctionMaker", "parts_of_function"]

FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)

_IsMade = Callable[[Any], bool]


def parts_of_function(thing: Any, is_made: _IsMade) -> dict[Any, Any]:
    """What it holds that may differ from call to call; names of its own by their numbers."""
    if isinstance(thing, types.MethodType):
        return {"__func__": thing.__func__, "__self__": thing.__self__}
    if isinstance(thing, functools.partial):
        return {"func": thing.func, "args": thing.args, "keywords": thing.keywords}
    parts: dict[Any, Any] = {
        "__defaults__": thing.__defaults__,
        "__kwdefaults__": thing.__kwdefaults__,
        **vars(thing),
    }
    for i, cell in enumerate(thing.__closure__ or ()):
        if is_made(cell) and cell != types.CellType():
            parts[i] = cell.cell_contents
    return parts


class FunctionMaker:
    """Makes functions like one that a trace made; nothing of that one is kept."""

    def __init__(self, thing: Any, is_made: _IsMade) -> None:
        self.kind = type(thing)
        if not isinstance(thing, types.FunctionType):
            return
        self._code, self._space, self._name = thing.__code__, thing.__globals__, thing.__name__
        self._known = {
            name: getattr(thing, name)
            for name in ("__qualname__", "__module__", "__doc__", "__annotations__")
        }
        # Cells of the trace by their ids, as several functions may share one.
        self._cells = [id(each) if is_made(each) else each for each in thing.__closure__ or ()]

    def whole(self, parts: dict[Any, Any]) -> Any:
        """A method or a partial call, of its parts; None for a function, which `begin` makes."""
        if self.kind is types.MethodType:
            return types.MethodType(parts["__func__"], parts["__self__"])
        return functools.partial(parts["func"], *parts["args"], **parts["keywords"])

    def begin(self, first: Any, objects: dict[Any, Any]) -> Any:
        """A function without its parts; `first` is the trace's own, which its call may leave."""
        if first is not MISSING:
            for known, cell in zip(self._cells, first.__closure__ or (), strict=True):
                objects[known if isinstance(known, int) else id(cell)] = cell
            return first
        closure = tuple(
            objects.setdefault(each, types.CellType()) if isinstance(each, int) else each
            for each in self._cells
        )
        made = types.FunctionType(self._code, self._space, self._name, None, closure)
        for name, value in self._known.items():
            setattr(made, name, value)
        return made

    @staticmethod
    def put(function: Any, name: Any, value: Any) -> None:
        """Gives a function one of its parts."""
        if isinstance(name, int):
            function.__closure__[name].cell_contents = value
        else:
            setattr(function, name, value)
