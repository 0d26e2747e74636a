"""Tensors without a value: how they print, and what happens when a value is asked of them."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._messages.diagnostics import user_frame
from .._messages.provenance import type_text

__all__ = ["describe_symbol", "is_symbol", "refuse"]


def is_symbol(value: Any) -> bool:
    """Whether `value` is a tensor that has no value now."""
    if not isinstance(value, _holdfast.Tensor):
        return False
    return bool(value._symbolic and not _holdfast.has_value(value))


def describe_symbol(tensor: Any) -> str:
    """`gap: float32[?,3] (symbolic, Sub in residual, app.py:12)`."""
    scope = _holdfast.scope_of(tensor)
    born = tensor._born()
    place = f", {_holdfast.short_path(born['file'])}:{born['line']}" if born else ""
    role = "placeholder" if scope["kind"] == "graph" else "argument"
    origin = (
        f"{role} of {scope['name']}"
        if tensor._op == "Placeholder"
        else f"{tensor._op} in {scope['name']}"
    )
    return f"{scope['node']}: {type_text(tensor)} (symbolic, {origin}{place})"


def refuse(tensor: Any, asked: str) -> Any:
    """Called by the binding when a symbol is asked for a value that it does not have."""
    from .. import autograph
    from .._messages import symbols

    scope = _holdfast.scope_of(tensor)
    frame = user_frame()
    if scope["open"] and asked in ("bool", "len", "iter") and frame is not None:
        autograph.on_demand(frame)
    return symbols.refuse(tensor, asked, scope)
