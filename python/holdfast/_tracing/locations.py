"""Places where Python values live: a global, a cell of a closure, an attribute, an item.

A place can be read again later. Its holder is kept weakly where Python allows it; a plain list or
dict, which it does not, is reached through the place it was read from, if that is known.
"""

from __future__ import annotations

import contextvars
import functools
import gc
import threading
import types
import weakref
from collections import deque
from typing import Any, Self

from .._tensors.symbols import is_symbol

__all__ = [
    "MISSING",
    "ArgumentLocation",
    "AttributeLocation",
    "CellLocation",
    "ClassLocation",
    "ClassOf",
    "ContextLocation",
    "DefaultLocation",
    "FieldLocation",
    "GlobalLocation",
    "ItemLocation",
    "Location",
    "Object",
    "OwnerLocation",
    "PartsOf",
    "RawLocation",
    "ReferentLocation",
    "SpaceLocation",
    "called_with",
    "defaults_of",
    "held_by",
    "holds_symbol",
    "item_of",
    "leaves",
    "own_attribute",
    "owner_of",
    "raw_method",
    "weak_getter",
]


class _Missing:
    """Stands for no value at all."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Any = _Missing()


def weak_getter(thing: Any) -> Any:
    """A function that gives `thing` while it lives, then MISSING; it keeps what has no weakref."""
    try:
        reference = weakref.ref(thing)
    except TypeError:
        return lambda: thing
    return lambda: MISSING if (found := reference()) is None else found


class Location:
    """Something with a value that can be read again later."""

    __slots__ = ("__weakref__", "key")
    key: tuple[Any, ...]  # equal for the same place, while its holder lives
    anew = False  # whether each read may give another tensor, though nobody stored one
    writable = True  # whether another value can be put there

    def read(self) -> Any:
        """The value there now, without running the user's code; MISSING if there is none."""
        raise NotImplementedError

    def write(self, value: Any) -> None:
        """Puts a value there, as an assignment would."""
        raise NotImplementedError

    def restore(self, value: Any) -> None:
        """Puts a value back, behind the back of the user's code; MISSING takes it away."""
        raise NotImplementedError

    def holder(self) -> Any:
        """The object that the place belongs to, MISSING if it is gone."""
        raise NotImplementedError

    def describe(self) -> str:
        """The place in words, such as "global `K`"."""
        raise NotImplementedError


class GlobalLocation(Location):
    """A name of a module."""

    __slots__ = ("name", "space")

    def __init__(self, space: dict[str, Any], name: str) -> None:
        self.space, self.name = space, name
        self.key = ("global", id(space), name)

    def read(self) -> Any:
        return self.space.get(self.name, MISSING)

    def write(self, value: Any) -> None:
        self.space[self.name] = value

    def restore(self, value: Any) -> None:
        _put(self.space, self.name, value)

    def holder(self) -> Any:
        return self.space

    def describe(self) -> str:
        return f"global `{self.name}`"


class CellLocation(Location):
    """A name of the function around a function."""

    __slots__ = ("cell", "name")

    def __init__(self, cell: types.CellType, name: str) -> None:
        self.cell, self.name = cell, name
        self.key = ("cell", id(cell))

    def read(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:  # empty
            return MISSING

    def write(self, value: Any) -> None:
        self.cell.cell_contents = value

    def restore(self, value: Any) -> None:
        if value is not MISSING:
            self.cell.cell_contents = value
        elif self.read() is not MISSING:
            del self.cell.cell_contents

    def holder(self) -> Any:
        return self.cell

    def describe(self) -> str:
        return f"enclosing name `{self.name}`"


class AttributeLocation(Location):
    """An attribute that an object holds itself, in its `__dict__` or a slot."""

    __slots__ = ("_holder", "name", "owner")

    def __init__(self, holder: Any, name: str) -> None:
        self._holder, self.name = weak_getter(holder), name
        self.owner = holder.__name__ if _is_named(holder) else type(holder).__name__
        self.key = ("attribute", id(holder), name)

    def read(self) -> Any:
        holder = self._holder()
        return MISSING if holder is MISSING else own_attribute(holder, self.name)

    def write(self, value: Any) -> None:
        holder = self._holder()
        if holder is not MISSING:
            setattr(holder, self.name, value)

    def restore(self, value: Any) -> None:
        holder = self._holder()
        space = getattr(holder, "__dict__", None)
        if isinstance(holder, type):
            if value is not MISSING:
                type.__setattr__(holder, self.name, value)
            elif self.read() is not MISSING:
                type.__delattr__(holder, self.name)
        elif isinstance(space, dict) and not _slot(holder, self.name):
            _put(space, self.name, value)
        elif value is not MISSING:
            object.__setattr__(holder, self.name, value)
        elif self.read() is not MISSING:
            object.__delattr__(holder, self.name)

    def holder(self) -> Any:
        return self._holder()

    def describe(self) -> str:
        return f"attribute `{self.name}` of `{self.owner}`"


class RawLocation(AttributeLocation):
    """The same for code that stores by `object.__setattr__`, past the class's own ways."""

    __slots__ = ()

    def write(self, value: Any) -> None:
        self.restore(value)


class SpaceLocation(Location):
    """The `__dict__` of an object, as a container."""

    __slots__ = ("_holder", "owner")
    writable = False

    def __init__(self, holder: Any) -> None:
        self._holder, self.owner = weak_getter(holder), type(holder).__name__
        self.key = ("space", id(holder))

    def read(self) -> Any:
        return getattr(self._holder(), "__dict__", MISSING)

    def holder(self) -> Any:
        return self._holder()

    def part(self, name: Any) -> Location:
        """The place of one of its items: the attribute of that name."""
        return RawLocation(self._holder(), name)

    def describe(self) -> str:
        return f"the `__dict__` of `{self.owner}`"


class OwnerLocation(Location):
    """The container of a method that is kept in a place, such as `kept.append`."""

    __slots__ = ("within",)
    writable = False

    def __init__(self, within: Location) -> None:
        self.within = within
        self.key = ("owner", *within.key)

    def read(self) -> Any:
        return owner_of(self.within.read())

    def holder(self) -> Any:
        return self.read()

    def describe(self) -> str:
        return f"the container of {self.within.describe()}"


class ClassLocation(Location):
    """An attribute of a class: a method, a property, a constant."""

    __slots__ = ("_holder", "name", "owner")

    def __init__(self, holder: type[Any], name: str) -> None:
        self._holder, self.name, self.owner = weak_getter(holder), name, holder.__name__
        self.key = ("class", id(holder), name)

    def read(self) -> Any:
        holder = self._holder()
        return MISSING if holder is MISSING else holder.__dict__.get(self.name, MISSING)

    def write(self, value: Any) -> None:
        self.restore(value)

    def restore(self, value: Any) -> None:
        holder = self._holder()
        if holder is not MISSING:
            AttributeLocation(holder, self.name).restore(value)

    def holder(self) -> Any:
        return self._holder()

    def describe(self) -> str:
        return f"attribute `{self.name}` of class `{self.owner}`"


class ItemLocation(Location):
    """An item of a list, tuple or dict. `within` is where the container was read, if known."""

    __slots__ = ("_holder", "item", "within")

    def __init__(self, container: Any, item: Any, within: Location | None = None) -> None:
        self.item, self.within = item, within
        self._holder = within.read if within is not None else weak_getter(container)
        self.key = ("item", id(container), type(item), item)

    def read(self) -> Any:
        return item_of(self._holder(), self.item)

    def write(self, value: Any) -> None:
        self._holder()[self.item] = value

    def restore(self, value: Any) -> None:
        holder = self._holder()
        if isinstance(holder, dict):
            _put(holder, self.item, value)
        elif value is not MISSING and self.read() is not MISSING:
            holder[self.item] = value

    def holder(self) -> Any:
        return self._holder()

    def describe(self) -> str:
        inside = self.within.describe() if self.within is not None else "a container"
        return f"item {self.item!r} of {inside}"


class DefaultLocation(Location):
    """The default of a parameter: a list there lives as long as its function."""

    __slots__ = ("_holder", "name")
    writable = False

    def __init__(self, function: types.FunctionType, name: str) -> None:
        self._holder, self.name = weak_getter(function), name
        self.key = ("default", id(function), name)

    def read(self) -> Any:
        return defaults_of(self._holder()).get(self.name, MISSING)

    def holder(self) -> Any:
        return self._holder()

    def describe(self) -> str:
        return f"the default of `{self.name}`"


def defaults_of(function: Any) -> dict[str, Any]:
    """The defaults of a function's parameters, by name."""
    values = getattr(function, "__defaults__", None) or ()
    if not values and not getattr(function, "__kwdefaults__", None):
        return {}
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    return dict(zip(names[len(names) - len(values) :], values, strict=False)) | (
        function.__kwdefaults__ or {}
    )


class FieldLocation(Location):
    """A field of an object that never changes, read where the object was: it may be another now."""

    __slots__ = ("name", "within")
    writable = False

    def __init__(self, thing: Any, name: str, within: Location) -> None:
        self.name, self.within = name, within
        self.key = ("attribute", id(thing), name)

    def read(self) -> Any:
        holder = self.within.read()
        return MISSING if holder is MISSING else own_attribute(holder, self.name)

    def holder(self) -> Any:
        return self.within.read()

    def describe(self) -> str:
        return f"field `{self.name}` of {self.within.describe()}"


class Object(Location):
    """An object itself, for questions about the whole of it, such as its length."""

    __slots__ = ("_holder", "within")
    writable = False

    def __init__(self, thing: Any, within: Location | None = None) -> None:
        self.within = within
        self._holder = within.read if within is not None else weak_getter(thing)
        self.key = ("object", id(thing))

    def read(self) -> Any:
        return self._holder()

    def holder(self) -> Any:
        return self._holder()

    def describe(self) -> str:
        return self.within.describe() if self.within is not None else "a container"


class ClassOf(Object):
    """An object, of which code asked the class."""

    __slots__ = ("owner",)

    def __init__(self, thing: Any) -> None:
        super().__init__(thing)
        self.owner = type(thing).__name__
        self.key = ("class of", id(thing))

    def describe(self) -> str:
        return f"the class of a `{self.owner}`"


class PartsOf(Object):
    """A function, which may get other code and other defaults."""

    __slots__ = ("name",)

    def __init__(self, function: types.FunctionType) -> None:
        super().__init__(function)
        self.name = function.__name__
        self.key = ("function", id(function))

    def describe(self) -> str:
        return f"function `{self.name}`"


class ReferentLocation(Location):
    """What a weak reference refers to, while that lives."""

    __slots__ = ("reference",)
    writable = False

    def __init__(self, reference: weakref.ref[Any]) -> None:
        self.reference = reference
        self.key = ("referent", id(reference))

    def read(self) -> Any:
        found = self.reference()
        return MISSING if found is None else found

    def holder(self) -> Any:
        return self.reference

    def describe(self) -> str:
        return "what a weak reference refers to"


class ContextLocation(Location):
    """A context variable, in the context of each call."""

    __slots__ = ("variable",)
    writable = False

    def __init__(self, variable: contextvars.ContextVar[Any]) -> None:
        self.variable = variable
        self.key = ("context", id(variable))

    def read(self) -> Any:
        return self.variable.get(MISSING)

    def holder(self) -> Any:
        return self.variable

    def describe(self) -> str:
        return f"context variable `{self.variable.name}`"


class _Calls(threading.local):
    def __init__(self) -> None:
        self.arguments: list[Any] = []  # (args, kwargs) of the calls that run, innermost last


_calls = _Calls()


class called_with:
    """While it is entered, places among the arguments are those of this call."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._arguments = args, kwargs

    def __enter__(self) -> Self:
        _calls.arguments.append(self._arguments)
        return self

    def __exit__(self, *_: object) -> None:
        _calls.arguments.pop()


class ArgumentLocation(Location):
    """A container among the arguments of a function.

    While it is traced its code gets a copy, with symbols. Later it is the container of the call
    that runs: `path` leads to it from (args, kwargs).
    """

    __slots__ = ("copy", "path")
    writable = False

    def __init__(self, copy: Any, path: tuple[Any, ...]) -> None:
        self.copy, self.path = copy, path
        self.key = ("argument", id(copy))

    def read(self) -> Any:
        if self.copy is not MISSING or not _calls.arguments:
            return self.copy
        found = _calls.arguments[-1]
        for step in self.path:
            found = found[step]
        return found

    def holder(self) -> Any:
        return self.read()

    def describe(self) -> str:
        return "an argument"


def _is_named(holder: Any) -> bool:
    return isinstance(holder, (type, types.ModuleType, types.FunctionType))


def _put(space: dict[Any, Any], key: Any, value: Any) -> None:
    if value is MISSING:
        space.pop(key, None)
    else:
        space[key] = value


def _slot(holder: Any, name: str) -> Any:
    """The descriptor of a slot, None if the name is none."""
    for kind in type(holder).__mro__:
        found = kind.__dict__.get(name)
        if isinstance(found, types.MemberDescriptorType):
            return found
    return None


def own_attribute(holder: Any, name: str) -> Any:
    """An attribute that `holder` has itself: not its class's, and nothing computed."""
    space = getattr(holder, "__dict__", None)
    if isinstance(space, (dict, types.MappingProxyType)) and name in space:
        return space[name]
    slot = _slot(holder, name)
    if slot is None:
        return MISSING
    try:
        return slot.__get__(holder, type(holder))
    except AttributeError:  # an empty slot
        return MISSING


def item_of(container: Any, item: Any) -> Any:
    """An item of a plain container; MISSING where there is none, or the container is another."""
    if isinstance(container, dict):
        return dict.get(container, item, MISSING)
    if isinstance(container, (list, tuple, deque)) and isinstance(item, int):
        return container[item] if -len(container) <= item < len(container) else MISSING
    if isinstance(container, (set, frozenset)):
        return item in container
    return MISSING


def owner_of(function: Any) -> Any:
    """The object that a method written in C is bound to; MISSING for anything else."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, types.BuiltinMethodType):
        return function.__self__
    return MISSING


_OF_DICTS: tuple[Any, ...] = ({}.keys(), {}.values(), {}.items())
_VIEWS: tuple[type[Any], ...] = (types.MappingProxyType, *map(type, _OF_DICTS))


def held_by(value: Any) -> list[Any]:
    """What a partial call or a view shows of, whatever its own name."""
    if isinstance(value, functools.partial):
        return [*value.args, *value.keywords.values(), value.keywords]
    return gc.get_referents(value) if isinstance(value, _VIEWS) else []


def raw_method(container: Any, name: str) -> Any:
    """A method of a container as Python's own type has it, whatever the user's class does."""
    for kind in type(container).__mro__:
        found = kind.__dict__.get(name)
        if found is not None and not isinstance(found, types.FunctionType):
            return found.__get__(container, type(container))
    return None


def leaves(value: Any) -> list[Any]:
    """What a nested value holds: lists, tuples, dicts, sets, deques are looked into, once each."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (list, tuple, dict, set, frozenset, deque)):
            if id(part) not in seen:
                seen.add(id(part))
                waiting += reversed(list(part.values() if isinstance(part, dict) else part))
        elif hasattr(type(part), "__tf_flatten__"):
            waiting += reversed(part.__tf_flatten__()[1])
        else:
            found.append(part)
    return found


def holds_symbol(value: Any) -> bool:
    """Whether a nested value holds a tensor that has no value yet."""
    return any(map(is_symbol, leaves(value)))
