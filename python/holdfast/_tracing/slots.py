"""Structures of values with slots where tensors go, to be filled with those of each run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .._structures import nesting
from .._tensors.symbols import is_symbol
from .journal import Journal
from .made_objects import ContainerTemplate, ObjectTemplate, ObjectTemplates
from .moved import Moved, current, is_moved, refuse_moved
from .perhaps import PerhapsSlot, perhaps_of

__all__ = ["ChoiceSlot", "Left", "Slot", "filled", "left_by", "rebuilt", "with_slots"]

# No closures that call themselves: such cycles would keep symbols until the next collection.


class Slot:
    """Where tensor `index` goes in a structure."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class ChoiceSlot:
    """Where one of several objects goes: output `index` is the number of the one."""

    __slots__ = ("_one", "index")

    def __init__(self, index: int, one: Any) -> None:
        self.index, self._one = index, one

    def of(self, tensors: Any) -> Any:
        """What goes there, of the tensors of a run or of a call inside of another trace."""
        which = tensors[self.index]
        if is_symbol(which):
            return type(self._one)(self._one.hf_things, which, self._one.hf_say)
        return self._one.hf_things[int(which)]

    def __repr__(self) -> str:
        return "one of several objects"


def with_slots(
    structure: Any,
    tensors: list[Any],
    as_tensor: Callable[[Any], Any],
    templates: ObjectTemplates | None = None,
) -> Any:
    """`structure` with slots where it holds tensors, which are appended to `tensors`.

    `as_tensor` gives the tensor that a leaf stands for, or None for one that stays as it is.
    Objects that `templates` takes become templates.
    """
    return _slotted(tensors, as_tensor, templates, {}, structure)


def _slotted(
    tensors: list[Any],
    as_tensor: Callable[[Any], Any],
    templates: ObjectTemplates | None,
    known: dict[int, Any],
    structure: Any,
) -> Any:
    take = functools.partial(_take, tensors, as_tensor, templates, known)
    if templates is None or not templates.shares(structure):
        return _mapped(take, structure)
    change = functools.partial(_slotted, tensors, as_tensor, templates, known)
    if templates.is_shared(structure):
        return templates.container(structure, known, change)
    return nesting.rebuild(structure, list(map(change, nesting.children(structure))))


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of what holds symbols or slots, with its parts changed; anything else itself."""
    if isinstance(value, dict):
        parts = {key: change(part) for key, part in value.items()}
        same = all(parts[key] is part for key, part in value.items())
        if same or type(value) is dict:
            return value if same else parts
    if not nesting.is_nested(value) or isinstance(value, range):
        return value
    before = list(nesting.children(value))
    after = [change(part) for part in before]
    if all(new is old for new, old in zip(after, before, strict=True)):
        return value
    return nesting.rebuild(value, after)


Left = dict[int, tuple[Any, Any]]  # by id: what a trace holds, and what it leaves in its place


def left_by(value: Any, left: Left, written: Journal, at: Callable[[], Any] | None = None) -> Any:
    """What a trace gives, where its own stand-ins for containers say what each call makes.

    `left` knows of what is in several places already; what is made here was made by the trace.
    """
    if id(value) in left:
        return left[id(value)][1]
    made = value
    if is_moved(value):
        made = left_by(current(value, at), left, written, at)
    elif type(value) is Moved:
        refuse_moved(value, at)
    elif hasattr(type(value), "__leaves_trace__"):
        made = value.__leaves_trace__()
    elif nesting.is_nested(value):
        left[id(value)] = value, value  # it may be inside of itself
        change = functools.partial(left_by, left=left, written=written, at=at)
        made = rebuilt(value, change)
    if made is not value:
        written.note_made(made)
        left[id(value)] = value, made
    return made


def _mapped(change: Callable[[Any], Any], structure: Any) -> Any:
    return (
        nesting.map_structure(change, structure)
        if nesting.is_nested(structure)
        else change(structure)
    )


def _take(
    tensors: list[Any],
    as_tensor: Callable[[Any], Any],
    templates: ObjectTemplates | None,
    known: dict[int, Any],
    leaf: Any,
) -> Any:
    if type(leaf) is Moved:
        refuse_moved(leaf)
    if (maybe := perhaps_of(leaf)) is not None:
        tensors += [maybe.value, maybe.ran]
        return PerhapsSlot(len(tensors) - 2, maybe)
    if hasattr(type(leaf), "hf_things"):
        if templates is None or templates.makes_any(leaf.hf_things):
            leaf.hf_refuse()
        tensors.append(leaf.hf_which)
        return ChoiceSlot(len(tensors) - 1, leaf.hf_without_which())
    tensor = None if leaf is None else as_tensor(leaf)
    if tensor is None:
        if templates is not None and templates.may_make(leaf):
            change = functools.partial(_slotted, tensors, as_tensor, templates, known)
            return templates.template(leaf, known, change)
        return leaf
    tensors.append(tensor)
    return Slot(len(tensors) - 1)


def filled(structure: Any, tensors: Sequence[Any]) -> Any:
    """`structure` with tensors in its slots."""
    return _mapped(functools.partial(_fill, tensors), structure)


def _fill(tensors: Sequence[Any], leaf: Any) -> Any:
    if type(leaf) is Slot:
        return tensors[leaf.index]
    if type(leaf) in (PerhapsSlot, ChoiceSlot):
        return leaf.of(tensors)
    if type(leaf) in (ContainerTemplate, ObjectTemplate):
        return leaf.fill(functools.partial(_mapped, functools.partial(_fill, tensors)))
    return leaf
