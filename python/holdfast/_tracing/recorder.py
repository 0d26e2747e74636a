"""Late binding: what a traced function read from its surroundings, and what it leaves in them.

While a function is traced, converted code tells the active `Recorder` what it reads and where. A
tensor read from a place becomes an input that each call reads from there anew; any other value
becomes a guard, and the trace serves only while its guards hold. What the code stores is performed
at once, written down, and performed again by every later call with its own values.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from .. import _holdfast
from .._messages.contexts import contextmanager
from .._messages.diagnostics import Mark, mark
from .._tensors.plain import is_plain
from .._tensors.symbols import is_symbol
from ..errors import fail, unsupported, used_here
from . import perhaps
from .conditional import (
    refuse_held,
    refuse_item,
    refuse_length,
    refuse_read,
    refuse_stale,
    refuse_walk,
)
from .converter import converter
from .guards import BYTES, AnyGuard, Definitions, Guard, Guards, aspect, remembered
from .journal import (
    Change,
    Journal,
    Set,
    note_assigned,
    note_read,
    open_journals,
    uncertain,
    was_stored,
)
from .locations import (
    MISSING,
    ArgumentLocation,
    AttributeLocation,
    ClassOf,
    DefaultLocation,
    FieldLocation,
    ItemLocation,
    Location,
    Object,
    OwnerLocation,
    PartsOf,
    SpaceLocation,
    defaults_of,
    held_by,
    item_of,
    own_attribute,
    owner_of,
)
from .made_objects import ObjectTemplates
from .moved import parts_of
from .restart import Restart
from .slots import Left
from .stores import Store, Undo, is_outside, stores

__all__ = [
    "MISSING",
    "AttributeLocation",
    "Guard",
    "Guards",
    "ItemLocation",
    "Location",
    "Object",
    "Recorder",
    "Store",
    "note_attribute_store",
    "recording",
    "unrecorded",
]

_MUTABLE = (list, dict, set, deque)


def _is_frozen(value: Any) -> bool:
    """Whether another object of its class with the same fields may stand for it, as with tuples."""
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and parameters.frozen and parameters.eq


class _Active(threading.local):
    def __init__(self) -> None:
        self.recorders: list[Recorder] = []


_active = _Active()


def recording() -> Recorder | None:
    """The recorder of the trace that this thread is making, if any."""
    return _active.recorders[-1] if _active.recorders else None


@contextmanager
def unrecorded() -> Iterator[None]:
    """A context in which converted code reads nothing for a trace: calls will run it again."""
    recorders, _active.recorders = _active.recorders, []
    try:
        yield
    finally:
        _active.recorders = recorders


class Recorder:
    """What one trace reads from its surroundings, and what it stores there.

    tensors: the place of each tensor that was read, by the tensor's `_id`.
    reads: the same as pairs (tensor, place); a place may hold something else by now.
    """

    def __init__(self) -> None:
        self.guards: list[AnyGuard] = []
        self._definitions: dict[int, Definitions] = {}  # by the id of the class
        self.tensors: dict[int, Location] = {}
        self.reads: list[tuple[Any, Location]] = []
        self.journal = Journal()
        self.random_calls: list[Mark] = []
        self.asked_by_key: dict[Any, Any] = {}  # what `capture_call_time_value` gave
        self.endings: list[Callable[[Journal], None]] = []  # what is left to do before the stores
        self.restart = False  # whether the trace is void: some code has to be converted first
        # Numbers that the graph chooses, which are tensors, and the places of the choices.
        self.numbers: list[tuple[Any, frozenset[Any]]] = []
        self.chooses = False  # whether something stands for one of several objects
        self._seen: set[tuple[Any, ...]] = set()
        self._pending: dict[tuple[Any, ...], Guard] = {}
        self._outside: dict[int, tuple[Any, Location]] = {}
        self._given: dict[int, ArgumentLocation] = {}  # containers among the arguments
        self._asked: set[int] = set()
        self._positions: dict[int, dict[int, list[int]]] = {}  # in lists as they were found
        self._alive: list[Any] = []  # so that no id is given twice while tracing
        # Lists of the graph, by the id of the list that has to stay in its place.
        self.stand_ins: dict[int, Any] = {}
        # The same where the list of the graph took the list's place, until that is taken back.
        self.replaced: dict[int, tuple[Any, Location, Any]] = {}
        self.left: Left = {}  # what takes the place of what only a trace can hold
        self.result: Any = None  # what the code gives
        self._stores: list[Store] | None = None
        self.undo: Undo | None = None  # how to take them back
        self.templates: ObjectTemplates | None = (
            None  # of objects that the trace made, once it has ended
        )

    def __enter__(self) -> Self:
        _active.recorders.append(self)
        self.journal.__enter__()
        perhaps.begin()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.journal.__exit__()
        _active.recorders.remove(self)
        if isinstance(error, Restart):
            self.journal.undo()  # the code will run again
        elif error is not None:
            self.journal.undo_symbols()  # they will never have a value
        else:
            # Code that we did not convert may have read all of a container that it was given.
            for container, location in list(self._outside.values()):
                if id(container) not in self._asked:
                    self.note_whole(container, location)
            _ = self.stores
        for given in self._given.values():
            given.copy = MISSING
        self._given.clear()
        perhaps.end()
        self.journal, self.templates, self.result = Journal(), None, None
        self.left.clear()
        self._alive.clear()
        self._outside.clear()
        self._definitions.clear()
        self._positions.clear()

    @property
    def stores(self) -> list[Store]:
        """The effects that hold symbols, in order."""
        if self._stores is None:
            while self.endings:
                self.endings.pop(0)(self.journal)
            self.check_held(
                [change.value for change in self.journal.changes if self._lasts(change)]
            )
            for container, _ in self._outside.values():
                refuse_stale(container, self.journal)
            guarded = {guard.location.key for guard in self.guards}
            objects = {id(each.was) for each in self.guards if each.how == "identity"}
            given = self.journal, self._seen, guarded, self._pending, self.tensors, objects
            found = stores(*given, self.result)
            self._stores, self.templates, self.undo, once = found
            self.guards += once
        return self._stores

    def _lasts(self, change: Change) -> bool:
        return is_outside(change, self.journal)

    def check_left(self, values: list[Any]) -> None:
        """Refuses what leaves the trace and holds something that only some path set.

        To be asked of the program's own containers, before others take the place of lists that
        grew.
        """
        refuse_held(self.journal, values, self._lasts)
        for part in parts_of(values):
            if isinstance(part, _MUTABLE):
                refuse_stale(part, self.journal)

    def check_held(self, values: list[Any]) -> None:
        """The same, and lists from outside that grew."""
        self.check_left(values)
        for part in parts_of(values) if self.replaced else ():
            if isinstance(part, list):
                self._refuse_grown(part)

    def finished_guards(self) -> Guards:
        """The guards over what still exists: objects made by the trace itself went with it."""
        return Guards([guard for guard in self.guards if _lasts(guard.location)])

    # What is read.

    def note(self, location: Location, value: Any, pending: bool = False) -> None:
        """`value` was read from a place. A pending read matters only if the place is read again.

        `n += 1` reads `n` to store it again: a counter that nothing else reads guards nothing.
        """
        key = location.key
        note_read(key)
        _need_certain(location, value)
        if is_symbol(value) or key in self._seen:
            return
        if was_stored(self.journal, key):
            self._confirm(key)
            return
        holder = location.holder()
        if self.is_made(holder):
            return
        self._alive.append(holder)
        if pending and is_plain(value):
            self._pending[key] = Guard(location, value, "value", mark())
            return
        self._seen.add(key)
        self._bind(location, value)

    def _confirm(self, key: tuple[Any, ...]) -> None:
        """What was read to be stored again matters: its place is read after that."""
        guard = self._pending.pop(key, None)
        if guard is not None:
            self.guards.append(guard)

    def _bind(self, location: Location, value: Any) -> None:
        if isinstance(value, _holdfast.Tensor):
            known = self.tensors.setdefault(value._id, location)
            if known is location:
                self.reads.append((value, location))
            else:
                self._add(location, known, "same")
        elif value is MISSING or is_plain(value):
            self._add(location, value, "value")
        elif isinstance(value, tuple):
            self._add(location, (type(value), len(value)), "type")
            for i, part in enumerate(value):
                self.note(ItemLocation(value, i, location), part)
        elif _is_frozen(value):
            self._add(location, type(value), "class")
            for field in dataclasses.fields(value):
                part = own_attribute(value, field.name)
                self.note(FieldLocation(value, field.name, location), part)
        elif isinstance(value, np.ndarray):
            self._add(location, remembered(value), "array")
        elif isinstance(value, BYTES):
            self._add(location, aspect("bytes", value), "bytes")
        else:
            self._add(location, value, "identity")
            converter().convert_operators(type(value))
            if isinstance(value, _MUTABLE):
                self._outside[id(value)] = (value, location)
            elif isinstance(owner := owner_of(value), _MUTABLE):
                self._outside[id(owner)] = (owner, OwnerLocation(location))
                self._asked.add(id(owner))
            for inner in held_by(value):
                self.note_bound(inner)

    def _add(self, location: Location, was: Any, how: str) -> None:
        self.guards.append(Guard(location, was, how, mark()))

    def guard_identity(self, location: Location, value: Any) -> None:
        """The trace serves only while the place holds this very object."""
        self._add(location, value, "identity")

    def note_made(self, holder: Any) -> None:
        """`holder` was made by the trace itself; nothing read from it is guarded."""
        self.journal.note_made(holder)

    def place_of(self, container: Any) -> Location | None:
        """Where a container from outside the trace was read; None for one that it made."""
        known = self._outside.get(id(container))
        return None if known is None else known[1]

    def note_bound(self, value: Any) -> None:
        """`value` is an argument that the trace is for by its identity alone."""
        if isinstance(value, _MUTABLE):
            self._outside[id(value)] = (value, Object(value))
        elif isinstance(value, BYTES):
            self._bind(Object(value), value)

    def note_defaults(self, function: Any) -> None:
        """A function from outside the trace is called: it may get other code and defaults."""
        if not self._note_part(PartsOf(function), function, "function"):
            return
        for name, value in defaults_of(function).items():
            if isinstance(value, _MUTABLE):
                self.note(DefaultLocation(function, name), value)
            elif name in (function.__kwdefaults__ or ()):
                self.note(ItemLocation(function.__kwdefaults__, name), value)

    def note_class(self, thing: Any) -> None:
        """The class of an object from outside the trace was asked for."""
        self._note_part(ClassOf(thing), thing, "own class")

    def note_definition(self, kind: type[Any], location: Location, defined: Any) -> None:
        """Something was looked for in a class, and found in this one of its bases, or not."""
        if location.key in self._seen or self.is_made(location.holder()):
            return
        self._seen.add(location.key)
        found = self._definitions.get(id(kind))
        if found is None:
            found = self._definitions[id(kind)] = Definitions(kind, mark())
            self._alive.append(kind)
            self.guards.append(found)
        found.add(location, defined)

    def _note_part(self, location: Location, thing: Any, how: str) -> bool:
        """Guards what an object from outside the trace is; whether that is news."""
        if location.key in self._seen or self.is_made(thing):
            return False
        self._seen.add(location.key)
        self._alive.append(thing)
        self._add(location, aspect(how, thing), how)
        return True

    def note_space(self, holder: Any, space: Any) -> None:
        """The `__dict__` of an object was read: what is put into it becomes attributes."""
        if not isinstance(space, dict):
            return
        for each in open_journals(self.journal):
            if each.made(holder):
                each.note_made(space)
        if not self.is_made(holder):
            self._outside[id(space)] = (space, SpaceLocation(holder))
            self._asked.add(id(space))

    def is_made(self, thing: Any) -> bool:
        """Whether the trace itself made an object."""
        return any(each.made(thing) for each in open_journals(self.journal))

    def note_given(self, copy: Any, path: tuple[Any, ...]) -> None:
        """`copy` is what the code got for a container among the arguments."""
        self._given[id(copy)] = ArgumentLocation(copy, path)

    def home_of(self, container: Any) -> Location | None:
        """Where calls find a container that outlives them; None for one that the trace made."""
        return self.place_of(container) or self._given.get(id(container))

    def note_item(self, container: Any, item: Any, pending: bool = False) -> None:
        """An item of a container was read, or found missing."""
        refuse_item(container, item)
        self._refuse_grown(container)
        location = self._asks(container)
        value = item_of(container, item)
        if location is None:
            _need_certain(ItemLocation(container, item), value)
            return
        found = list(self._before(container, item, value))
        for each in found:
            self.note(ItemLocation(container, each, location), value, pending)
        if not found:  # the trace put it there, perhaps by what it read before
            self._confirm(ItemLocation(container, item, location).key)
            if isinstance(container, (list, deque)) and isinstance(item, int) and item >= 0:
                self._note_length(container)  # behind what was there

    def _before(self, container: Any, item: Any, value: Any) -> Iterator[Any]:
        """Where a value of a container stood before the trace changed it, if it was there."""
        original = self._original(container)
        if original is container or not isinstance(container, (list, deque)):
            if item_of(original, item) is value:
                yield item
            return
        # The list may have lost what stood before it, or have grown behind it.
        if id(original) not in self._positions:
            locations: dict[int, list[int]] = {}
            for i, each in enumerate(original):
                locations.setdefault(id(each), []).append(i)
            self._positions[id(original)] = locations
            self._alive.append(original)
        found = self._positions[id(original)]
        first = -len(original) if isinstance(item, int) and item < 0 else 0
        for i in found.get(id(value), ()):
            yield first + i

    def note_length(self, container: Any) -> None:
        """The length of a container was asked for."""
        refuse_length(container)
        self._refuse_grown(container)
        self._note_length(container)

    def _refuse_grown(self, container: Any) -> None:
        """A list that grew in a staged loop where nothing else can take its place."""
        refuse_stale(container)
        if self.stand_in(container) is None:
            return
        if id(container) in self.replaced:
            unsupported(
                "a list that grew in a staged loop is read under another name",
                "in the graph it is a list of tensors, which has the place of the list where the "
                "trace found it; every call appends to the list itself when the graph has run.",
                fix="read it where it was found, by the name of the global or the attribute, or "
                "after the call",
            )
        else:
            unsupported(
                "a list that grew in a staged loop is read through a method or an argument",
                "in the graph it is a list of tensors, which can't take the place of the list "
                "there; every call appends to the list when the graph has run.",
                fix="read it after the call, or let the loop append to a list that has a name",
            )

    def stand_in(self, container: Any) -> Any:
        """The list of the graph for a list from outside that a staged loop grows; else None."""
        _, location, staged = self.replaced.get(id(container), (None, None, None))
        if location is not None and location.read() is staged:
            return staged
        return self.stand_ins.get(id(container))

    def _note_length(self, container: Any) -> None:
        self._note_aspect(container, "length", len)

    def note_keys(self, container: Any) -> None:
        """The keys of a dict, or the members of a set, were walked through."""
        given = self._given.get(id(container))
        if given is not None and ("keys", id(container)) not in self._seen:
            self._seen.add(("keys", id(container)))
            self._add(given, list(self._original(container)), "keys")
        self._note_aspect(container, "keys", list)

    def _note_aspect(self, container: Any, how: str, ask: Any) -> None:
        location = self._asks(container)
        if location is None or (how, id(container)) in self._seen:
            return
        self._seen.add((how, id(container)))
        self._add(Object(container, location), ask(self._original(container)), how)

    def _asks(self, container: Any) -> Location | None:
        self._asked.add(id(container))
        return self.place_of(container)

    def _original(self, container: Any) -> Any:
        """A container as the trace found it."""
        for each in open_journals(self.journal):
            if each.changed(container):
                return each.before(container)
        return container

    def note_whole(self, container: Any, location: Location | None = None) -> None:
        """All of a container was read, or may have been."""
        if location is None:
            refuse_walk(container)
            self._refuse_grown(container)
        location = location or self.place_of(container)
        if location is None:
            if isinstance(container, dict) and id(container) in self._given:
                self.note_keys(container)  # the arguments of the next call may be in another order
            return
        self._asked.add(id(container))
        if isinstance(container, (dict, set)):
            self.note_keys(container)
            items = list(container) if isinstance(container, dict) else []
        else:
            self._note_length(container)
            items = list(range(len(container)))
        for item in items:
            inner = item_of(container, item)
            for each in self._before(container, item, inner):
                self.note(ItemLocation(container, each, location), inner)
            if isinstance(inner, _MUTABLE) and id(inner) not in self._asked:
                self.note_whole(inner)

    def note_growth(self, container: Any) -> None:
        """A container is changed; nothing is asked of it."""
        self._asked.add(id(container))


def _lasts(location: Any) -> bool:
    return isinstance(location, ArgumentLocation) or location.holder() is not MISSING


def _need_certain(location: Location, value: Any) -> None:
    """Refuses to read what only one side of a staged branch put there."""
    refuse_read(location, value)
    perhaps = uncertain(location.key)
    if perhaps is not None:
        _refuse_uncertain(location, perhaps)


def _refuse_uncertain(location: Location, store: Set) -> None:
    labels = used_here("read here, while tracing")
    loop = store.site is not None and store.site.kind != "if"
    where, way = ("in a staged loop", "way") if loop else ("on one side of a branch", "side")
    if store.site is not None:
        text = "the branch: when it runs, only one side is taken"
        text = "the loop: it may run, or not" if loop else text
        labels.insert(
            0, {"role": "placed", "loc": store.site.loc(), "text": text, "primary": False}
        )
    fail(
        "E0104",
        f"{location.describe()} was set {where}, and is read after it",
        f"which {way} is taken is known when the graph runs, and Python needs its value now",
        fix="give it tensors, in both branches or before them; a graph can choose between tensors",
        labels=labels,
    )


def note_attribute_store(obj: Any, name: str, value: Any) -> None:
    """Says that `obj.name = value` is about to happen; for `__setattr__` of our own classes."""
    if recording() is not None:
        note_assigned(AttributeLocation(obj, name), value)
