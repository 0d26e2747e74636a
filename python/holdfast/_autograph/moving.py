"""Iterators from outside a trace: it moves them on, and no call of the graph does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._messages.diagnostics import warn
from .._tracing.facts import read_as
from .._tracing.recorder import recording
from ..errors import used_here

__all__ = ["moving"]


def moving(values: Any) -> Any:
    """Something to go through, as it is; W0602 if it is an iterator from outside the trace."""
    recorder = recording()
    if recorder is None or not isinstance(values, Iterator):
        return values
    ours = type(values).__module__.partition(".")[0] == __package__.partition(".")[0]
    guard = next((each for each in recorder.guards if each.was is values), None)
    if guard is not None and not ours:
        _warn(guard)
    return values


def _warn(guard: Any) -> None:
    words = read_as(guard)
    name = words if "`" in words else f"`{words}`"
    warn(
        "W0602",
        f"{name} moves on while code is traced; later calls get what the trace got",
        why=f"Python runs this line once, to trace it; what {name} gave is a constant of the graph",
        labels=used_here("moves on here, once, while tracing"),
        fixes=[
            {
                "title": "take its elements where the function is called, and pass each as an "
                "argument, a tensor",
                "applicability": "manual",
                "edits": [],
            }
        ],
    )
