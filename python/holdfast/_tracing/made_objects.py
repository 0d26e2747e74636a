"""Objects that a traced function makes: every call makes its own, with the tensors of that call.

`self.state = State(h, c)` leaves an object behind whose attributes are tensors. Later calls don't
run that line, so what it made is kept as a template: the class, and its attributes with slots. The
same goes for a list or dict that is left in several places: there it stays one.
"""

from __future__ import annotations

import copy
import threading
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Container, Iterable
from typing import Any, Self

from .. import _holdfast
from .._structures import nesting
from .._tensors.symbols import is_symbol
from .journal import journal
from .locations import MISSING, leaves, own_attribute, weak_getter
from .made_functions import FUNCTIONS, FunctionMaker, parts_of_function
from .moved import parts_of

__all__ = [
    "CONTAINERS",
    "PLAIN_NEW",
    "ContainerTemplate",
    "ObjectTemplate",
    "ObjectTemplates",
    "attributes_of",
    "one_call",
]

CONTAINERS = (list, dict, set, deque, defaultdict, OrderedDict)

# What makes an object and looks at no arguments.
PLAIN_NEW = (object.__new__, _holdfast.Object.__new__)


def attributes_of(thing: Any) -> dict[str, Any]:
    """What an object holds itself, in its `__dict__` and in slots."""
    names = list(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        for name, defined in kind.__dict__.items():
            if isinstance(defined, types.MemberDescriptorType) and name not in names:
                names.append(name)
    found = {name: own_attribute(thing, name) for name in names}
    if isinstance(thing, _holdfast.ModuleBase):  # its names are C++'s
        found |= {"_name": thing._name, "_scope_name": thing._scope_name}
    return {name: value for name, value in found.items() if value is not MISSING}


_OF_OURS = (object, _holdfast.Object, _holdfast.ModuleBase)  # with no state but what Python sees
_HEAP_TYPE = 1 << 9


def _is_of_python(kind: type[Any]) -> bool:
    """Whether a class adds nothing to its objects that is not among their attributes."""
    if kind in _OF_OURS:
        return True
    written_in_c = kind.__module__.partition(f"{_holdfast.__name__}")[1]
    return bool(kind.__flags__ & _HEAP_TYPE) and not written_in_c


class _Now(threading.local):
    def __init__(self) -> None:
        self.objects: dict[int, Any] | None = None


_now = _Now()


class one_call:
    """While it is entered, templates of the same object give one object."""

    def __enter__(self) -> Self:
        self._outer, _now.objects = _now.objects, {}
        return self

    def __exit__(self, *_: object) -> None:
        _now.objects = self._outer


class ObjectTemplate:
    """An object to be made by each call. `first` gives the one that the trace made, to its call."""

    __slots__ = ("_first", "_key", "_kind", "_maker", "attributes")

    def __init__(self, thing: Any, first: list[Any], maker: FunctionMaker | None = None) -> None:
        self._kind: Any = type(thing)
        self._maker = maker
        self._key, self._first = id(thing), first
        self.attributes: dict[Any, Any] = {}

    def fill(self, change: Callable[[Any], Any]) -> Any:
        """The object of this call; `change` makes the value of an attribute."""
        objects = {} if _now.objects is None else _now.objects
        if self._key in objects:
            return objects[self._key]
        if self._maker is not None and self._kind is not types.FunctionType:
            parts = {name: change(part) for name, part in self.attributes.items()}
            return objects.setdefault(self._key, self._maker.whole(parts))
        thing = self._first.pop()() if self._first else MISSING
        put: Callable[[Any, Any, Any], None] = object.__setattr__
        if self._maker is not None:
            thing, put = self._maker.begin(thing, objects), self._maker.put
        elif thing is MISSING:
            thing = self._kind.__new__(self._kind)
        objects[self._key] = thing
        for name, part in self.attributes.items():
            put(thing, name, change(part))
        return thing


class ContainerTemplate:
    """A container that a call leaves in several places. `first` has the one of the trace, if the
    first call may leave that.
    """

    __slots__ = ("_empty", "_first", "_key", "parts")

    def __init__(self, container: Any, first: list[Any]) -> None:
        self._key, self._first = id(container), first
        self._empty: Any = None  # like it; None of what is made at once, of its parts
        if type(container) in CONTAINERS:
            self._empty = copy.copy(container)
            self._empty.clear()
        self.parts: Any = None

    def fill(self, change: Callable[[Any], Any]) -> Any:
        """The container of this call; `change` makes what is in it."""
        objects = {} if _now.objects is None else _now.objects
        if self._key in objects:
            return objects[self._key]
        if self._first:
            objects[self._key] = self._first.pop()
            return objects[self._key]
        if self._empty is None:
            objects[self._key] = nesting.rebuild(
                self.parts, list(map(change, nesting.children(self.parts)))
            )
            return objects[self._key]
        thing = objects[self._key] = copy.copy(self._empty)  # first: it may be inside of itself
        now = journal()
        if now is not None:
            now.note_made(thing)
        if isinstance(thing, dict):
            thing.update({key: change(part) for key, part in self.parts.items()})
        elif isinstance(thing, set):
            thing.update(self.parts)
        else:
            thing.extend(map(change, self.parts))
        return thing


class ObjectTemplates:
    """The templates of one trace.

    `is_made` tells whether the trace made an object, `read` has the numbers of the tensors that it
    read from places which may hold others later.
    """

    def __init__(self, is_made: Callable[[Any], bool], read: Container[int]) -> None:
        self._is_made, self._read = is_made, read
        self._first: dict[int, list[Any]] = {}
        self._shared: dict[int, Any] = {}  # containers that are in several places, by id

    def varies(self, value: Any) -> bool:
        """Whether each call has a tensor of its own for this one."""
        return isinstance(value, _holdfast.Tensor) and (is_symbol(value) or value._id in self._read)

    def takes(self, thing: Any) -> bool:
        """Whether each call has to make such an object."""
        return self._holds(thing, set())

    def may_take(self, thing: Any) -> bool:
        """Whether the trace made an object, in a way that a call can repeat."""
        if isinstance(thing, types.MethodType):
            return self.may_take(thing.__self__)
        if not self._is_made(thing):
            return False
        kind = type(thing)
        if kind in FUNCTIONS:
            return True
        makes = getattr(kind, "__new__", None)
        if makes not in PLAIN_NEW or isinstance(thing, (type, types.ModuleType)):
            return False
        # A helper of staged code is what no call leaves behind.
        helps = hasattr(kind, "__carries__") or hasattr(kind, "__leaves_container__")
        return not helps and all(map(_is_of_python, kind.__mro__))

    def may_make(self, thing: Any) -> bool:
        """The same, and that all it holds is what a call can make, or what was there before."""
        return self.may_take(thing) and not any(
            isinstance(part, _holdfast.VariableBase) and self._is_made(part)
            for part in self._reached([thing])
        )

    def makes_any(self, things: Iterable[Any]) -> bool:
        """Whether the trace made one of several objects: each call would make it anew."""
        return any(map(self._is_made, things))

    def refuse_choices(self, values: Iterable[Any]) -> None:
        """Refuses values that hold one of several objects, which the graph chooses."""
        for part in self._reached(values):
            if hasattr(type(part), "hf_things"):
                part.hf_refuse()

    def of_one_call(self, values: Iterable[Any]) -> Any:
        """An object in values that the trace made, with a state of which Python knows nothing.

        None if there is none.
        """
        for part in self._reached(values):
            known = isinstance(part, _holdfast.VariableBase) or self.may_take(part)
            inner = isinstance(part, _holdfast.Object) or hasattr(type(part), "__next__")
            if inner and not known and self._is_made(part):
                return part
        return None

    def _reached(self, values: Iterable[Any]) -> list[Any]:
        """What nested values hold, and objects of the trace that are in them."""
        found: dict[int, Any] = {}
        todo = list(values)
        while todo:
            for leaf in leaves(todo.pop()):
                if id(leaf) not in found:
                    found[id(leaf)] = leaf
                    todo += self._attributes(leaf).values() if self.may_take(leaf) else ()
        return list(found.values())

    def _holds(self, thing: Any, seen: set[int]) -> bool:
        if id(thing) in seen or not self.may_take(thing):
            return False
        seen.add(id(thing))
        return any(
            self.varies(leaf) or self._holds(leaf, seen)
            for part in self._attributes(thing).values()
            for leaf in leaves(part)
        )

    def _attributes(self, thing: Any) -> dict[Any, Any]:
        if isinstance(thing, FUNCTIONS):
            return parts_of_function(thing, self._is_made)
        return attributes_of(thing)

    def template(
        self, thing: Any, known: dict[int, ObjectTemplate], change: Callable[[Any], Any]
    ) -> ObjectTemplate:
        """The template of an object; `change` puts slots into its attributes."""
        found = known.get(id(thing))
        if found is None:
            first = self._first.setdefault(id(thing), [weak_getter(thing)])
            maker = FunctionMaker(thing, self._is_made) if isinstance(thing, FUNCTIONS) else None
            found = known[id(thing)] = ObjectTemplate(thing, first, maker)
            for name, part in self._attributes(thing).items():
                found.attributes[name] = change(part)
        return found

    # Containers.

    def note_shared(self, values: Iterable[Any]) -> None:
        """Finds what is in several places of what the trace leaves."""
        seen: set[int] = set()
        todo = list(values)
        while todo:
            part = todo.pop()
            if self._may_share(part):
                if id(part) in seen:
                    self._shared[id(part)] = part
                    continue
            elif self.may_take(part):
                if id(part) in seen:
                    continue
                todo += self._attributes(part).values()
            seen.add(id(part))
            if isinstance(part, (list, tuple, set, deque)):
                todo += part
            elif isinstance(part, dict):
                todo += part.values()

    def _may_share(self, part: Any) -> bool:
        made = type(part) in CONTAINERS or hasattr(type(part), "__leaves_container__")
        return made and self._is_made(part)

    def is_shared(self, value: Any) -> bool:
        """Whether a value is a container that is in several places."""
        return id(value) in self._shared

    def shares(self, value: Any) -> bool:
        """Whether a nested value is, or holds, one that is."""
        return bool(self._shared) and any(map(self.is_shared, parts_of(value)))

    def container(
        self, thing: Any, known: dict[int, Any], change: Callable[[Any], Any]
    ) -> ContainerTemplate:
        """The template of a container; `change` puts slots into what it holds."""
        found: ContainerTemplate | None = known.get(id(thing))
        if found is None:
            plain = type(thing) in CONTAINERS and not any(
                self.varies(leaf) or self.takes(leaf) for leaf in leaves(thing)
            )
            first = self._first.setdefault(id(thing), [thing] if plain else [])
            found = known[id(thing)] = ContainerTemplate(thing, first)
            if isinstance(thing, dict):
                found.parts = {key: change(part) for key, part in thing.items()}
            elif type(thing) in CONTAINERS:
                found.parts = list(map(change, thing))
            else:
                parts = list(map(change, nesting.children(thing)))
                found.parts = nesting.rebuild(thing, parts)
        return found

    def __bool__(self) -> bool:
        return bool(self._first)
