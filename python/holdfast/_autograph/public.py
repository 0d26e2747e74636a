"""The functions of `tf.autograph`."""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any, NoReturn

from .._tracing.traceable import inner_function
from ..errors import unsupported
from . import messages
from .conversion import convert, converted_form
from .features import check_features
from .finding import find

__all__ = ["refuse_untraceable", "to_code", "to_graph", "trace"]

_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_AWAITS = (ast.Await, ast.AsyncFor, ast.AsyncWith)
_YIELDS = (ast.Yield, ast.YieldFrom)


def refuse_untraceable(function: types.FunctionType) -> NoReturn:
    """E0603, with the line that makes `function` a generator or a coroutine."""
    code = function.__code__
    coroutine = bool(code.co_flags & _COROUTINE)
    construct, loc = ("async" if coroutine else "yield"), None
    found = find(code, function.__globals__)
    if found is not None:
        node = _first(found.node, _AWAITS if coroutine else _YIELDS)
        if isinstance(node, ast.Await):
            construct = "await"
        loc = messages.construct_loc(code.co_filename, code.co_qualname, node or found.node)
    messages.refuse_function(function, construct, loc)


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
    check_features("experimental_optional_features", experimental_optional_features)
    _check_recursive("to_graph", recursive)
    return convert(entity)


def _check_recursive(function: str, recursive: bool) -> None:
    if not recursive:
        unsupported(
            f"`{function}` with `recursive=False` is not supported",
            "what a converted function calls is converted when it is called.",
            fix="mark what has to stay as it is with `tf.autograph.experimental.do_not_convert`",
        )


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source of `entity`, converted: what runs, with `hf__` standing for the hooks."""
    _check_recursive("to_code", recursive)
    check_features("experimental_optional_features", experimental_optional_features)
    inner = inner_function(entity)
    form = None if inner is None else converted_form(inner.__code__, inner.__globals__)
    if form is None:
        raise ValueError(f"{entity!r} has no source that could be converted")
    return form.source + "\n"


def trace(*args: Any) -> None:
    """Prints while tracing; a graph that runs prints with `tf.print`."""
    print(*args)
