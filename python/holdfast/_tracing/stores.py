"""The stores of a trace: what every call of a function leaves behind in Python objects.

Made from the outermost journal when the trace ends. On the call that was traced the symbols sit in
their places already, and `settle` puts values there; any later call does what the code did, with
its own values: `perform`. What can't stay is taken back when the trace ends: a store under a
condition, which happens where that turns out true, and one that hides what the call has to read.
"""

from __future__ import annotations

import copy
import enum
import functools
import operator
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from .. import _holdfast
from .._structures import nesting
from .._tensors.plain import is_plain
from .guards import Once
from .journal import Change, Growth, Journal, Set, mutate, put, refill
from .locations import (
    MISSING,
    ArgumentLocation,
    ItemLocation,
    Location,
    item_of,
    leaves,
    raw_method,
    weak_getter,
)
from .made_objects import (
    CONTAINERS,
    ContainerTemplate,
    ObjectTemplate,
    ObjectTemplates,
)
from .moved import parts_of
from .perhaps import PerhapsSlot, perhaps_of
from .slots import Slot, rebuilt

__all__ = ["Store", "Undo", "is_outside", "stores"]

_MADE = (ContainerTemplate, ObjectTemplate)
_COPIED = (*CONTAINERS, np.ndarray, bytearray)
_OF_PARTS = ("extend", "extendleft", "update")  # they take what is in their argument

# Where only these are done to a container, to plain values, a program counts its traces by them.
_ADDS = ("append", "extend", "insert", "appendleft", "extendleft")


class _Anew:
    """A container of plain values that the trace made: each call makes one like it."""

    __slots__ = ("like",)

    def __init__(self, container: Any) -> None:
        self.like = copy.copy(container)  # the program may change the one that is there

    def is_like(self, other: Any) -> bool:
        """Whether a container still holds what the trace put into it."""
        if type(other) is not type(self.like) or len(other) != len(self.like):
            return False
        if isinstance(other, dict):
            return all(other.get(key, self) is part for key, part in self.like.items())
        if isinstance(other, (set, bytearray)):
            return bool(other == self.like)
        if isinstance(other, np.ndarray):
            return other.dtype == self.like.dtype and np.array_equal(other, self.like)
        return all(map(operator.is_, other, self.like))


class _Outside:
    """An object from outside the trace, which a store does not keep alive."""

    __slots__ = ("get",)

    def __init__(self, thing: Any) -> None:
        self.get = weak_getter(thing)


class _Slotted:
    """Makes slots of what each call has a value of its own for.

    That are symbols, tensors that were read, and objects of the trace that hold them.
    """

    def __init__(
        self, templates: ObjectTemplates, is_made: Callable[[Any], bool], found: Container[int]
    ) -> None:
        self.templates, self.is_made = templates, is_made
        self.found = found  # objects from outside that the trace is guarded by, by their ids

    def holds(self, value: Any) -> bool:
        """Whether a nested value holds one that does."""
        return any(
            self.templates.varies(leaf) or self.templates.takes(leaf) for leaf in leaves(value)
        )

    def __call__(self, value: Any, tensors: list[Any]) -> Any:
        """A nested value with slots, whose tensors are appended to `tensors`."""
        return self._part(tensors, {}, value)

    def _part(self, tensors: list[Any], templates: dict[int, Any], value: Any) -> Any:
        if (maybe := perhaps_of(value)) is not None:
            tensors += [maybe.value, maybe.ran]
            return PerhapsSlot(len(tensors) - 2, maybe)
        if self.templates.varies(value):
            tensors.append(value)
            return Slot(len(tensors) - 1)
        change = functools.partial(self._part, tensors, templates)
        if self.templates.is_shared(value):
            return self.templates.container(value, templates, change)
        if self.templates.may_make(value):
            return self.templates.template(value, templates, change)
        new = rebuilt(value, change)
        return _Anew(value) if new is value and self.makes(value) else new

    def makes(self, value: Any) -> bool:
        """Whether a value is a container or an array that each call has to make."""
        return type(value) in _COPIED and self.is_made(value)

    def makes_part(self, change: Growth) -> bool:
        """Whether what a method puts into its container is something that each call has to make."""
        given = [*change.value, *change.keywords.values()]
        if change.method in _OF_PARTS:
            given = [part for each in given for part in _parts(each)]
        parts = parts_of(given)[1:]
        return any(self.makes(part) or self.templates.may_make(part) for part in parts)


def _filled(tensors: list[Any], value: Any) -> Any:
    if type(value) is Slot:
        return tensors[value.index]
    if type(value) is PerhapsSlot:
        return value.of(tensors)
    if type(value) is _Anew:
        return copy.copy(value.like)
    change = functools.partial(_filled, tensors)
    return value.fill(change) if type(value) in _MADE else rebuilt(value, change)


def _template(value: Any, shape: list[Any]) -> tuple[Any, ...] | None:
    """The same for C: ("slot", output), ("constant", value), or ("nested", value, parts)."""
    if type(value) is Slot:
        found = shape[value.index]
        return ("slot", found.index) if type(found) is Slot else None
    if type(value) in (*_MADE, PerhapsSlot, _Outside):
        return None
    if type(value) is _Anew:
        return _template_anew(value.like)
    if not nesting.is_nested(value) or isinstance(value, range):
        return "constant", value
    try:
        parts = [_template(part, shape) for part in nesting.children(value)]
    except TypeError:  # keys without an order
        return None
    if None in parts:
        return None
    same = all(part is not None and part[0] == "constant" for part in parts)
    return ("constant", value) if same else ("nested", value, parts)


def _template_anew(value: Any) -> tuple[Any, ...] | None:
    if type(value) not in (list, dict):
        return None
    try:
        parts = nesting.children(value)
    except TypeError:  # keys without an order
        return None
    return "nested", value, [("constant", part) for part in parts]


class Store:
    """One effect on a Python object.

    value: the tensors in what was stored.  condition: a symbol, or None; where it is false the
    store does not happen. Both may be dropped once they are outputs of the graph.
    """

    __slots__ = ("_keywords", "_slotted", "_spots", "condition", "location", "method", "value")

    def __init__(
        self, change: Change, taken: set[tuple[int, Any]], slotted: _Slotted, anew: Container[int]
    ) -> None:
        self.value: list[Any] | None = []
        self._slotted, self.condition = slotted(change.value, self.value), change.condition
        if isinstance(change, Set) and _is_of_others(change.value, slotted):
            self._slotted = _Outside(change.value)
        self.location: Location = change.location if isinstance(change, Set) else change.container
        self.method = "" if isinstance(change, Set) else change.method
        self._keywords = {} if isinstance(change, Set) else change.keywords
        # Of a container that grew: a key in it, the path to its new item in the value, the item.
        self._spots: list[tuple[Any, tuple[int, ...], Any]] | None = None
        stays = isinstance(change, Growth) and change.touches()[-1] not in anew
        if stays and change.condition is None and change.inside is not None:
            assert isinstance(change, Growth)
            self._spots = list(_spots(change, taken, slotted))

    @property
    def on_argument(self) -> bool:
        """Whether it changes a container that the caller gave."""
        return isinstance(getattr(self.location, "within", None), ArgumentLocation)

    def perform(self, tensors: list[Any]) -> None:
        """Does it again with the values of another call, in the order of `value`."""
        holder = self.location.holder()
        if holder is MISSING:
            return
        value = _filled(tensors, self._slotted)
        if type(value) is _Outside:
            value = value.get()
            if value is MISSING:  # it is gone, and so is the way by which the trace came to it
                return
        if not self.method:
            if value is MISSING:
                self.location.restore(value)
            else:
                put(self.location, value)
            return
        if raw_method(holder, self.method) is not None:
            mutate(holder, self.location, self.method, value, self._keywords)

    def template(self, shape: list[Any]) -> tuple[Any, ...] | None:
        """What is stored, as C fills it with outputs of a call; None where Python has to."""
        return None if self._slotted is MISSING else _template(self._slotted, shape)

    def appended(self, value: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The part of its template that is appended to a list; None where it does another thing."""
        one = self.method == "append" and not self._keywords
        return value[2][0] if one and value[0] == "nested" and len(value[2]) == 1 else None

    def place_of_one(self, shape: list[Any]) -> tuple[Location, int] | None:
        """Where it puts one of the outputs as it is, and which; None where there is more to it."""
        if self.method or type(self._slotted) is not Slot:
            return None
        slot = shape[self._slotted.index]
        return (self.location, slot.index) if type(slot) is Slot else None

    def settle(self, tensors: list[Any]) -> None:
        """Puts values where the call that was traced left symbols."""
        if type(self._slotted) is _Anew and self._slotted.is_like(self.location.read()):
            return
        if self._spots is None or self.on_argument:  # the code changed a copy of an argument
            self.perform(tensors)
            return
        holder = self.location.holder()
        spots, self._spots = self._spots, None
        here = [(item_of(holder, key), left()) for key, _, left in spots]
        if any(now is not was or now is MISSING for now, was in here):
            self.perform(tensors)  # the program took away what the trace left
            return
        value = _filled(tensors, self._slotted)
        for key, path, _ in spots:
            item = value
            for step in path:
                item = item[step]
            holder[key] = item

    def describe(self) -> str:
        """The place in words."""
        return self.location.describe()


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


def _spots(
    change: Growth, taken: set[tuple[int, Any]], slotted: _Slotted
) -> Iterator[tuple[Any, tuple[int, ...], Any]]:
    """Where in its container a change left tensors; one that is there twice was put there twice."""
    container = change.container.read()
    if isinstance(container, (set, frozenset)) or container is MISSING:
        return
    pairs = container.items() if isinstance(container, dict) else enumerate(container)
    held: dict[int, list[Any]] = {}
    for key, item in pairs:
        held.setdefault(id(item), []).append(key)
    left = dict(_items(change.value))
    for path, item in _items(change.inside):
        holds = slotted.holds(left[path]) or slotted.templates.shares(left[path])
        for key in held.get(id(item), ()) if holds else ():
            if (id(container), key) not in taken:
                taken.add((id(container), key))
                yield key, path, weak_getter(item)
                break


def stores(
    journal: Journal,
    read: AbstractSet[tuple[Any, ...]],
    guarded: AbstractSet[tuple[Any, ...]],
    counters: Iterable[tuple[Any, ...]],
    tensors: Container[int],
    objects: Container[int],
    result: Any,
) -> tuple[list[Store], ObjectTemplates, Undo, list[Once]]:
    """The effects in a journal that every call has to repeat, in order.

    Places of `counters` were read for nothing but what is stored there: that counts traces, unless
    the trace is `guarded` by it. Places that are `read` get back what they held, for the call that
    is traced reads them like any other. `tensors` are the numbers of the tensors that were read,
    `objects` the ids of what the trace is guarded by. `result` is what the code gives.
    With the effects come the templates of objects that the trace made, a way to take the effects
    back, and what forbids other calls to use the trace.
    """
    slotted = _Slotted(ObjectTemplates(journal.made, tensors), journal.made, objects)
    outside = [change for change in journal.changes if is_outside(change, journal)]
    slotted.templates.refuse_choices(change.value for change in outside)
    last: dict[tuple[Any, ...], int] = {}
    bare: set[tuple[Any, ...]] = set()  # places with nothing in them before
    again: set[tuple[Any, ...]] = set()  # places that were set more than once
    for i, change in enumerate(journal.changes):
        if isinstance(change, Set) and change.condition is None:
            if change.touches() in last:
                again.add(change.touches())
            elif change.old is MISSING:
                bare.add(change.touches())
            last[change.touches()] = i
    counted = {key for key in counters if key not in again}  # the last value is that of the count
    idle = _Idle(guarded, counted, bare)
    grown = _grown(journal, guarded, slotted)
    kept = [
        change
        for i, change in enumerate(journal.changes)
        if is_outside(change, journal)
        and _is_kept(change, last.get(change.touches(), i) > i, grown, slotted, idle)
    ]
    # Containers whose items are read, and may be gone by now, begin as they were. So do those of
    # which nobody could tell what is there on some path only.
    unsure = {change.touches()[1] for change in journal.changes if _may_be_anywhere(change)}
    anew = grown & ({key[1] for key in read if key[0] == "item"} | unsure)
    taken: set[tuple[int, Any]] = set()
    slotted.templates.note_shared([result, *(change.value for change in kept)])
    found = [Store(change, taken, slotted, anew) for change in kept]
    locations = {each.touches() for each in kept if slotted.holds(each.value)}
    for change in reversed(journal.changes):
        hides = (
            isinstance(change, Set)
            and change.location.key in read
            and change.touches() in locations
        )
        # What may be None is not left where the program would read it before the graph has run.
        if is_outside(change, journal):
            hides = hides or any(map(perhaps_of, leaves(change.value)))
        # What the trace made itself goes as it is: results that hold it were looked at.
        if hides or (change.condition is not None and is_outside(change, journal)):
            _take_back(change)
    journal.restore(anew)
    left = [(each.value, _label(each)) for each in journal.changes if is_outside(each, journal)]
    once = []
    for value, place in (*left, (result, "what it gives")):
        thing = slotted.templates.of_one_call([value])
        if thing is not None:
            once.append(Once(thing, place))
    return (
        found,
        slotted.templates,
        Undo(journal, [each for each in kept if slotted.holds(each.value)]),
        once,
    )


def _label(change: Change) -> str:
    return (change.location if isinstance(change, Set) else change.container).describe()


def _may_be_anywhere(change: Change) -> bool:
    """Whether a method changes on some path what has no places by number or key."""
    if not isinstance(change, Growth) or change.condition is None:
        return False
    return not isinstance(change.container.read(), (list, dict))


class Undo:
    """Takes back the changes that put tensors somewhere, of a trace that was made in vain."""

    def __init__(self, journal: Journal, changes: list[Change]) -> None:
        self._old = [
            (each.location, each.old) for each in reversed(changes) if isinstance(each, Set)
        ]
        grown = {each.touches()[-1] for each in changes if isinstance(each, Growth)}
        self._before = journal.copies(grown)

    def __call__(self) -> None:
        for location, old in self._old:
            location.restore(old)
        refill(self._before)


def _parts(value: Any) -> Iterable[Any]:
    """What is in an argument."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, (list, tuple, deque)) else ()


def _grown(journal: Journal, guarded: AbstractSet[tuple[Any, ...]], slotted: _Slotted) -> set[int]:
    """The containers, by their ids, that methods changed in a way that calls have to repeat."""
    asked = {key[1] for key in guarded if key[0] == "object"}
    changed, found = set(), set()
    for change in journal.changes:
        if not is_outside(change, journal):
            continue
        if isinstance(change, Growth):
            changed.add(change.touches()[-1])
            plain = all(map(_is_mode, leaves([*change.value, *change.keywords.values()])))
            if plain and (change.touches()[-1] in asked or change.method not in _ADDS):
                found.add(change.touches()[-1])
            if slotted.makes_part(change):
                found.add(change.touches()[-1])
        if slotted.holds(change.value):
            found.add(change.touches()[1])
    return changed & found


def is_outside(change: Change, journal: Journal) -> bool:
    """Whether what is changed outlives the trace: it was read from somewhere."""
    if isinstance(change, Growth):
        return change.outlives
    if isinstance(change.location, ItemLocation):
        return change.location.within is not None
    return not journal.made(change.location.holder())


class _Idle:
    """Tells stores of plain values that calls need not repeat."""

    def __init__(
        self,
        guarded: Container[tuple[Any, ...]],
        counters: Container[tuple[Any, ...]],
        bare: Container[tuple[Any, ...]],
    ) -> None:
        self._guarded, self._counters, self._bare = guarded, counters, bare

    def __call__(self, change: Set) -> bool:
        if change.location.key in self._guarded:
            return False
        if change.value is MISSING:  # what the trace put there itself, it took away again
            return change.touches() in self._bare
        return change.location.key in self._counters


def _is_kept(
    change: Change, overwritten: bool, grown: set[int], slotted: _Slotted, idle: _Idle
) -> bool:
    if isinstance(change, Growth):
        return change.touches()[-1] in grown
    if isinstance(change.location, ItemLocation) and id(change.location.holder()) in grown:
        return True
    if overwritten:
        return False
    if change.condition is not None or slotted.holds(change.value):
        return True
    value = change.value
    again = _is_mode(value) or slotted.makes(value) or _is_of_others(value, slotted)
    again = again or slotted.templates.may_make(value) or isinstance(value, _holdfast.Tensor)
    return again and not idle(change)


def _is_of_others(value: Any, slotted: _Slotted) -> bool:
    """Whether a value is an object that was there before the trace."""
    if _is_mode(value) or slotted.is_made(value) or slotted.templates.may_take(value):
        return False
    if id(value) in slotted.found:
        return True
    if nesting.is_nested(value):
        return False
    weak = bool(getattr(type(value), "__weakrefoffset__", 0)) or callable(value)
    # A variable may be one that is made here, and each call that makes one has its own.
    return weak and not isinstance(value, (_holdfast.Tensor, _holdfast.VariableBase))


def _is_mode(value: Any) -> bool:
    """Whether a Python value may decide what code does, and is nothing that lives or dies."""
    return value is MISSING or is_plain(value) or isinstance(value, enum.Enum)


def _take_back(change: Change) -> None:
    if isinstance(change, Set):
        change.location.restore(change.old)
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
