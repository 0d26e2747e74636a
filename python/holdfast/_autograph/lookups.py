"""What classes define: code sees at once what the program puts there later, so traces go by it."""

from __future__ import annotations

import types
from typing import Any

from .. import _holdfast
from .._messages.user_code import is_user_class
from .._tracing.locations import MISSING, ClassLocation
from .._tracing.recorder import recording

__all__ = ["class_attribute", "note_class", "note_defined", "note_special"]


_DEFINITIONS = (types.FunctionType, property, classmethod, staticmethod)


def class_attribute(kind: type[Any], name: str) -> tuple[type[Any] | None, Any]:
    """The class that defines an attribute, and what it defines."""
    for owner in kind.__mro__:
        if name in owner.__dict__:
            return owner, owner.__dict__[name]
    return None, MISSING


def note_defined(kind: type[Any], name: str, behind: type[Any] | None = None) -> None:
    """An attribute was looked for in a class: the first that has it may be another one later.

    `super()` looks only at the bases behind the class it stands in.
    """
    recorder = recording()
    if recorder is None:
        return
    order = kind.__mro__
    for owner in order if behind is None else order[order.index(behind) + 1 :]:
        defined = owner.__dict__.get(name, MISSING)
        if is_user_class(owner):
            place = ClassLocation(owner, name)
            if defined is MISSING or isinstance(defined, _DEFINITIONS):
                recorder.note_definition(kind, place, defined)
            else:
                recorder.note(place, defined)
        if defined is not MISSING:
            return


def note_class(thing: Any) -> None:
    """The class of an object was asked for, by code or by Python: `__class__` can be assigned."""
    recorder = recording()
    if recorder is not None and _may_change_class(type(thing)):
        recorder.note_class(thing)


def _may_change_class(kind: type[Any]) -> bool:
    return is_user_class(kind) and not issubclass(kind, (_holdfast.Tensor, type))


def note_special(thing: Any, name: str) -> None:
    """Python is about to look for a special method of an object, in its class alone."""
    note_class(thing)
    note_defined(type(thing), name)
