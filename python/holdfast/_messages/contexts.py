"""Contexts written as generators, whose frames tracebacks do not show."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

from .. import _holdfast

__all__ = ["contextmanager"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


class _Context(contextlib._GeneratorContextManager[_T]):
    """The standard library's context; its frames are ours, as users see it."""

    __enter__ = _holdfast.PublicFunction(contextlib._GeneratorContextManager.__enter__)
    __exit__ = _holdfast.PublicFunction(contextlib._GeneratorContextManager.__exit__)


def contextmanager(
    function: Callable[_P, Iterator[_T]],
) -> Callable[_P, contextlib._GeneratorContextManager[_T]]:
    """As `contextlib.contextmanager`: a `with` statement runs the generator around its body."""

    @functools.wraps(function)
    def made(*args: _P.args, **kwargs: _P.kwargs) -> Any:
        made_by: Any = function
        return _Context(made_by, args, kwargs)

    return made
