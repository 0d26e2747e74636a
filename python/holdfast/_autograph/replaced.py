"""What an iteration of a staged loop puts in a value's place, where Python makes a new one.

`values = [*values, x]` and `values = values + (x,)` make a longer one: in the graph, a list grows.
`box.state = State(...)` puts an object that the trace made where one from outside was: the loop
begins with a copy of that one, taken apart like those that iterations make.
"""

from __future__ import annotations

import operator
from typing import Any

from .._tracing.journal import note_joined
from .._tracing.made_objects import attributes_of
from .._tracing.recorder import recording
from .entries import Entry
from .growing import leave_rows
from .lists import StagedList
from .reads import attribute, fresh
from .records import containers_beside, is_made, is_new, is_plain, is_record
from .sites import Site
from .state import Again, Spec, as_tensor, is_tensorish, spec_of, zeros

__all__ = ["Replaced", "added", "note_copies"]

_HOLDERS = 4  # of a value that an iteration left: its name, the entry, and those who look at it

_KEPT_AS_IT_IS = (str, bytes, bool, int, float, complex, type(None))


class Replaced:
    """Finds such values in an iteration, and what the next attempt begins with."""

    def __init__(self) -> None:
        self.grown: dict[Any, Spec] = {}  # names and places, and what the elements are like
        self.objects: set[Any] = set()  # names and places whose object from outside is replaced

    def learn(self, found: dict[str, Any]) -> None:
        """Remembers what an attempt found out."""
        self.grown |= found.get("grown", {})
        self.objects |= found.get("objects", set())

    def begins(self, key: Any, value: Any) -> Any:
        """What the loop begins with in place of a value; most of the time, the value."""
        if key in self.grown and type(value) in (list, tuple):
            recorder = recording()
            outside = recorder is not None and recorder.home_of(value) is not None
            if recorder is not None and leave_rows not in recorder.endings:
                recorder.endings.append(leave_rows)
            return fresh(StagedList(value, zeros(self.grown[key]), outside))
        if key in self.objects and is_plain(value) and not is_made(value):
            return _copy(value)
        return value

    def look(self, entry: Entry, value: Any, entered: list[Any], loop: Any) -> None:
        """Raises `Again` if the next attempt can begin with something that `value` may replace."""
        start = entry.start
        if value is start:
            return
        if isinstance(value, StagedList) and type(start) is value.kind:  # a loop inside made it
            raise Again(grown={entry.key: value.spec()}, loop=loop)
        if type(value) is not type(start):
            return
        if type(value) in (list, tuple) and type(entry.before) is type(value):
            self._look_at_longer(entry, value, entered, loop)
        if is_new(value, _HOLDERS):
            fresh(value)
        if entry.key in self.objects or not is_record(value):
            return
        if is_plain(start) and not is_made(start) and _can_copy(start):
            raise Again(objects={entry.key})

    def _look_at_longer(self, entry: Entry, value: Any, entered: list[Any], loop: Any) -> None:
        start, slots = entry.start, entry.slots
        kept = [leaf if slot is None else entered[slot] for leaf, slot in zip(start, slots)]
        new = added(kept, value)
        if new is None:
            return
        spec = spec_of(as_tensor(new))
        if type(value) is tuple:
            raise Again(grown={entry.key: spec}, loop=loop)
        raise Again(lists=[(entry.before, spec)], loop=loop)


def added(kept: Any, value: Any) -> Any:
    """An element that a list of tensors has more than another, before or after its; else None."""
    count = len(kept)
    if len(value) <= count or not all(map(is_tensorish, value)):
        return None
    for same, new in ((value[:count], value[count]), (value[len(value) - count :], value[0])):
        if all(map(operator.is_, kept, same)):
            return new
    return None


def note_copies(entry: Entry, value: Any, copies: dict[int, list[Any]], site: Site) -> None:
    """Containers under names are made anew in each iteration; the first begins with its own.

    `copies` has, by the id of what was there before, all that stand for it in this iteration.
    """
    if entry.location is not None or not entry.was_set:
        return
    for copy, original in containers_beside(value, entry.start):
        if copy is original:
            continue
        members = copies.setdefault(id(original), [original])
        members.append(fresh(copy))
        new = members if len(members) == 2 else members[-1:]  # a second name of it joins
        note_joined(new, entry.name, site, members)


def _copy(thing: Any) -> Any:
    """An object like one from outside, of what the trace reads of it herewith."""
    kind: Any = type(thing)
    copy = fresh(kind.__new__(kind))
    for name in attributes_of(thing):
        object.__setattr__(copy, name, attribute(thing, name))
    return copy


def _can_copy(thing: Any) -> bool:
    """Whether an object holds tensors and plain values: of containers each has one of its own."""
    parts = attributes_of(thing).values()
    return any(map(is_tensorish, parts)) and all(
        is_tensorish(part) or isinstance(part, _KEPT_AS_IT_IS) for part in parts
    )
