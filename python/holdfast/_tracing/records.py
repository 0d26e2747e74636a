"""A trace as the C call reads it: its arguments, places, guards, stores and result as tuples.

What C can't do without running the user's code is left to Python, one place or guard at a time: the
record then holds the Python object that knows how.
"""

from __future__ import annotations

import functools
import gc
import types
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from .. import _holdfast
from .._structures import nesting
from .._variables.module import Module
from .locations import (
    MISSING,
    ArgumentLocation,
    AttributeLocation,
    CellLocation,
    ClassLocation,
    DefaultLocation,
    FieldLocation,
    GlobalLocation,
    ItemLocation,
    Location,
    Object,
    OwnerLocation,
    RawLocation,
    ReferentLocation,
    SpaceLocation,
)
from .made_objects import ObjectTemplate
from .perhaps import PerhapsSlot
from .signature import IdentityKey, is_type
from .slots import ChoiceSlot, Slot
from .stores import Store

__all__ = ["record"]

_holdfast.set_location_rules(MISSING, functools.partial)


class _Unsaid(Exception):
    """C can't be told: calls of this trace go through Python."""


def record(trace: Any) -> tuple[Any, ...] | None:
    """What C needs to call a trace without Python; None where it can't."""
    try:
        return _recorded(trace)
    except _Unsaid:
        return None


def _recorded(trace: Any) -> tuple[Any, ...]:
    count, names, tokens = _arguments(trace.key, trace.types)
    places = _Places(count, names)
    late = [(i, places.of(location)) for i, location in trace.late]
    guards = [_guard(places, guard) for guard in trace.guards or ()]
    if any(store.on_argument for store, _, _ in trace.stores) and trace.makes:
        raise _Unsaid
    finish = trace.finish if trace.makes else None
    stores = [_store(places, trace, *each) for each in trace.stores] if finish is None else []
    result = _template(trace.result) if finish is None else None
    described = trace.concrete, count, names, tokens, places.all, guards
    rest = result, stores, finish, trace.name, trace.facts
    return *described, trace.captured, late, *rest


# Arguments.


def _arguments(
    key: tuple[Any, ...], types: list[tuple[Any, Any]]
) -> tuple[int, tuple[str, ...], list[tuple[Any, ...]]]:
    """How many are positional, the names of the others, and a token for each part of them all."""
    # The key begins with the pair of positional arguments and keywords.
    _, (_, count), *rest = key
    entries, left = iter(rest), iter(types)
    tokens: list[tuple[Any, ...]] = []
    for _ in range(count):
        _argument(entries, left, tokens)
    _, names = next(entries)
    for _ in names:
        _argument(entries, left, tokens)
    return count, names, tokens


def _argument(
    entries: Iterator[Any], types: Iterator[tuple[Any, Any]], out: list[tuple[Any, ...]]
) -> None:
    entry = next(entries)
    kind = entry[0]
    if is_type(entry) or entry == ("tensor",):
        out.append(("tensor", *next(types)))
        return
    if kind in ("object", "variable"):
        out.append(_object(entry[1]))
        return
    if not isinstance(kind, type):
        raise _Unsaid
    token = _container(entry) if nesting.is_nested_type(kind) else ("value", _value(entry))
    out.append(token)
    for _ in range(0 if token[0] == "value" else _length(token)):
        _argument(entries, types, out)


def _length(token: tuple[Any, ...]) -> int:
    return token[2] if isinstance(token[2], int) else len(token[2])


def _object(identity: IdentityKey) -> tuple[str, Any]:
    found = identity.get()
    if found is None:
        raise _Unsaid  # it is gone, and no call will be for it
    try:
        return "weak", weakref.ref(found)
    except TypeError:
        return "held", found


def _value(entry: tuple[Any, Any]) -> Any:
    kind, value = entry
    return kind(value) if kind in (float, complex) and isinstance(value, str) else value


def _container(entry: tuple[Any, ...]) -> tuple[Any, ...]:
    kind, parts = entry[:2]
    if issubclass(kind, dict):
        ways = kind.__getitem__, kind.__len__
        plain = ways == (dict.__getitem__, dict.__len__) and (
            kind.__iter__ in (dict.__iter__, OrderedDict.__iter__)
        )
        if plain and all(map(_holdfast.is_plain_key, parts)):
            return "mapping", kind, parts
    elif hasattr(kind, "__attrs_attrs__"):
        return "fields", kind, tuple(field.name for field in kind.__attrs_attrs__)
    elif nesting.is_custom(kind):
        return "custom", kind, parts, entry[2]
    elif (issubclass(kind, tuple) and kind.__iter__ is tuple.__iter__) or (
        issubclass(kind, list) and kind.__iter__ is list.__iter__
    ):
        return "sequence", kind, parts
    raise _Unsaid


# Places.


class _Places:
    """The places of a trace, each once: (kind, the place it is inside of or -1, what)."""

    def __init__(self, count: int, names: tuple[str, ...]) -> None:
        self.all: list[tuple[str, int, Any]] = []
        self._count, self._names = count, names
        self._known: dict[tuple[Any, ...], int] = {}
        self._alive: list[Any] = []  # no id is given twice meanwhile

    def add(self, kind: str, within: int, what: Any, *name: Any) -> int:
        """The number of a place, which is known by its name, or by what it is."""
        key = kind, within, *(name or (id(what),))
        if key not in self._known:
            self._alive.append(what)
            self._known[key] = len(self.all)
            self.all.append((kind, within, what))
        return self._known[key]

    def thing(self, thing: Any) -> int:
        """An object, weakly where Python allows it."""
        self._alive.append(thing)
        try:
            return self.add("weak", -1, weakref.ref(thing), id(thing))
        except TypeError:
            return self.add("held", -1, thing)

    def named(self, kind: str, within: int, name: Any) -> int:
        """A part of what is in another place."""
        return self.add(kind, within, name, type(name), name)

    def of(self, location: Location) -> int:
        """Where C reads what a location reads."""
        if isinstance(location, GlobalLocation):
            return self.named("entry", self.add("held", -1, location.space), location.name)
        if isinstance(location, CellLocation):
            return self.add("cell", self.add("held", -1, location.cell), None)
        if isinstance(location, OwnerLocation):
            return self.add("owner", self.of(location.within), None)
        if isinstance(location, ArgumentLocation):
            return self._argument(location)
        if isinstance(location, ReferentLocation) and type(location.reference) is weakref.ref:
            return self.add("weak", -1, location.reference, id(location.reference))
        if isinstance(location, DefaultLocation):  # the function keeps it
            return self.add("held", -1, location.read())
        if isinstance(location, Object) and location.within is not None:
            return self.of(location.within)
        holder = location.holder()
        if holder is MISSING:
            return self.add("asked", -1, location)
        if isinstance(location, Object):
            return self.thing(holder)
        if isinstance(location, ItemLocation):
            plain = isinstance(holder, (dict, list, tuple)) and (
                _holdfast.is_plain_key(location.item)
            )
            if plain:
                within = location.within
                found = self.thing(holder) if within is None else self.of(within)
                return self.named("item", found, location.item)
        elif isinstance(location, ClassLocation) or (
            isinstance(location, AttributeLocation) and isinstance(holder, type)
        ):
            (space,) = gc.get_referents(holder.__dict__)  # the dict behind the read-only view
            return self.named("entry", self.add("held", -1, space), location.name)
        elif _holdfast.holds_plainly(holder):
            if isinstance(location, FieldLocation):
                return self.named("attribute", self.of(location.within), location.name)
            if isinstance(location, AttributeLocation):
                return self.named("attribute", self.thing(holder), location.name)
            if isinstance(location, SpaceLocation):
                return self.add("space", self.thing(holder), None)
        return self.add("asked", -1, location)

    def without(self, location: Location) -> int:
        """The same for a place that is to be empty: of most objects it is in no slot."""
        holder = location.holder()
        if (
            type(location) is AttributeLocation
            and _holdfast.holds_plainly(holder)
            and not _hides_slot(type(holder), location.name)
        ):
            return self.named("entry", self.add("space", self.thing(holder), None), location.name)
        return self.of(location)

    def _argument(self, location: ArgumentLocation) -> int:
        (part, first), steps = location.path[:2], location.path[2:]
        index = first if part == 0 else self._count + self._names.index(first)
        found = self.named("argument", -1, index)
        for step in steps:
            found = self.named("item", found, step)
        return found

    def holder_of(self, location: Location) -> tuple[str, int, Any] | None:
        """How C puts a value into a place: (how, place of the holder, key); None where it can't."""
        if isinstance(location, GlobalLocation):
            return "entry", self.add("held", -1, location.space), location.name
        if isinstance(location, CellLocation):
            return "cell", self.add("held", -1, location.cell), None
        holder = location.holder()
        if isinstance(location, ItemLocation) and location.within is not None:
            return "item", self.of(location.within), location.item
        if holder is MISSING or not isinstance(location, AttributeLocation):
            return None
        if type(location) is AttributeLocation:
            how = "heard" if _only_tells(type(holder)) else "attribute"
            return how, self.thing(holder), location.name
        in_space = _holdfast.holds_plainly(holder) and hasattr(holder, "__dict__")
        if type(location) is RawLocation and in_space and not _has_slot(holder, location.name):
            return "entry", self.add("space", self.thing(holder), None), location.name
        return None


def _only_tells(kind: type[Any]) -> bool:
    """Whether a store of an attribute only tells the journal, and is else as with all objects."""
    own = [each for each in kind.__mro__ if "__setattr__" in vars(each)]
    if own != [Module, object]:
        return False
    _holdfast.set_store_listener(vars(Module)["__setattr__"])
    return True


def _has_slot(holder: Any, name: str) -> bool:
    return any(name in kind.__dict__ for kind in type(holder).__mro__)


def _hides_slot(kind: type[Any], name: str) -> bool:
    found = [vars(each)[name] for each in kind.__mro__ if name in vars(each)]
    return any(isinstance(each, types.MemberDescriptorType) for each in found)


# Guards.


def _guard(places: _Places, guard: Any) -> tuple[str, int, Any, Any]:
    how, was = guard.how, guard.was
    if how == "definitions":
        return how, -1, weakref.ref(guard.location.read()), guard
    if how == "function":
        return how, -1, (weakref.ref(guard.location.read()), *was), guard
    if how in ("array", "bytes", "once") or (was is MISSING and how not in ("identity", "value")):
        return "asked", -1, None, guard
    place = places.without(guard.location) if was is MISSING else places.of(guard.location)
    if how == "same":
        return how, place, places.of(was), guard
    if how == "value":
        return ("missing" if was is MISSING else "value"), place, was, guard
    if how == "identity":
        if was is MISSING:
            raise _Unsaid  # it is gone, and the trace will serve no call
        try:
            return "weak", place, weakref.ref(was), guard
        except TypeError:
            return how, place, was, guard
    return how, place, was, guard


# Stores and results.


def _store(
    places: _Places, trace: Any, store: Any, shape: Any, condition: int | None
) -> tuple[Any, ...]:
    way = None
    if isinstance(store, Store):
        value = store.template(shape)
        if value is not None:
            grown = store.appended(value)
            location = store.location
            if grown is not None:
                value, way = grown, ("append", places.of(location), None)
            elif not store.method:
                way = places.holder_of(location)
    if way is None and store.on_argument:
        raise _Unsaid  # Python finds it among the arguments of a call that it makes itself
    way = way or ("asked", -1, None)
    given = None if way[0] == "asked" else value
    performer = trace.performer(store, shape)
    return *way, given, -1 if condition is None else condition, performer


def _template(value: Any) -> tuple[Any, ...]:
    """A result with slots, as C fills it: every container is made anew."""
    if type(value) is Slot:
        return "slot", value.index
    if type(value) in (ObjectTemplate, PerhapsSlot, ChoiceSlot):
        raise _Unsaid
    if nesting.is_nested(value):
        return "nested", value, [_template(part) for part in nesting.children(value)]
    return "constant", value
