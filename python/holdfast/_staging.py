"""Python code as part of a graph: written down while tracing, called back at each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _holdfast, nest
from ._variable import Variable

__all__ = ["is_staged", "stage", "with_slots"]

Tensor = _holdfast.Tensor


def is_staged(tensors: Sequence[Any]) -> bool:
    """Whether what is done with these tensors now is written down, not done."""
    return _holdfast.is_tracing() or any(
        t._symbolic and not _holdfast.has_value(t) for t in tensors
    )


def stage(op: str, name: str, run: Callable[..., None], inputs: Sequence[Any]) -> None:
    """Calls `run(*inputs)` each time the graph that is being written runs, in its place there."""

    def forward(values: list[Any], orders: int) -> tuple[list[Any], None]:
        run(*values)
        return [], None

    _holdfast.call_python(op, name, forward, None, list(inputs), [], [])


class _Slot:
    """Where a tensor goes in a structure."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def with_slots(structure: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """The tensors in a structure, and what puts others in their places."""
    tensors: list[Any] = []

    def take(leaf: Any) -> Any:
        if not isinstance(leaf, (Tensor, Variable)):
            return leaf
        tensors.append(leaf.read() if isinstance(leaf, Variable) else leaf)
        return _Slot(len(tensors) - 1)

    hollow = nest.map_structure(take, structure)

    def fill(values: Sequence[Any]) -> Any:
        return nest.map_structure(
            lambda leaf: values[leaf.index] if isinstance(leaf, _Slot) else leaf, hollow
        )

    return tensors, fill
