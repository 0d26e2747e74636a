"""Lists from outside a staged loop that its body appends to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from .._tracing.conditional import LIST_TAKES, refuse_walk
from .._tracing.journal import Growth, Journal, Set, open_journals, put, raw_write
from .._tracing.locations import AttributeLocation, CellLocation, ItemLocation, Location, Object
from .._tracing.made_objects import attributes_of
from .._tracing.moved import Moved, current, is_moved, move
from .._tracing.recorder import recording
from .._tracing.slots import left_by
from .._tracing.substituted_code import Substitutions, substitutions
from .arrays import ARRAYS
from .lists import StagedList
from .reads import fresh
from .records import is_made
from .sites import Site
from .staging import outermost, staging
from .state import Again, Cells, Spec, as_tensor, is_tensorish, spec_of, zeros

__all__ = ["Growing", "Lists", "leave_rows"]


_DEEP = 4  # how far lists are looked for in lists, dicts and objects


class Growing:
    """Finds the lists that a loop can see, and turns those that grow into lists of the graph."""

    def __init__(self, cells: Cells) -> None:
        self._places: dict[int, tuple[Any, list[Location]]] = {}
        self._staged: dict[int, Any] = {}
        self._arrays: list[Any] = []  # under names
        for name, cell in cells.items():
            value = cells.read(name)
            self._look(value, CellLocation(cell, name))
            if isinstance(value, ARRAYS):
                self._arrays.append(value)
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

    def saw_array(self, array: Any) -> bool:
        """Whether a name had this array before."""
        return any(each is array for each in self._arrays)

    def is_outside(self, container: Any) -> bool:
        """Whether a container was there before the loop."""
        recorder = recording()
        known = recorder is not None and recorder.home_of(container) is not None
        made = any(each.made(container) for each in self._around)
        return known or made or id(container) in self._places

    def element(self, container: Any, change: Growth, before: list[Any]) -> Spec | None:
        """What an element of a changed list is like; None if the graph could not have such a list.

        `before` is what was in it.
        """
        if type(container) is not list or change.foreign or not self.is_outside(container):
            return None
        if change.method in ("append", "insert"):
            values = [change.value[-1]]
        elif change.method == "extend":
            values = list(change.value[0])
        elif change.method in LIST_TAKES:
            values = before[:1]
        else:
            return None
        if not values or not all(map(is_tensorish, values)):
            return None
        if not all(map(is_tensorish, container)):
            return None
        return spec_of(as_tensor(values[0]))

    def stage_all(self, lists: Iterable[tuple[Any, Spec]], site: Site) -> bool:
        """Puts lists of the graph wherever these are; whether any of them was not staged yet."""
        new = [each for each in lists if id(each[0]) not in self._staged]
        for container, spec in lists:
            self.stage(container, spec, site)
            self._staged[id(container)] = container
        return bool(new)

    def stage(self, container: Any, spec: Spec, site: Site) -> None:
        """Puts a list of the graph wherever the list is."""
        if is_moved(container):
            return  # the loop appends to it twice
        refuse_walk(container)  # of what it holds by now, some may be there on one way only
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
            if leave_rows not in recorder.endings:
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
        """Raises `Again` if the sides add different numbers of tensors to a list.

        Where the trace could be made again, that is only if somebody reads such a list.
        """
        places = substitutions()
        if self._by_hand or (places is not None and not places.stages_lists(self._site.key)):
            return
        grown: dict[int, list[list[Growth]]] = {}
        for number, side in enumerate((first, second)):
            for change in side.changes:
                if isinstance(change, Growth) and (places is not None or not change.outlives):
                    container = change.container.read()
                    if not side.made(container):
                        grown.setdefault(id(container), [[], []])[number].append(change)
        lists: list[tuple[Any, Spec]] = []
        around: Any = None  # the loop or branch of the first: those of others have their turn
        for sides in grown.values():
            if _count(sides[0]) == _count(sides[1]):
                continue
            changes = [*sides[0], *sides[1]]
            if not _is_settled(changes, places):
                continue
            container, within = changes[0].container.read(), changes[0].container.within
            if within is not None and not within.writable:
                continue
            # When the graph has run, each call takes elements out of a list from outside.
            if changes[0].outlives and any(map(_takes, changes)):
                continue
            specs = [self.growing.element(container, each, container) for each in changes]
            spec, where = specs[0], outermost([container])
            if spec is not None and where is not None and _go_together(container, specs):
                around = around or where
                if where is around:
                    lists.append((container, spec))
        if lists:
            raise Again(lists=lists, loop=around)

    def stage(self, lists: list[tuple[Any, Spec]]) -> bool:
        """Makes lists ones of the graph, before the branch; whether any was not yet."""
        return self.growing.stage_all(lists, self._site)


def _is_settled(changes: list[Growth], places: Substitutions | None) -> bool:
    """Whether no branch inside of a side decides about them; one that does is to be staged too."""
    inner = [change.site for change in changes if change.condition is not None]
    for site in inner:
        if places is not None and site is not None and site.kind == "if" and not site.sides:
            places.stage_lists(site.key)
    return not inner


def _takes(change: Growth) -> bool:
    return change.method not in ("append", "extend")


def _count(changes: list[Growth]) -> float:
    """How many elements changes add to a list."""
    if any(each.method == "clear" for each in changes):
        return -math.inf
    taken = sum(each.method in LIST_TAKES for each in changes)
    return (
        sum(
            len(each.value[0]) if each.method == "extend" else each.method not in LIST_TAKES
            for each in changes
        )
        - taken
    )


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
    """Lists of the trace that objects from outside hold: every call leaves one of its rows.

    A list from outside stays the list that it is, and its `_Ending` has it appended to.
    """
    homes: set[tuple[int, Any]] = set()
    recorder = recording()
    if recorder is None:
        return
    for container, home, staged in recorder.replaced.values():
        recorder.left[id(staged)] = staged, container
        homes.add((id(staged), home.key))
    for change in journal.changes:
        location = getattr(change, "location", None)
        if isinstance(location, CellLocation):
            continue
        held = change.value
        if location is not None and (id(current(held)), location.key) in homes:
            continue
        made = left_by(held, recorder.left, journal)
        if made is held:
            continue
        change.value = made
        if location is None:
            continue
        change.inside = made
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
