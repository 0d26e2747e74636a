"""Which strategy is in force on this thread: `tf.distribute` has the strategies themselves.

It stands here because variables ask before anybody has loaded `tf.distribute`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .._messages.diagnostics import Mark, mark
from ..errors import fail
from .spec import VariableSynchronization

__all__ = [
    "Entry",
    "enter",
    "entered",
    "innermost",
    "kept",
    "leave",
    "note_owner",
    "owner_of",
    "swapped",
]


class Entry(NamedTuple):
    """A strategy that is in force: in its `scope`, or with `replica`, in what its `run` runs."""

    strategy: Any
    replica: Any
    at: Mark | None  # where it was entered
    traced: bool  # entered by code that is traced, so each run of the trace is in it
    lasting: bool = False  # in force for the rest of the program


class _Entered(threading.local):
    def __init__(self) -> None:
        self.stack: list[Entry] = []


_entered = _Entered()


def innermost() -> Entry | None:
    """What was entered last on this thread; None where no strategy is in force."""
    return _entered.stack[-1] if _entered.stack else None


def enter(strategy: Any, replica: Any, traced: bool) -> Entry:
    """Puts a strategy in force."""
    entry = Entry(strategy, replica, mark(), traced)
    _entered.stack.append(entry)
    return entry


def leave(entry: Entry) -> None:
    """Ends what `enter` began, which has to be what was entered last."""
    if not _entered.stack or _entered.stack[-1] is not entry:
        raise RuntimeError(
            "a strategy's scope ends while one that was entered in it is still open: scopes end in "
            "the reverse order in which they began"
        )
    _entered.stack.pop()


@contextmanager
def entered(strategy: Any, replica: Any, traced: bool) -> Iterator[None]:
    """A context with a strategy in force."""
    entry = enter(strategy, replica, traced)
    try:
        yield
    finally:
        leave(entry)


def swapped(strategy: Any) -> None:
    """Puts a strategy in force for all that follows on this thread; None: none."""
    _entered.stack[:] = [] if strategy is None else [Entry(strategy, None, mark(), False, True)]


def kept(synchronization: VariableSynchronization, name: str) -> VariableSynchronization:
    """How a new Variable is kept equal among the copies of the strategy in force."""
    now = innermost()
    if now is None or not now.strategy._keeps_copies:
        return synchronization
    if synchronization is VariableSynchronization.NONE:
        fail(
            "E1104",
            f"Variable `{name}` has `synchronization` NONE under {now.strategy._described()}",
            "the strategy keeps its variables equal, and NONE asks it not to",
            fix="leave `synchronization` out, or make the Variable outside of the scope",
        )
    if now.strategy._mirrors and synchronization is VariableSynchronization.AUTO:
        return VariableSynchronization.ON_WRITE
    return synchronization


_OWNER = "_strategy_entry"


def note_owner(variable: Any) -> None:
    """A new Variable belongs to the strategy in force, if there is one."""
    now = innermost()
    if now is not None:
        variable.__dict__[_OWNER] = now


def owner_of(variable: Any) -> Entry | None:
    """The strategy that a Variable belongs to, as it was in force; None: it belongs to none."""
    found: Entry | None = variable.__dict__.get(_OWNER)
    return found
