"""Objects that staged code hands on: their tensors travel, and each path makes an object anew.

`state = State(h, c)` in a loop or a branch leaves one of several objects under a name. An object
that the trace itself made is taken apart into its attributes like a tuple, and put together again
around the tensors that the graph gives. Objects from outside the trace have a life of their own:
they stay what they are.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from .. import _holdfast
from .._structures import nesting
from .._tensors.symbols import is_symbol
from .._tracing.journal import Change, Growth, Journal, Set, journal, note_joined
from .._tracing.made_objects import PLAIN_NEW, attributes_of
from .._tracing.moved import is_moved, parts_of
from .._tracing.recorder import recording
from .frames import own_names
from .one_of import OneOf

__all__ = [
    "as_left",
    "changed_lists",
    "containers",
    "containers_beside",
    "inside_records",
    "is_made",
    "is_new",
    "is_plain",
    "is_record",
    "leaves_of",
    "note_new",
    "note_one_of_several",
    "packed",
    "records_in",
    "same_structure",
    "snapshot",
]

_OTHERS: Any = (type, types.ModuleType, types.FunctionType, _holdfast.Object, _holdfast.Tensor)
_OTHERS = (*_OTHERS, OneOf)


def _parts(value: Any) -> list[Any]:
    return nesting.flatten(value) if nesting.is_nested(value) else [value]


def _attributes(thing: Any) -> dict[str, Any]:
    """What an object hands on."""
    carries = getattr(type(thing), "__carries__", None)
    if carries is not None:
        return {name: getattr(thing, name) for name in carries}
    return attributes_of(thing)


def is_made(thing: Any) -> bool:
    """Whether the trace made this object, of a class with attributes."""
    recorder = recording()
    return recorder is not None and is_plain(thing) and recorder.is_made(thing)


def is_plain(thing: Any) -> bool:
    """Whether something is an object of a class with attributes, made the usual way."""
    kind: Any = type(thing)
    return kind.__new__ in PLAIN_NEW and not isinstance(thing, _OTHERS)


def references(thing: Any) -> int:
    """How many hold an object besides a variable of the caller."""
    return sys.getrefcount(thing) - _OWN_REFERENCES


def _own_references() -> int:
    thing = object()
    return references(thing)


_OWN_REFERENCES = 0
_OWN_REFERENCES = _own_references()


def is_new(thing: Any, holders: int) -> bool:
    """Whether code that was not converted made this object, as operators of its class do.

    `holders` is how many hold it where this is asked: then nobody outside knows it.
    """
    return is_plain(thing) and not is_made(thing) and references(thing) <= holders


def note_new(cells: Any) -> None:
    """What is only held by a name of the function that runs was made by it."""
    now = journal()
    if now is None:
        return
    for name in own_names():
        value = cells.read(name)
        if is_new(value, 2):  # held by the cell, and by this variable
            now.note_made(value)


def is_record(thing: Any) -> bool:
    """Whether the trace made this object, and it holds what may be a tensor."""
    return is_made(thing) and _holds(thing, set())


def _holds(thing: Any, seen: set[int]) -> bool:
    if id(thing) in seen:
        return False
    seen.add(id(thing))
    for value in _attributes(thing).values():
        for part in _parts(value):
            if is_symbol(part) or isinstance(part, (_holdfast.Tensor, int, float, complex)):
                return True
            if is_plain(part) and _holds(part, seen):
                return True
    return False


def _walk(value: Any, seen: set[int], within: bool) -> Iterator[tuple[Any, bool]]:
    """The leaves of a value, and whether each is inside of an object."""
    for part in _parts(value):
        if not is_record(part):
            yield part, within
        elif id(part) not in seen:
            seen.add(id(part))
            for attribute in _attributes(part).values():
                yield from _walk(attribute, seen, True)


def records_in(value: Any) -> list[Any]:
    """The objects in a value that are taken apart."""
    seen: set[int] = set()
    found: list[Any] = []
    todo = _parts(value)
    while todo:
        part = todo.pop()
        if id(part) not in seen and is_record(part):
            seen.add(id(part))
            found.append(part)
            for attribute in _attributes(part).values():
                todo += _parts(attribute)
    return found


def note_one_of_several(records: list[Any], name: str, site: Any) -> None:
    """Remembers that objects may be one and the same: which one, the graph will know."""
    now = journal()
    several = [each for each in records if not hasattr(type(each), "__carries__")]
    if now is not None:
        now.one_of_several |= {id(each): (each, name, site) for each in several}
        note_joined(several, name, site)


def leaves_of(value: Any) -> list[Any]:
    """The leaves of a nested value; those of one object come once."""
    return [leaf for leaf, _ in _walk(value, set(), False)]


def inside_records(value: Any) -> list[bool]:
    """Of each leaf, whether it belongs to an object."""
    return [within for _, within in _walk(value, set(), False)]


def packed(like: Any, leaves: list[Any]) -> Any:
    """A value nested as `like` with other leaves; objects are new ones, unless nothing changes."""
    if is_record(like) and all(a is b for a, b in zip(leaves_of(like), leaves, strict=True)):
        return like
    return _rebuilt(like, iter(leaves), {})


def _rebuilt(like: Any, leaves: Iterator[Any], copies: dict[int, Any]) -> Any:
    new = [
        _copy(part, leaves, copies) if is_record(part) else next(leaves) for part in _parts(like)
    ]
    return nesting.pack_sequence_as(like, new) if nesting.is_nested(like) else new[0]


def _copy(thing: Any, leaves: Iterator[Any], copies: dict[int, Any]) -> Any:
    if id(thing) not in copies:
        kind: Any = type(thing)
        copy = copies[id(thing)] = kind.__new__(kind)
        now = journal()
        if now is not None:
            now.note_made(copy)
        handed_on = _attributes(thing)
        for name, part in attributes_of(thing).items():
            new = _rebuilt(part, leaves, copies) if name in handed_on else part
            object.__setattr__(copy, name, new)
    return copies[id(thing)]


def snapshot(value: Any) -> Any:
    """A value as it is now: containers and objects of the trace in it are copies."""
    nested = nesting.is_nested(value, whole=True)
    parts = nesting.flatten(value, whole=True) if nested else [value]
    leaves = iter(leaves_of([part for part in parts if is_record(part)]))
    copies: dict[int, Any] = {}
    new = [_copy(part, leaves, copies) if is_record(part) else part for part in parts]
    return nesting.pack_sequence_as(value, new, whole=True) if nested else new[0]


def as_left(values: Iterable[Any], written: Journal) -> dict[int, Any]:
    """Copies, by the id of the value, of those in which code changed what was there before it.

    For one side of a branch what it changed is taken back before the other runs; names that it
    leaves with another object than the other side have to give what was in theirs.
    """
    touched = {id(each) for each in map(_changed, written.changes) if not written.made(each)}
    copies: dict[int, Any] = {}
    for value in values if touched else ():
        if id(value) not in copies and any(id(part) in touched for part in _holders(value)):
            copies[id(value)] = _rebuilt(value, iter(leaves_of(value)), {})
    return copies


def changed_lists(written: Journal) -> dict[int, list[Any]]:
    """What is in the lists of the trace that were changed, by their ids."""
    lists = [_changed(each) for each in written.changes if not _outlives(each)]
    return {
        id(each): each[:]
        for each in lists
        if type(each) is list and not (written.made(each) or is_moved(each))
    }


def _outlives(change: Change) -> bool:
    """Whether what is changed is a container from around the trace."""
    if isinstance(change, Growth):
        return change.outlives
    return getattr(change.location, "within", None) is not None


def _changed(change: Change) -> Any:
    return change.location.holder() if isinstance(change, Set) else change.container.read()


def containers(value: Any) -> list[Any]:
    """The lists and dicts in a nested value, in the order of its structure."""
    return [part for part in parts_of(value) if type(part) in (list, dict)]


def containers_beside(*values: Any) -> Iterator[tuple[Any, ...]]:
    """The lists and dicts in values that are nested alike, those of one place side by side.

    Lists of the graph are among them, and what objects of the trace hold. One may be in several
    places of a value. What a side of a branch added is taken back again, so a value may have more
    than another one.
    """
    todo, seen = [values], set()
    while todo:
        beside = todo.pop()
        first, ids = beside[0], tuple(map(id, beside))
        alike = all(type(each) is type(first) for each in beside)
        if not alike or ids in seen:
            continue
        seen.add(ids)
        if type(first) in (list, dict) or hasattr(type(first), "__carries__"):
            yield beside
        elif is_record(first):
            held = [_attributes(each) for each in beside]
            names = [name for name in held[0] if all(name in each for each in held)]
            todo += [tuple(each[name] for each in held) for name in names]
        if not isinstance(first, (list, tuple, dict)):
            continue
        if isinstance(first, dict):
            shared = [key for key in first if all(key in each for each in beside)]
            todo += [tuple(each[key] for each in beside) for key in shared]
        else:
            todo += zip(*beside, strict=False)


def _holders(value: Any) -> list[Any]:
    """The containers and objects of the trace in a value."""
    found = parts_of(value)
    for record in records_in(value):
        found.append(record)
        for part in _attributes(record).values():
            found += parts_of(part)
    return found


def same_structure(a: Any, b: Any) -> bool:
    """Whether two values are nested in the same way, with objects of the same classes."""
    return _alike(a, b, set())


def _alike(a: Any, b: Any, seen: set[tuple[int, int]]) -> bool:
    if a is b or (id(a), id(b)) in seen:
        return True
    seen.add((id(a), id(b)))
    if nesting.is_nested(a) or nesting.is_nested(b):
        try:
            nesting.assert_same_structure(a, b)
        except (TypeError, ValueError):
            return False
        return all(_alike(x, y, seen) for x, y in zip(_parts(a), _parts(b), strict=True))
    if not (is_record(a) or is_record(b)):
        return True
    if not (is_record(a) and is_record(b)) or type(a) is not type(b):
        return False
    mine, other = _attributes(a), _attributes(b)
    return list(mine) == list(other) and all(_alike(mine[k], other[k], seen) for k in mine)
