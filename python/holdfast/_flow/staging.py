"""Python code as part of a graph: written down while tracing, called back at each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _holdfast
from .._tensors.symbols import is_symbol

__all__ = ["is_staged", "stage"]


def is_staged(tensors: Sequence[Any]) -> bool:
    """Whether what is done with these tensors now is written down, not done."""
    return _holdfast.is_tracing() or any(map(is_symbol, tensors))


def stage(op: str, name: str, run: Callable[..., None], inputs: Sequence[Any]) -> None:
    """Calls `run(*inputs)` each time the graph that is being written runs, in its place there."""

    def forward(values: list[Any], orders: int) -> tuple[list[Any], None]:
        run(*values)
        return [], None

    _holdfast.call_python(op, name, forward, None, list(inputs), [], [])
