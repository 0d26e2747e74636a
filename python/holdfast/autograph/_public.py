"""The functions of `tf.autograph`."""

from __future__ import annotations

import ast
import functools
import inspect
import types
from typing import Any

from ..errors import unsupported
from . import _messages
from ._conversion import convert, converted_form
from ._finding import find

__all__ = ["check_traceable", "set_verbosity", "to_code", "to_graph", "trace"]

_GENERATOR = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_AWAITS = (ast.Await, ast.AsyncFor, ast.AsyncWith)
_YIELDS = (ast.Yield, ast.YieldFrom)


def _inner(function: Any) -> types.FunctionType | None:
    """The Python function in a method, a partial or an object with a `__call__`."""
    while True:
        if isinstance(function, types.FunctionType):
            return function
        if isinstance(function, types.MethodType):
            function = function.__func__
        elif isinstance(function, functools.partial):
            function = function.func
        elif isinstance(getattr(function, "python_function", None), types.FunctionType):
            function = function.python_function
        else:
            called = getattr(type(function), "__call__", None)  # noqa: B004
            return called if isinstance(called, types.FunctionType) else None


def check_traceable(function: Any) -> None:
    """E0603 if `function` is a generator or a coroutine, which no graph can be."""
    inner = _inner(function)
    if inner is None or not inner.__code__.co_flags & (_GENERATOR | _COROUTINE):
        return
    code = inner.__code__
    coroutine = bool(code.co_flags & _COROUTINE)
    construct, loc = ("async" if coroutine else "yield"), None
    found = find(code, inner.__globals__)
    if found is not None:
        node = _first(found.node, _AWAITS if coroutine else _YIELDS)
        if isinstance(node, ast.Await):
            construct = "await"
        loc = _messages.construct_loc(code.co_filename, code.co_qualname, node or found.node)
    _messages.refuse_function(inner, construct, loc)


def _first(function: ast.AST, kinds: tuple[type[ast.AST], ...]) -> ast.AST | None:
    """The first node of these kinds in a function itself."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, kinds):
            return node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting = [*ast.iter_child_nodes(node), *waiting]
    return None


def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """`entity`, converted: what it does with tensors it does in a graph too."""
    if not recursive:
        unsupported(
            "`to_graph` with `recursive=False` is not supported",
            "what a converted function calls is converted when it is called.",
            fix="mark what has to stay as it is with `tf.autograph.experimental.do_not_convert`",
        )
    return convert(entity)


def to_code(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> str:
    """The source of `entity`, converted: what runs, with `ag__` standing for the hooks."""
    inner = _inner(entity)
    form = None if inner is None else converted_form(inner.__code__, inner.__globals__)
    if form is None:
        raise ValueError(f"{entity!r} has no source that could be converted")
    return form.source + "\n"


def trace(*args: Any) -> None:
    """Prints while tracing; a graph that runs prints with `tf.print`."""
    print(*args)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """TensorFlow's logging of conversions. Nothing is logged here: errors tell the whole story."""
    if not isinstance(level, int):
        raise TypeError(f"a verbosity is an int, got {level!r}")
