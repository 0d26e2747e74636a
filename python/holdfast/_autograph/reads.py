"""The hooks of names, attributes and items: reads are noted, stores are written down."""

from __future__ import annotations

import sys
import types
import weakref
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._messages.user_code import is_user_class, is_user_module
from .._tensors.symbols import is_symbol
from .._tracing.journal import (
    Growth,
    journal,
    mutate,
    note_set,
    one_of_several,
    own_value,
    put,
)
from .._tracing.locations import (
    MISSING,
    AttributeLocation,
    CellLocation,
    GlobalLocation,
    ItemLocation,
    Location,
    SpaceLocation,
    own_attribute,
)
from .._tracing.moved import current
from .._tracing.perhaps import reread
from .._tracing.recorder import Object, recording
from .arrays import refuse_change
from .conversion import converted_callee
from .lookups import class_attribute, note_class, note_defined, note_special
from .messages import refuse_store
from .one_of import OneOf, each_way
from .rows import chooses, go_together, row_at
from .state import Maybe
from .unset import settled
from .walking import iterated, own_method

__all__ = [
    "assign",
    "attribute",
    "attribute_place",
    "cell_place",
    "free",
    "fresh",
    "global_",
    "global_place",
    "is_data",
    "item",
    "item_place",
    "local",
    "made",
    "slice_",
]

_CONTAINERS = (list, dict, set, deque)


def slice_(*bounds: Any) -> slice:
    """`begin:end:step`; where the graph chooses a number, it is a tensor."""
    return slice(*(each.__tf_tensor__() if type(each) is OneOf else each for each in bounds))


# Names.


def local(value: Any, name: str) -> Any:
    """A name of the function itself that some path may leave unset, or without a tensor."""
    return settled(value) if isinstance(value, Maybe) else reread(value)


def global_(name: str, value: Any) -> Any:
    """A name of the module."""
    recorder = recording()
    if recorder is not None and not isinstance(value, types.ModuleType):
        space = sys._getframe(1).f_globals
        if name in space:
            location = GlobalLocation(space, name)
            value = own_value(location.key, value)
            recorder.note(location, value)
    return reread(value)


def free(name: str, inside: Callable[[], Any]) -> Any:
    """A name of a function around this one. `inside` is a function that reads it."""
    value = inside()
    recorder = recording()
    if recorder is not None and not isinstance(value, types.ModuleType):
        location = CellLocation(_only_cell(inside), name)
        value = own_value(location.key, value)
        recorder.note(location, value)
    return local(value, name)


def _only_cell(inside: Callable[[], Any]) -> types.CellType:
    """The cell that a function reads which reads one name."""
    (cell,) = inside.__closure__ or ()
    return cell


def made(*names: str) -> Callable[[Any], Any]:
    """Marks a function as made by the trace itself, and so its cells of these names."""

    def mark(function: Any) -> Any:
        recorder = recording()
        if recorder is not None:
            recorder.note_made(function)
            free_names = function.__code__.co_freevars
            for name, cell in zip(free_names, function.__closure__ or (), strict=True):
                if name in names:
                    recorder.note_made(cell)
        return function

    return mark


def fresh(container: Any) -> Any:
    """What an expression makes, a list or an object: it belongs to the code that runs."""
    now = journal()
    if now is not None:
        now.note_made(container)
    return container


# Attributes.


def _reads_plainly(kind: type[Any]) -> bool:
    """Whether attributes of its objects are found the usual way, `__getattr__` or not."""
    reads: Any = kind.__getattribute__
    if reads is object.__getattribute__:
        return True
    return isinstance(reads, types.WrapperDescriptorType) and _holdfast.reads_plainly(
        reads.__objclass__
    )


def is_data(descriptor: Any) -> bool:
    """Whether something in a class takes what is assigned to an attribute."""
    return hasattr(type(descriptor), "__set__") or hasattr(type(descriptor), "__delete__")


def attribute(holder: Any, name: str, pending: bool = False) -> Any:
    """`holder.name`."""
    if type(holder) is OneOf:
        return each_way(holder, lambda each: attribute(each, name), f"the choice of `.{name}`")
    recorder = recording()
    if recorder is None or isinstance(holder, (_holdfast.Tensor, _holdfast.VariableBase)):
        return getattr(holder, name)
    if isinstance(holder, weakref.ProxyTypes):
        holder = holder.__repr__.__self__  # what it stands for: only its own type is the proxy's
    if isinstance(holder, types.ModuleType):
        value = getattr(holder, name)
        if is_user_module(holder) and not isinstance(value, types.ModuleType):
            place = GlobalLocation(vars(holder), name)
            value = own_value(place.key, value)
            recorder.note(place, value)
        return reread(value)
    if isinstance(holder, type):
        note_defined(holder, name)
        return reread(getattr(holder, name))
    kind = type(holder)
    if name == "__class__":
        note_class(holder)
    if kind is super:
        note_defined(holder.__self_class__, name, holder.__thisclass__)
    if name == "__dict__":
        space = getattr(holder, name)
        recorder.note_space(holder, space)
        return space
    owner, defined = class_attribute(kind, name)
    if _reads_plainly(kind) and not (
        defined is not MISSING and is_data(defined) and not _is_slot(defined)
    ):
        value = own_attribute(holder, name)
        if value is not MISSING:
            location = AttributeLocation(holder, name)
            value = own_value(location.key, value)
            recorder.note(location, value, pending)
            return reread(value)
    note_special(holder, name)
    if owner is not None and is_user_class(owner):
        if (not is_data(defined) or _is_slot(defined)) and _reads_plainly(kind):
            recorder.note(AttributeLocation(holder, name), MISSING)  # the object may get its own
        if type(defined) is property and defined.fget is not None:
            return _property(holder, name, defined.fget)
        gives = getattr(type(defined), "__get__", None)
        if isinstance(gives, types.FunctionType) and converted_callee(gives) is not gives:
            return converted_callee(gives)(defined, holder, kind)
    if owner is None and _reads_plainly(kind):
        recorder.note(AttributeLocation(holder, name), MISSING)  # asked for it, and it has none
        return _asked(holder, name)
    return reread(getattr(holder, name))


def _asked(holder: Any, name: str) -> Any:
    """What `__getattr__` gives for an attribute that is not there."""
    own = own_method(holder, "__getattr__")
    if own is not None:
        return own(name)
    if getattr(type(holder), "__getattr__", None) is dict.__getitem__:  # a dict with attributes
        return item(holder, name)
    return getattr(holder, name)


def _property(holder: Any, name: str, getter: Any) -> Any:
    """What a property gives. Where it raises AttributeError, Python asks `__getattr__`."""
    try:
        return converted_callee(getter)(holder)
    except AttributeError:
        if not hasattr(type(holder), "__getattr__"):
            raise
    return _asked(holder, name)


def _is_slot(descriptor: Any) -> bool:
    return isinstance(descriptor, types.MemberDescriptorType)


# Items.


def item(container: Any, index: Any, pending: bool = False) -> Any:
    """`container[index]`."""
    container, recorder = current(container), recording()
    if type(container) is OneOf:
        return each_way(container, lambda each: item(each, index), "the choice of an item")
    if type(index) is OneOf:
        return each_way(index, lambda each: item(container, each), "the choice of an item")
    if recorder is None or isinstance(container, _holdfast.Tensor):
        return container[index]
    place = None
    if isinstance(container, _CONTAINERS):
        if isinstance(index, slice):
            recorder.note_whole(container)
            whole: Any = container
            return fresh(whole[index])
        elif type(container) is list and chooses(index) and go_together(container):
            recorder.note_whole(container)
            return row_at(container, index)
        elif not is_symbol(index) and not isinstance(index, _holdfast.Tensor):
            index = _from_begin(container, index, recorder.home_of(container))
            recorder.note_item(container, index, pending)
            place = ItemLocation(container, index)
            _make_missing(container, index)
    else:
        getter = getattr(type(container), "__getitem__", None)
        if isinstance(getter, types.FunctionType):
            note_special(container, "__getitem__")
            return converted_callee(getter)(container, index)
        if type(container) is tuple and chooses(index) and go_together(container):
            return row_at(container, index)
    value = container[index]
    return reread(value if place is None else own_value(place.key, value))


def _from_begin(container: Any, index: Any, within: Location | None) -> Any:
    """The one number of an item of a list that the trace made; one from outside may be longer."""
    if type(container) is not list or within is not None or not isinstance(index, int):
        return index
    return index + len(container) if -len(container) <= index < 0 else index


def _make_missing(container: Any, index: Any) -> None:
    """A dict that makes what it lacks stores it, which is a store like any other."""
    plain = getattr(type(container), "__missing__", None) is defaultdict.__missing__
    makes = container.default_factory if plain else None
    if makes is not None and index not in container:
        _Item(container, index).value = fresh(makes())


# Places that are assigned to.


class _Target:
    """Something on the left of an assignment. Only `target.value op= x` reads `value`."""

    __slots__ = ("_grew", "location")

    def __init__(self, location: Location | None) -> None:
        self.location = location
        self._grew: Any = None

    def _read(self) -> Any:
        raise NotImplementedError

    def _write(self, value: Any) -> None:
        assert self.location is not None
        recorder = recording()
        if type(value) is OneOf and not (
            recorder is None or recorder.is_made(self.location.holder())
        ):
            each_way(value, self._write, f"the choice of {self.location.describe()}")
            return
        put(self.location, value)

    def _delete(self) -> None:
        raise NotImplementedError

    @property
    def value(self) -> Any:
        now, value = journal(), current(self._read())
        if now is not None and isinstance(value, _CONTAINERS):
            now.keep(value)  # `+=` may change it where it is
            self._grew = value.copy()
        return value

    @value.setter
    def value(self, value: Any) -> None:
        grew, self._grew = self._grew, None
        now = journal()
        if grew is not None and now is not None and value is self.place_value():
            _note_growth(value, grew)
        elif hasattr(type(value), "__carries__") and current(self.place_value()) is value:
            pass  # a list of the graph, which has grown where it is
        else:
            self._write(value)

    @value.deleter
    def value(self) -> None:
        self._delete()

    def place_value(self) -> Any:
        """What the place holds itself."""
        return self.location.read() if self.location is not None else MISSING


def _note_growth(container: Any, before: Any) -> None:
    """Writes down that `op=` changed a container where it is."""
    now, recorder = journal(), recording()
    if now is None:
        return
    within = recorder.home_of(container) if recorder is not None else None
    if recorder is not None:
        recorder.note_growth(container)
    if isinstance(container, (list, deque)):
        new: Any = list(container)[len(before) :]
        change = ("extend", (new,)) if len(container) >= len(before) else ("clear", ())
        now.add(Growth(Object(container, within), *change))
    elif isinstance(container, set):
        if before - container:
            less = (before - container,)
            now.add(Growth(Object(container, within), "difference_update", less))
        if container - before:
            now.add(Growth(Object(container, within), "update", (container - before,)))
    else:
        new = {key: value for key, value in container.items() if before.get(key, now) is not value}
        now.add(Growth(Object(container, within), "update", (new,)))


class _OfEither(_Target):
    """A place of one of several objects: of each, it is assigned where that is the one."""

    __slots__ = ("one", "place")

    def __init__(self, one: OneOf, place: Callable[[Any], _Target]) -> None:
        super().__init__(None)
        self.one, self.place = one, place

    def _read(self) -> Any:
        return each_way(self.one, lambda each: self.place(each).value, "the choice of a place")

    def _write(self, value: Any) -> None:
        def assign(each: Any) -> None:
            self.place(each).value = value

        each_way(self.one, assign, "the choice of a place")

    def _delete(self) -> None:
        def delete(each: Any) -> None:
            del self.place(each).value

        each_way(self.one, delete, "the choice of a place")


class _Attribute(_Target):
    __slots__ = ("holder", "name")

    def __init__(self, holder: Any, name: str) -> None:
        self.holder, self.name = holder, name
        if isinstance(holder, types.ModuleType):
            super().__init__(GlobalLocation(vars(holder), name))
        else:
            super().__init__(AttributeLocation(holder, name))

    def _read(self) -> Any:
        return attribute(self.holder, self.name, pending=True)

    def _write(self, value: Any) -> None:
        several = one_of_several(self.holder)
        if several is not None:
            refuse_store(self.holder, self.name, *several)
        kind = type(self.holder)
        _, defined = class_attribute(kind, self.name)
        takes, sets = kind.__setattr__, getattr(type(defined), "__set__", None)
        noting = recording() is not None
        if noting and isinstance(takes, types.FunctionType):
            note_special(self.holder, "__setattr__")
        if noting and defined is not MISSING and is_data(defined) and not _is_slot(defined):
            note_special(self.holder, self.name)
        if noting and isinstance(takes, types.FunctionType) and converted_callee(takes) != takes:
            converted_callee(takes)(self.holder, self.name, value)
        elif type(defined) is property and defined.fset is not None and noting:
            converted_callee(defined.fset)(self.holder, value)
        elif isinstance(sets, types.FunctionType) and noting:
            converted_callee(sets)(defined, self.holder, value)
        elif defined is not MISSING and is_data(defined) and not _is_slot(defined):
            setattr(self.holder, self.name, value)
        else:
            super()._write(value)

    def _delete(self) -> None:
        if self.location is not None and self.location.read() is not MISSING:
            _forget(self.location)
        delattr(self.holder, self.name)


class _Item(_Target):
    __slots__ = ("container", "index")

    def __init__(self, container: Any, index: Any) -> None:
        self.container, self.index = container, index
        recorder = recording()
        within = recorder.home_of(container) if recorder is not None else None
        self._grew = None
        self.location = None
        index = _from_begin(container, index, within)
        if isinstance(container, (list, dict)) and _is_key(index):
            if isinstance(within, SpaceLocation) and isinstance(index, str):
                self.location = within.part(index)
            else:
                self.location = ItemLocation(container, index, within)
            if recorder is not None:
                recorder.note_growth(container)

    def _read(self) -> Any:
        return item(self.container, self.index, pending=True)

    def _write(self, value: Any) -> None:
        setter = getattr(type(self.container), "__setitem__", None)
        if self.location is not None and not isinstance(setter, types.FunctionType):
            if isinstance(self.container, list) and self.location.read() is MISSING:
                self.container[self.index] = value  # out of range: Python says so
            super()._write(value)
        elif isinstance(setter, types.FunctionType) and recording() is not None:
            note_special(self.container, "__setitem__")
            converted_callee(setter)(self.container, self.index, value)
        elif isinstance(self.container, list) and isinstance(self.index, slice):
            self._change("__setitem__", list(iterated(value)))
        elif isinstance(self.container, deque):
            self._change("__setitem__", value)
        else:
            refuse_change(self.container)
            self.container[self.index] = value

    def _change(self, method: str, *values: Any) -> None:
        """Changes the container by one of its methods, at the index."""
        recorder = recording()
        within = recorder.home_of(self.container) if recorder is not None else None
        if recorder is not None:
            recorder.note_growth(self.container)
        mutate(self.container, within, method, (self.index, *values))

    def _delete(self) -> None:
        deletes = getattr(type(self.container), "__delitem__", None)
        if isinstance(deletes, types.FunctionType) and recording() is not None:
            converted_callee(deletes)(self.container, self.index)
        elif isinstance(self.container, dict) and self.location is not None:
            if self.location.read() is not MISSING:
                _forget(self.location)
            del self.container[self.index]
        elif isinstance(self.container, (list, deque)):
            self._change("__delitem__")
        else:
            del self.container[self.index]


def _is_key(index: Any) -> bool:
    if isinstance(index, (_holdfast.Tensor, slice)):
        return False
    try:
        hash(index)
    except TypeError:
        return False
    return True


class _Global(_Target):
    __slots__ = ("name", "space")

    def __init__(self, space: dict[str, Any], name: str) -> None:
        self.space, self.name = space, name
        super().__init__(GlobalLocation(space, name))

    def _read(self) -> Any:
        value = self.place_value()
        if value is MISSING:
            raise NameError(f"name {self.name!r} is not defined", name=self.name)
        recorder = recording()
        if recorder is not None and self.location is not None:
            recorder.note(self.location, value, pending=True)
        return reread(value)

    def _delete(self) -> None:
        if self.place_value() is MISSING:
            raise NameError(f"name {self.name!r} is not defined", name=self.name)
        assert self.location is not None
        _forget(self.location)
        self.space.pop(self.name, None)


class _Cell(_Target):
    __slots__ = ("name",)

    def __init__(self, cell: types.CellType, name: str) -> None:
        self.name = name
        super().__init__(CellLocation(cell, name))

    def _read(self) -> Any:
        value = self.place_value()
        if value is MISSING:
            raise NameError(
                f"cannot access free variable {self.name!r} where it is not associated with a "
                "value in enclosing scope",
                name=self.name,
            )
        recorder = recording()
        if recorder is not None and self.location is not None:
            recorder.note(self.location, value, pending=True)
        return local(value, self.name)

    def _delete(self) -> None:
        self._read()
        assert self.location is not None
        _forget(self.location)
        self.location.restore(MISSING)


def _forget(location: Location) -> None:
    """Writes down that a place is about to become empty."""
    note_set(location, MISSING)


def attribute_place(holder: Any, name: str) -> _Target:
    """`holder.name = ...`."""
    if type(holder) is OneOf:
        return _OfEither(holder, lambda each: attribute_place(each, name))
    return _Attribute(holder, name)


def item_place(container: Any, index: Any) -> _Target:
    """`container[index] = ...`."""
    space = sys._getframe(1).f_globals
    if container is space and isinstance(index, str):  # `globals()[name] = ...`
        return _Global(space, index)
    if type(container) is OneOf:
        return _OfEither(container, lambda each: item_place(each, index))
    return _Item(current(container), index)


def global_place(name: str) -> _Target:
    """`name = ...` of a global."""
    return _Global(sys._getframe(1).f_globals, name)


def cell_place(name: str, inside: Callable[[], Any]) -> _Target:
    """`name = ...` of a function around this one."""
    return _Cell(_only_cell(inside), name)


def assign(target: _Target, value: Any) -> Any:
    """`(name := value)` of a name that belongs elsewhere."""
    target.value = value
    return value
