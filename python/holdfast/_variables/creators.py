"""`tf.variable_creator_scope`: functions between a program and the variables it makes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .._graphs.graph import get_default_graph

__all__ = ["Creators", "created_by", "variable_creator_scope"]


class Creators(threading.local):
    """The creators in force on this thread, outermost first, each with the graph it is for."""

    def __init__(self) -> None:
        self.stack: list[tuple[Any, Callable[..., Any], int]] = []


_now = Creators()


class variable_creator_scope:
    """A context in which `creator(next_creator, **kwargs)` makes the variables.

    The innermost creator is asked first; `next_creator` is the one around it, and at last what
    makes a variable. One with a lower `priority` is nearer to that.
    """

    def __init__(self, variable_creator: Callable[..., Any], priority: int = 100) -> None:
        self._creator, self._priority = variable_creator, priority

    def __enter__(self) -> None:
        self._before = _now.stack
        entry = (get_default_graph(), self._creator, self._priority)
        # Sorting keeps the order of those with one priority.
        self._inside = sorted([*_now.stack, entry], key=lambda known: known[2])
        _now.stack = self._inside

    def __exit__(self, *error: object) -> None:
        if _now.stack is not self._inside:
            raise RuntimeError(
                "a `variable_creator_scope` ends while one that was entered in it is still open: "
                "scopes end in the reverse order in which they began"
            )
        _now.stack = self._before


def created_by(
    make: Callable[..., Any],
    defaults: dict[str, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any | None:
    """What the creators in force make of a call of `tf.Variable`; None where there are none.

    `make` is the last of them. All get every parameter, by its name.
    """
    if not _now.stack:
        return None
    graph = get_default_graph()
    creator: Callable[..., Any] = make
    for owner, known, _ in _now.stack:
        if owner is graph:
            creator = _before(known, creator)
    if creator is make:
        return None
    return creator(**(defaults | dict(zip(defaults, args, strict=False)) | kwargs))


def _before(creator: Callable[..., Any], then: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **kwargs: creator(then, **kwargs)
