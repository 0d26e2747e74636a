"""Stores by functions written in C: `kept.append`, `list.append`, `object.__setattr__`."""

from __future__ import annotations

import functools
import types
from collections import deque
from typing import Any

from .._tracing.journal import mutate, put
from .._tracing.locations import RawLocation, leaves
from .._tracing.moved import current, is_moved
from .._tracing.recorder import recording
from .conversion import converted_callee
from .lookups import class_attribute
from .orders import in_order
from .reads import is_data, item_place
from .state import is_tensor
from .walking import looked_through

__all__ = ["ASK_ALL", "CONTAINERS", "changing", "delete_item", "put_item", "storing"]

CONTAINERS = (list, dict, set, deque)
_CHANGE = {
    *("append", "appendleft", "extend", "extendleft", "insert", "add", "update", "setdefault"),
    *("pop", "popleft", "popitem", "remove", "discard", "clear", "sort", "reverse"),
    *("difference_update", "intersection_update", "symmetric_difference_update"),
    *("rotate", "move_to_end"),
}
ASK_ALL = {
    *("items", "keys", "values", "copy", "index", "count", "sort", "remove", "union"),
    *("intersection", "difference", "issubset", "issuperset", "popitem"),
}


def changing(container: Any, name: str) -> Any:
    """What to call for a method of Python's own that changes a container; None for another."""
    if name in _CHANGE:
        return functools.partial(_change, container, name)
    if name in _ITEMS and isinstance(container, (list, dict, deque)):
        if isinstance(getattr(type(container), name), types.FunctionType):
            return functools.partial(_change, container, name)  # called by the class's own
        return functools.partial(_ITEMS[name], container)
    return None


def put_item(container: Any, index: Any, value: Any) -> None:
    """`container[index] = value`."""
    item_place(container, index).value = value


def delete_item(container: Any, index: Any) -> None:
    """`del container[index]`."""
    del item_place(container, index).value


_ITEMS: dict[str, Any] = {"__setitem__": put_item, "__delitem__": delete_item}


def storing(function: Any) -> Any:
    """What to call for a function written in C that stores: `list.append`, `object.__setattr__`.

    It may be bound to its object, as `kept.append` is where it was given a name of its own.
    """
    name = getattr(function, "__name__", "")
    if isinstance(function, (types.BuiltinMethodType, types.MethodWrapperType)):
        owner = function.__self__
        if isinstance(owner, CONTAINERS):
            return changing(owner, name)
        if name == "__setattr__" and type(function.__self__).__setattr__ is not type.__setattr__:
            return functools.partial(_raw_setattr, owner)
        return None
    if isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        if function.__objclass__ in CONTAINERS and (name in _CHANGE or name in _ITEMS):
            return lambda owner, *args: changing(owner, name)(*args)
        if function is object.__setattr__:
            return _raw_setattr
    return None


def _raw_setattr(holder: Any, name: str, value: Any) -> None:
    """`object.__setattr__(holder, name, value)`."""
    _, defined = class_attribute(type(holder), name)
    if is_data(defined) and not isinstance(defined, types.MemberDescriptorType):
        object.__setattr__(holder, name, value)
    else:
        put(RawLocation(holder, name), value)


def _change(container: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls a method that changes a container."""
    recorder = recording()
    staged = recorder.stand_in(container) if recorder is not None else None
    if staged is not None:
        return getattr(staged, name)(*args, **kwargs)
    if is_moved(container):
        return getattr(current(container), name)(*args, **kwargs)
    within = recorder.home_of(container) if recorder is not None else None
    if recorder is not None:
        recorder.note_growth(container)
        if name in ASK_ALL or name in ("pop", "popleft"):
            recorder.note_whole(container)
        elif name == "setdefault":
            recorder.note_item(container, args[0])
    if name == "setdefault" and isinstance(container, dict) and args[0] in container:
        return container[args[0]]
    if name in ("extend", "extendleft", "update") and args:
        # What is walked through once has to last for every later call.
        given = looked_through(args[0])
        args = (dict(given) if hasattr(given, "keys") else list(given), *args[1:])
    if kwargs and name == "update" and isinstance(container, dict):
        args, kwargs = ({**dict(*args), **kwargs},), {}
    if within is None and isinstance(container, dict):
        # A dict of the trace: each item is a place of its own, which staged code can carry.
        if name == "update" and args:
            for key, value in dict(args[0]).items():
                put_item(container, key, value)
            return None
        if name == "setdefault" and args[0] not in container:
            put_item(container, *(args if len(args) > 1 else (args[0], None)))
            return container[args[0]]
    if name == "sort" and not args and any(map(is_tensor, leaves(container))):
        key, reverse = kwargs.get("key"), kwargs.get("reverse", False)
        new = in_order(container[:], key and converted_callee(key), reverse)
        return mutate(container, within, "__setitem__", (slice(None), new))
    return mutate(container, within, name, args, kwargs)
