"""Lists from outside a staged loop that its body appends to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from .._tracing.journal import Growth, Journal, Set, open_journals, put, raw_write
from .._tracing.locations import AttributeLocation, CellLocation, ItemLocation, Location, Object
from .._tracing.made_objects import attributes_of
from .._tracing.moved import Moved, is_moved, move, settled
from .._tracing.recorder import recording
from .._tracing.slots import left_by
from .lists import Rows, StagedList
from .reads import fresh
from .records import is_made
from .sites import Site
from .state import Again, Cells, Spec, as_tensor, is_tensorish, spec_of, zeros

__all__ = ["Growing", "Lists", "leave_rows", "outermost", "staging"]


class _Staging(threading.local):
    """The loops and branches that are being written down on this thread, the outermost first."""

    def __init__(self) -> None:
        self.active: list[Any] = []


staging = _Staging()


def outermost(containers: list[Any]) -> Any:
    """The outermost loop or branch that was entered with these lists: before it they become ones
    of the graph, so that whatever way the graph goes it has them. None if there is none."""
    for each in staging.active:
        if all(map(each.growing.is_outside, containers)):
            return each
    return None


_DEEP = 4  # how far lists are looked for in lists, dicts and objects


class Growing:
    """Finds the lists that a loop can see, and turns those that grow into lists of the graph."""

    def __init__(self, cells: Cells) -> None:
        self._places: dict[int, tuple[Any, list[Location]]] = {}
        for name, cell in cells.items():
            self._look(cells.read(name), CellLocation(cell, name))
        recorder = recording()
        self._around = open_journals(recorder.journal) if recorder is not None else []
        for each in self._around:
            for change in each.changes:
                if isinstance(change, Set) and isinstance(change.value, (list, dict)):
                    self._look(change.location.read(), change.location)

    def _look(self, value: Any, location: Location) -> None:
        """Finds the lists in a value, and remembers where they are."""
        for container, place in _lists(value, location, _DEEP):
            places = self._places.setdefault(id(container), (container, []))[1]
            if all(place.key != known.key for known in places):
                places.append(place)

    def is_outside(self, container: Any) -> bool:
        """Whether a container was there before the loop."""
        recorder = recording()
        known = recorder is not None and recorder.home_of(container) is not None
        made = any(each.made(container) for each in self._around)
        return known or made or id(container) in self._places

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

    def stage(self, container: Any, spec: Spec, site: Site) -> None:
        """Puts a list of the graph wherever the list is."""
        if is_moved(container):
            return  # the loop appends to it twice
        recorder = recording()
        outside = recorder.home_of(container) if recorder is not None else None
        staged = fresh(StagedList(container, zeros(spec), outside is not None))
        locations = list(self._places.get(id(container), (None, []))[1])
        if recorder is not None:
            if outside is not None and outside.writable:
                locations.append(outside)
                recorder.replaced[id(container)] = (container, outside, staged)
            elif outside is not None:
                recorder.stand_ins[id(container)] = staged
            if outside is not None:
                recorder.endings.append(_Ending(container, outside, staged))
            elif leave_rows not in recorder.endings:
                recorder.endings.append(leave_rows)
        for location in locations:
            put(location, staged)
        if outside is None:
            names = [each.name for each in locations if isinstance(each, CellLocation)]
            move(container, Moved(staged, names[0] if names else "", site.loc()))


class Lists:
    """The lists that a branch appends to: where its sides do not add as much, the graph's."""

    def __init__(self, cells: Cells, site: Site) -> None:
        self._site, self.growing = site, Growing(cells)
        # Of sides that are functions of the program, each says what it gives by returning it.
        self._by_hand = bool(site.sides)

    def __enter__(self) -> None:
        if not self._by_hand:
            staging.active.append(self)

    def __exit__(self, *_: object) -> None:
        if not self._by_hand:
            staging.active.remove(self)

    def look(self, first: Journal, second: Journal) -> None:
        """Raises `Again` if the sides add different numbers of tensors to a list of the trace."""
        if self._by_hand:
            return
        grown: dict[int, list[list[Growth]]] = {}
        for number, side in enumerate((first, second)):
            for change in side.changes:
                if isinstance(change, Growth) and not change.outlives:
                    container = change.container.read()
                    if not side.made(container):
                        grown.setdefault(id(container), [[], []])[number].append(change)
        for sides in grown.values():
            if len(sides[0]) == len(sides[1]):
                continue
            changes = [*sides[0], *sides[1]]
            container = changes[0].container.read()
            specs = [self.growing.element(container, change) for change in changes]
            spec, where = specs[0], outermost([container])
            if spec is not None and where is not None and _go_together(container, specs):
                raise Again(lists=[(container, spec)], loop=where)

    def stage(self, lists: list[tuple[Any, Spec]]) -> None:
        """Makes lists ones of the graph, before the branch."""
        for container, spec in lists:
            self.growing.stage(container, spec, self._site)


def _go_together(container: list[Any], specs: list[Spec | None]) -> bool:
    """Whether what a list holds and gets is of one dtype."""
    dtypes = {None if spec is None else spec.dtype for spec in specs}
    return len(dtypes) == 1 and all(as_tensor(each).dtype in dtypes for each in container)


class _Ending:
    """Gives the trace's surroundings their own list back, and every call the new elements."""

    def __init__(self, container: Any, location: Location, staged: StagedList) -> None:
        self.container, self.location, self.staged = container, location, staged

    def __call__(self, journal: Journal) -> None:
        if self.location.writable:
            if self.location.read() is not self.staged:
                return
            raw_write(self.location, self.container)
        change = Growth(Object(self.container, self.location), "extend", (self.staged.new(),))
        change.inside = None  # the list itself has none of them yet
        journal.keep(self.container)
        journal.add(change)


def leave_rows(journal: Journal) -> None:
    """Lists of the trace that objects from outside hold: every call leaves one of its rows."""
    rows: dict[int, Any] = {}
    for change in journal.changes:
        location = getattr(change, "location", None)
        if location is None or isinstance(location, CellLocation):
            continue
        held = change.value
        value = settled(held)
        if isinstance(value, StagedList):
            made = rows.get(id(value))
            if made is None:
                made = rows[id(value)] = Rows(value.stack(), value.kind)
        elif value is not held:
            made = left_by(value)
        else:
            continue
        change.value = change.inside = made
        if location.read() is held:
            raw_write(location, made)


def _lists(value: Any, location: Location, deep: int) -> Iterator[tuple[Any, Location]]:
    if type(value) is list:
        yield value, location
    if not deep:
        return
    if isinstance(value, (list, dict)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inner, (list, dict)) or is_made(inner):
                yield from _lists(inner, ItemLocation(value, key), deep - 1)
    elif is_made(value):
        for name, inner in attributes_of(value).items():
            yield from _lists(inner, AttributeLocation(value, name), deep - 1)
