"""A change of a variable while a graph is written by hand: an op of that graph."""

from __future__ import annotations

from typing import Any

from .._graphs.operation import Operation, named, operation_of

__all__ = ["changed"]


def changed(graph: Any, change: Any, value: Any, name: str | None) -> Operation:
    """Adds an op to `graph`, its default, that changes a variable."""
    named(name, lambda: change(value))
    return operation_of(graph._nodes()[-1])
