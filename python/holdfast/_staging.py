"""Python code as part of a graph: written down while tracing, called back at each run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from . import _holdfast
from ._slots import filled, hollowed
from ._symbols import is_symbol
from ._variable import Variable

__all__ = ["is_staged", "stage", "with_slots"]


def is_staged(tensors: Sequence[Any]) -> bool:
    """Whether what is done with these tensors now is written down, not done."""
    return _holdfast.is_tracing() or any(map(is_symbol, tensors))


def stage(op: str, name: str, run: Callable[..., None], inputs: Sequence[Any]) -> None:
    """Calls `run(*inputs)` each time the graph that is being written runs, in its place there."""

    def forward(values: list[Any], record: bool) -> tuple[list[Any], None]:
        run(*values)
        return [], None

    _holdfast.call_python(op, name, forward, None, list(inputs), [], [])


def with_slots(structure: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """The tensors in a structure, and what puts others in their places."""
    tensors: list[Any] = []
    hollow = hollowed(structure, tensors, _tensor_in)
    return tensors, functools.partial(filled, hollow)


def _tensor_in(leaf: Any) -> Any:
    if isinstance(leaf, Variable):
        return leaf.read()
    return leaf if isinstance(leaf, _holdfast.Tensor) else None
