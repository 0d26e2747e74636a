"""What code changes where it is: `rows *= 2`, `seen -= old`, `heapq.heappush(heap, x)`.

A staged branch runs both of its sides, so what one of them does to a container is written down, and
taken back before the other runs. What a function that nobody converted did to the containers that
it was given shows when it has returned. Of NumPy's arrays nobody writes anything down.
"""

from __future__ import annotations

import operator
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from .._tracing.journal import Growth, journal, mutate, refill
from .._tracing.locations import Object
from .._tracing.moved import current, is_moved
from .._tracing.recorder import recording
from ..errors import unsupported
from .arrays import ARRAYS, refuse_change, was_there
from .one_of import OneOf, each_way
from .storing import changing
from .walking import iterated, own_method

__all__ = ["add_in_place", "in_place", "is_changed", "join_in_place", "same_parts", "watched"]

_CONTAINERS = (list, dict, set, deque)
_MOST_COMPARED = 1 << 20  # bytes of an array
_OF_SETS = {
    "isub": "difference_update",
    "iand": "intersection_update",
    "ixor": "symmetric_difference_update",
}


def add_in_place(value: Any, other: Any) -> Any:
    """`value += other`."""
    if type(value) is OneOf:
        return in_place("iadd", value, other)
    if is_moved(value):
        current(value).extend(iterated(other))
        return value
    if isinstance(value, list) and journal() is not None and not _is_own(value, "__iadd__"):
        return _grown(value, "extend", list(iterated(other)))
    if is_changed("iadd", value):
        return in_place("iadd", value, other)
    value += other
    return value


def join_in_place(value: Any, other: Any) -> Any:
    """`value |= other`."""
    if type(value) is OneOf:
        return in_place("ior", value, other)
    known = isinstance(value, set) or (isinstance(value, dict) and hasattr(other, "keys"))
    if known and journal() is not None and not _is_own(value, "__ior__"):
        changing(value, "update")(other)
        return value
    if is_changed("ior", value):
        return in_place("ior", value, other)
    value |= other
    return value


def is_changed(name: str, value: Any) -> bool:
    """Whether an operator such as `imul` changes a value where it is, and that is to be known."""
    if journal() is None:
        return False
    if type(value) is OneOf:
        return True
    if own_method(value, f"__{name}__") is not None:
        return True
    if _is_own(value, f"__{name}__"):
        return False
    if isinstance(value, ARRAYS):
        return was_there(value)
    return isinstance(value, list) and name == "imul" or isinstance(value, set) and name in _OF_SETS


def in_place(name: str, value: Any, other: Any) -> Any:
    """`value op= other` of such a value."""
    if type(value) is OneOf:
        return each_way(
            value, lambda each: _one_in_place(name, each, other), f"the choice of `{name}`"
        )
    own = own_method(value, f"__{name}__")
    if own is not None:
        given = own(other)
        if given is not NotImplemented:
            return given
    elif isinstance(value, ARRAYS):
        refuse_change(value)
    elif isinstance(value, set) and isinstance(other, (set, frozenset)):
        return _grown(value, _OF_SETS[name], other)
    elif isinstance(value, list) and isinstance(other, int):
        if is_moved(value):
            unsupported(
                "`*=` of a list that grows in a staged loop",
                "in the graph it is a list of tensors, of which nobody knows how many there are.",
                fix="append only, and `tf.tile` the result of `tf.stack`",
            )
        if other < 1:
            return _grown(value, "clear")
        return _grown(value, "extend", list(value) * (other - 1))
    return getattr(operator, name)(value, other)


def _one_in_place(name: str, value: Any, other: Any) -> Any:
    if name == "iadd":
        return add_in_place(value, other)
    if name == "ior":
        return join_in_place(value, other)
    if is_changed(name, value):
        return in_place(name, value, other)
    return getattr(operator, name)(value, other)


def _is_own(container: Any, name: str) -> bool:
    """Whether the user wrote this method of a container."""
    return isinstance(getattr(type(container), name, None), types.FunctionType)


def _grown(container: Any, method: str, *others: Any) -> Any:
    recorder = recording()
    within = recorder.home_of(container) if recorder is not None else None
    if recorder is not None:
        recorder.note_growth(container)
    mutate(container, within, method, others)
    return container


# Functions that nobody converted.


def watched(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[], None]:
    """Looks at what a function of others is about to get; what to call after it, to see changes."""
    recorder, now = recording(), journal()
    if recorder is None or now is None or now is recorder.journal:
        return _nothing  # no staged code: what Python does is done
    given = {id(each): each for each in (getattr(function, "__self__", None), *args)}
    given |= {id(each): each for each in kwargs.values()}
    before = [
        (each, _copy(each))
        for each in given.values()
        if (isinstance(each, _CONTAINERS) and not now.made(each))
        or (isinstance(each, ARRAYS) and _size(each) <= _MOST_COMPARED and was_there(each))
    ]

    def look() -> None:
        for each, copy in before:
            if isinstance(each, ARRAYS):
                if bytes(each) != bytes(copy):
                    each[:] = copy
                    refuse_change(each)
            elif not same_parts(each, copy):
                _note(each, copy)

    return look if before else _nothing


def _nothing() -> None:
    pass


def _size(array: Any) -> int:
    return array.nbytes if isinstance(array, np.ndarray) else len(array)


def _copy(container: Any) -> Any:
    if isinstance(container, ARRAYS):
        return container.copy()
    return dict(container) if isinstance(container, dict) else list(container)


def same_parts(container: Any, copy: Any) -> bool:
    """Whether a container holds what a copy of it does."""
    if len(container) != len(copy):
        return False
    if isinstance(container, dict):
        return all(key in copy and copy[key] is each for key, each in container.items())
    return all(a is b for a, b in zip(container, copy, strict=True))


def _note(container: Any, before: Any) -> None:
    """Writes down that a container of the trace is another one now; calls can't repeat others."""
    now, recorder = journal(), recording()
    if now is None or recorder is None:
        return
    changed: Any = dict(container) if isinstance(container, dict) else list(container)
    fill = "extend" if isinstance(container, (list, deque)) else "update"
    if not now.changed(container):
        refill([(container, before)])
        now.keep(container)
        refill([(container, changed)])
    within = recorder.home_of(container)
    recorder.note_growth(container)
    for method, args in (("clear", ()), (fill, (changed,))):
        change = Growth(Object(container, within), method, args)
        change.foreign = True
        now.add(change)
