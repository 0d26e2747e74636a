"""Structures of values with slots where tensors go, to be filled with those of each run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from . import nest
from ._tensor import IndexedSlices

__all__ = ["Slot", "filled", "hollowed"]

# No closures that call themselves: such cycles would keep symbols until the next collection.


class Slot:
    """Where tensor `index` goes in a structure."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def hollowed(structure: Any, tensors: list[Any], as_tensor: Callable[[Any], Any]) -> Any:
    """`structure` with slots where it holds tensors, which are appended to `tensors`.

    `as_tensor` gives the tensor that a leaf stands for, or None for one that stays as it is.
    """
    take = functools.partial(_take, tensors, as_tensor)
    return nest.map_structure(take, structure) if nest.is_nested(structure) else take(structure)


def _take(tensors: list[Any], as_tensor: Callable[[Any], Any], leaf: Any) -> Any:
    if isinstance(leaf, IndexedSlices):
        parts = (leaf.values, leaf.indices, leaf.dense_shape)
        return IndexedSlices(*(_take(tensors, as_tensor, part) for part in parts))
    tensor = None if leaf is None else as_tensor(leaf)
    if tensor is None:
        return leaf
    tensors.append(tensor)
    return Slot(len(tensors) - 1)


def filled(structure: Any, tensors: Sequence[Any]) -> Any:
    """`structure` with tensors in its slots."""
    fill = functools.partial(_fill, tensors)
    return nest.map_structure(fill, structure) if nest.is_nested(structure) else fill(structure)


def _fill(tensors: Sequence[Any], leaf: Any) -> Any:
    if type(leaf) is Slot:
        return tensors[leaf.index]
    if isinstance(leaf, IndexedSlices):
        parts = (leaf.values, leaf.indices, leaf.dense_shape)
        return IndexedSlices(*(_fill(tensors, part) for part in parts))
    return leaf
