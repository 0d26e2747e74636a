"""Lists from outside a staged loop that its body appends to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._tracing.journal import Growth, Journal, put, raw_write
from .._tracing.locations import CellLocation, ItemLocation, Location, Object
from .._tracing.recorder import recording
from .lists import StagedList
from .state import Cells, Spec, as_tensor, is_tensorish, spec_of, zeros

__all__ = ["Growing"]

_DEEP = 3  # how far lists are looked for in lists and dicts


class Growing:
    """Finds the lists that a loop can see, and turns those that grow into lists of the graph."""

    def __init__(self, cells: Cells) -> None:
        self._places: dict[int, tuple[Any, list[Location]]] = {}
        for name, cell in cells.items():
            value = cells.read(name)
            for container, location in _lists(value, CellLocation(cell, name), _DEEP):
                self._places.setdefault(id(container), (container, []))[1].append(location)

    def is_outside(self, container: Any) -> bool:
        """Whether a container was there before the loop."""
        recorder = recording()
        known = recorder is not None and recorder.place_of(container) is not None
        return known or id(container) in self._places

    def element(self, container: Any, change: Growth) -> Spec | None:
        """What one appended element is like; None if it is nothing that the graph could append."""
        if type(container) is not list or not self.is_outside(container):
            return None
        if change.method == "append":
            values = [change.value[0]]
        elif change.method == "extend":
            values = list(change.value[0])
        else:
            return None
        if not values or not all(map(is_tensorish, values)):
            return None
        if not all(map(is_tensorish, container)):
            return None
        return spec_of(as_tensor(values[0]))

    def stage(self, container: Any, spec: Spec) -> None:
        """Puts a list of the graph wherever the list is."""
        recorder = recording()
        outside = recorder.place_of(container) if recorder is not None else None
        staged = StagedList(container, zeros(spec), outside is not None)
        locations = list(self._places.get(id(container), (None, []))[1])
        if recorder is not None and outside is not None:
            locations.append(outside)
            recorder.endings.append(_Ending(container, outside, staged))
        for location in locations:
            put(location, staged)


class _Ending:
    """Gives the trace's surroundings their own list back, and every call the new elements."""

    def __init__(self, container: Any, location: Location, staged: StagedList) -> None:
        self.container, self.location, self.staged = container, location, staged

    def __call__(self, journal: Journal) -> None:
        if self.location.read() is not self.staged:
            return
        raw_write(self.location, self.container)
        change = Growth(Object(self.container, self.location), "extend", (self.staged.new(),))
        change.inside = None  # the list itself has none of them yet
        journal.keep(self.container)
        journal.add(change)


def _lists(value: Any, location: Location, deep: int) -> Iterator[tuple[Any, Location]]:
    if type(value) is list:
        yield value, location
    if deep and isinstance(value, (list, dict)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inner, (list, dict)):
                yield from _lists(inner, ItemLocation(value, key), deep - 1)
