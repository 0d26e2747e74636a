"""The stores of a trace: what every call of a function leaves behind in Python objects.

Made from the outermost journal when the trace ends. On the call that was traced the symbols sit in
their places already, and `settle` puts values there; any later call does what the code did, with its
own values: `perform`. A store under a condition is taken back when the trace ends, and happens where
the condition turns out true.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._holders import MISSING, ItemPlace, Place, holds_symbol
from ._journal import Change, Growth, Journal, Set, mutate, put

__all__ = ["Store", "stores"]


class Store:
    """One effect on a Python object.

    value: what was stored, with symbols in it.  condition: a symbol, or None; where it is false the
    store does not happen. Both may be dropped once their symbols are outputs of the graph.
    """

    __slots__ = ("_spots", "condition", "method", "place", "value")

    def __init__(self, change: Change) -> None:
        self.value, self.condition = change.value, change.condition
        self.place: Place = change.place if isinstance(change, Set) else change.container
        self.method = "" if isinstance(change, Set) else change.method
        # Of a container that grew: a key in it, and the path to its new item in the value.
        self._spots: list[tuple[Any, tuple[int, ...]]] | None = None
        if isinstance(change, Growth) and change.condition is None and change.inside is not None:
            self._spots = list(_spots(change))

    def perform(self, value: Any) -> None:
        """Does it again with the values of another call."""
        holder = self.place.holder()
        if holder is MISSING:
            return
        if not self.method:
            put(self.place, value)
            return
        call = getattr(holder, self.method, None)
        if call is not None:
            mutate(holder, self.place, self.method, call, *value)

    def settle(self, value: Any) -> None:
        """Puts values where the call that was traced left symbols."""
        if self._spots is None:
            self.perform(value)
            return
        holder = self.place.holder()
        for key, path in self._spots:
            item = value
            for step in path:
                item = item[step]
            if isinstance(holder, dict) or (holder is not MISSING and key < len(holder)):
                holder[key] = item

    def describe(self) -> str:
        """The place in words."""
        return self.place.describe()


def _items(arguments: tuple[Any, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The objects that a method may have put into its container, and their paths."""
    for i, argument in enumerate(arguments):
        yield (i,), argument
        if isinstance(argument, (list, tuple)):
            for j, part in enumerate(argument):
                yield (i, j), part
        elif isinstance(argument, dict):
            for key, part in argument.items():
                yield (i, key), part


def _spots(change: Growth) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Where in its container a change left symbols."""
    container = change.container.read()
    if isinstance(container, (set, frozenset)) or container is MISSING:
        return
    pairs = container.items() if isinstance(container, dict) else enumerate(container)
    held = {id(item): key for key, item in pairs}
    for path, item in _items(change.inside):
        if id(item) in held and holds_symbol(item):
            yield held[id(item)], path


def stores(journal: Journal) -> list[Store]:
    """The effects in a journal that hold symbols, in order."""
    last: dict[tuple[Any, ...], int] = {}
    for i, change in enumerate(journal.changes):
        if isinstance(change, Set) and change.condition is None:
            last[change.touches()] = i
    grown = {
        change.touches()[-1]
        for change in journal.changes
        if isinstance(change, Growth) and _is_outside(change) and holds_symbol(change.value)
    }
    kept = [
        change for i, change in enumerate(journal.changes) if _is_kept(change, i, last, grown)
    ]
    found = [Store(change) for change in kept]
    for change in reversed(journal.changes):
        if change.condition is not None:
            _take_back(change)
    return found


def _is_outside(change: Change) -> bool:
    """Whether a container outlives the trace: it was read from somewhere."""
    if isinstance(change, Growth):
        return change.container.within is not None
    return not isinstance(change.place, ItemPlace) or change.place.within is not None


def _is_kept(change: Change, i: int, last: dict[tuple[Any, ...], int], grown: set[int]) -> bool:
    if not _is_outside(change):
        return False
    if isinstance(change, Growth):
        return change.touches()[-1] in grown
    if last.get(change.touches(), i) > i:
        return False  # overwritten
    if isinstance(change.place, ItemPlace) and id(change.place.holder()) in grown:
        return True
    return holds_symbol(change.value)


def _take_back(change: Change) -> None:
    if isinstance(change, Set):
        holder = change.place.holder()
        if not isinstance(change.place, ItemPlace):
            change.place.restore(change.old)
        elif change.old is not MISSING:
            holder[change.place.item] = change.old
        elif isinstance(holder, dict):
            holder.pop(change.place.item, None)
        return
    container = change.container.read()
    if change.inside is None:
        return
    new = {id(item) for _, item in _items(change.inside)}
    if isinstance(container, list):
        container[:] = [item for item in container if id(item) not in new]
    elif isinstance(container, dict):
        for key in [key for key, item in container.items() if id(item) in new]:
            del container[key]
