"""A change of a variable while a graph is written by hand: an op of that graph."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._graphs.operation import note_read_after, operation_of

__all__ = ["changed"]


def changed(
    graph: Any,
    variable: Any,
    change: Any,
    value: Any,
    name: str | None,
    read_value: bool,
    kind: str,
) -> Any:
    """Adds an op to `graph` that changes a variable; the value after that, or the op."""
    scope = _holdfast.get_name_scope()
    fitting = variable._fitting(value)
    _holdfast.set_op_name(name or "")
    try:
        change(fitting)
    finally:
        _holdfast.set_op_name("")
    node = graph._nodes()[-1]
    if not read_value:
        return operation_of(node)
    graph._push_control([node], False)
    try:
        _holdfast.set_name_scope(f"{scope}{name or kind}/")
        return note_read_after(variable.read(), node)
    finally:
        _holdfast.set_name_scope(scope)
        graph._pop_control()
