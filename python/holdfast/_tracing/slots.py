"""Structures of values with slots where tensors go, to be filled with those of each run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .._structures import nesting
from .made_objects import ObjectTemplate, ObjectTemplates
from .moved import Moved, refuse_moved, settled
from .perhaps import PerhapsSlot, perhaps_of

__all__ = ["Slot", "filled", "left_by", "with_slots"]

# No closures that call themselves: such cycles would keep symbols until the next collection.


class Slot:
    """Where tensor `index` goes in a structure."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


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
    take = functools.partial(_take, tensors, as_tensor, templates, {})
    return _mapped(take, structure)


def left_by(result: Any, at: Callable[[], Any] | None = None) -> Any:
    """What a trace gives, where its own stand-ins for containers say what each call makes."""
    result = settled(result, at)
    return _mapped(_left, result) if any(map(_stands_in, nesting.flatten(result))) else result


def _left(leaf: Any) -> Any:
    return leaf.__leaves_trace__() if _stands_in(leaf) else leaf


def _stands_in(leaf: Any) -> bool:
    return hasattr(type(leaf), "__leaves_trace__")


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
    known: dict[int, ObjectTemplate],
    leaf: Any,
) -> Any:
    if type(leaf) is Moved:
        refuse_moved(leaf)
    take = functools.partial(_take, tensors, as_tensor, templates, known)
    if (maybe := perhaps_of(leaf)) is not None:
        tensors += [maybe.value, maybe.ran]
        return PerhapsSlot(len(tensors) - 2, maybe)
    tensor = None if leaf is None else as_tensor(leaf)
    if tensor is None:
        if templates is not None and templates.takes(leaf):
            return templates.template(leaf, known, functools.partial(_mapped, take))
        return leaf
    tensors.append(tensor)
    return Slot(len(tensors) - 1)


def filled(structure: Any, tensors: Sequence[Any]) -> Any:
    """`structure` with tensors in its slots."""
    return _mapped(functools.partial(_fill, tensors), structure)


def _fill(tensors: Sequence[Any], leaf: Any) -> Any:
    if type(leaf) is Slot:
        return tensors[leaf.index]
    if type(leaf) is PerhapsSlot:
        return leaf.of(tensors)
    if type(leaf) is ObjectTemplate:
        return leaf.fill(functools.partial(_mapped, functools.partial(_fill, tensors)))
    return leaf
