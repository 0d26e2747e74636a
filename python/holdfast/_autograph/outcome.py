"""What one side of a staged branch did: the values of its names, and what it changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from .._tracing.journal import Change, Growth, Journal
from .._tracing.journal import journal as current_journal
from .._tracing.locations import CellLocation
from .records import is_new
from .state import UNSET, Maybe

__all__ = ["Key", "Outcome", "is_unset", "runs"]

Key = tuple[Any, ...]

_HOLDERS = 2  # of a value that a side left: the names of its outcome, and who looks at it


def is_unset(value: Any) -> bool:
    """Whether a name has no value, or none for certain."""
    return value is UNSET or isinstance(value, Maybe)


def runs(value: Any) -> bool:
    """Whether a name has one if the code ran that sets it."""
    return isinstance(value, Maybe) and value.kind == "ran"


def _is_of_its_own(change: Change, written: Journal) -> bool:
    """Whether it changes what was made while this was written; names are of the function around."""
    if isinstance(change, Growth):
        return written.made(change.container.read())
    return not isinstance(change.location, CellLocation) and written.made(change.location.holder())


class Outcome:
    """What one side did: the values of names, its changes by what they touch, or what it raised."""

    def __init__(
        self,
        names: dict[str, Any],
        left: dict[int, Any],
        journal: Journal,
        lists: dict[int, list[Any]],
        raised: str = "",
    ) -> None:
        self.names, self.raised, self.journal = names, raised, journal
        self.left = left  # by id: how the side left what it changed, which is taken back
        self.lists = {} if raised else lists  # by id: what is in those that methods changed
        for value in names.values():
            if is_new(value, _HOLDERS):
                for each in (journal, current_journal()):
                    if each is not None:
                        each.note_made(value)
        self.changes: dict[Key, Change] = {}
        count: dict[Key, int] = {}
        # A call that raises leaves nothing, so what was changed on the way there is no change. What
        # was made here goes on as it was left.
        for change in () if raised else journal.changes:
            if _is_of_its_own(change, journal):
                continue
            touched: Key = change.touches()
            if isinstance(change, Growth):
                count[touched] = count.get(touched, 0) + 1
                touched = (*touched, change.method, count[touched])
            key = (*touched, id(change.condition) if change.condition is not None else 0)
            self.changes.pop(key, None)  # of several stores into a place the last one counts
            self.changes[key] = change

    def steps(self, container: Any) -> list[Any]:
        """How it changes a container: methods and items, in their order."""
        touching = [c for c in self.journal.changes if c.touches()[1] == id(container)]
        return [c.method if isinstance(c, Growth) else c.location.key for c in touching]

    def entries(self, whole: Collection[int]) -> Iterator[tuple[Key, Any]]:
        """Everything with a value, by key. Of lists in `whole`, all that is in them."""
        for number in whole:
            if number in self.lists:
                value = self.lists[number]
                yield ("list", number), self.left.get(id(value), value)
        for name, value in self.names.items():
            if runs(value):
                yield ("ran", name), value.ran
                yield ("name", name), value.value
            elif not is_unset(value):
                yield ("name", name), self.left.get(id(value), value)
        for key, change in self.changes.items():
            yield key, self.left.get(id(change.value), change.value)
            if change.condition is not None:
                yield ("taken", *key), change.condition
