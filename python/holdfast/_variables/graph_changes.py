"""A change of a variable while a graph is written by hand: an op of that graph."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._graphs.operation import Operation, operation_of

__all__ = ["changed"]


def changed(graph: Any, change: Any, value: Any, name: str | None) -> Operation:
    """Adds an op to `graph`, its default, that changes a variable."""
    _holdfast.set_op_name(name or "")
    try:
        change(value)
    finally:
        _holdfast.set_op_name("")
    return operation_of(graph._nodes()[-1])
