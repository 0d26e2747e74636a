"""`tf.name_scope`: prefixes for the names of variables and ops."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from .. import _holdfast
from .._messages.calls import refuse_call
from ..errors import fail

__all__ = ["name_scope", "named_ops", "scoped"]

_F = TypeVar("_F", bound=Callable[..., Any])


class name_scope:
    """A context in which names begin with `name/`.

    A name that ends with a slash is taken as it is; an empty one means no prefix. In a graph a
    name that is taken gets a number.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            fail("E1104", f"`name` is of type {type(name).__name__}, expected a string")
        self._name = name
        self._before: list[str] = []

    @property
    def name(self) -> str:
        """The name, as given."""
        return self._name

    def __enter__(self) -> str:
        around: str = _holdfast.get_name_scope()
        if _holdfast.current_graph() is not None:
            _check(self._name, around)
        scope: str = _holdfast.name_scope_prefix(self._name)
        self._before.append(around)
        _holdfast.set_name_scope(scope)
        return scope

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _holdfast.set_name_scope(self._before.pop())


_INNER = re.compile(r"[A-Za-z0-9_.\\/>-]*")
_ROOT = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")


def _check(name: str, around: str) -> None:
    """Refuses what can be no part of the names of a graph's ops."""
    fits = _INNER if around or not name else _ROOT
    if not fits.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name for a scope of a graph: letters, digits and any of `_.\\/>-` "
            "make one, and the first scope begins with a letter, a digit or a dot"
        )


def scoped(name: str) -> str:
    """`name` with the prefix in force."""
    now: str = _holdfast.get_name_scope()
    return now + name


def named_ops(function: _F) -> _F:
    """A function of several ops: its argument `name` is the scope in which they are made."""
    at = function.__code__.co_varnames.index("name")

    @functools.wraps(function)
    def in_scope(*args: Any, **kwargs: Any) -> Any:
        name = args[at] if len(args) > at else kwargs.get("name")
        try:
            if not name:
                return function(*args, **kwargs)
            with name_scope(name):
                return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                refuse_call(function, args, kwargs)  # no frame: the call itself did not fit
            raise

    return in_scope  # type: ignore[return-value]
