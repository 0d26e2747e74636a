"""Which functions can be traced at all: no generators, no coroutines."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

from .converter import converter

__all__ = ["check_traceable", "inner_function"]

_UNTRACEABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def inner_function(function: Any) -> types.FunctionType | None:
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
    inner = inner_function(function)
    if inner is not None and inner.__code__.co_flags & _UNTRACEABLE:
        converter().refuse_untraceable(inner)
