"""Objects that Python's own code takes apart: `match`, `dataclasses.asdict`, generated `__eq__`."""

from __future__ import annotations

import copy
import dataclasses
import operator
import types
from typing import Any

from .._messages.user_code import is_user_class
from .._tracing.locations import leaves
from .._tracing.made_objects import attributes_of
from .._tracing.recorder import recording
from .lookups import note_class, note_defined
from .reads import attribute

__all__ = ["look_into", "matched", "takes_apart"]

_TAKE_APART = (
    *(copy.copy, copy.deepcopy),
    *(dataclasses.asdict, dataclasses.astuple, dataclasses.replace),
)


def takes_apart(function: Any) -> bool:
    """Whether a function of Python's reads attributes of the objects that it is given."""
    if isinstance(function, operator.attrgetter) or any(function is each for each in _TAKE_APART):
        return True
    formats = isinstance(getattr(function, "__self__", None), str)
    return formats and function.__name__ in ("format", "format_map")


def matched(subject: Any, *names: str) -> Any:
    """What a `match` statement is about, whose patterns ask objects for these attributes."""
    if recording() is not None:
        _take_apart(subject, names, set())
    return subject


def look_into(*values: Any) -> None:
    """All that objects hold is about to be read."""
    if recording() is not None:
        _take_apart(list(values), None, set())


def _take_apart(value: Any, names: tuple[str, ...] | None, seen: set[int]) -> None:
    for thing in leaves(value):
        kind = type(thing)
        known = is_user_class(kind) or kind is types.SimpleNamespace
        if not known or isinstance(thing, type) or id(thing) in seen:
            continue
        seen.add(id(thing))
        note_class(thing)
        wanted = list(attributes_of(thing)) if names is None else list(names)
        if names is not None:
            note_defined(kind, "__match_args__")
            wanted += getattr(kind, "__match_args__", ())
        for name in wanted:
            try:
                part = attribute(thing, name)
            except AttributeError:
                continue
            _take_apart(part, names, seen)
