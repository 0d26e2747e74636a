"""A symbol is asked for a value that it does not have: converted code stages that, else E02xx."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._messages.diagnostics import user_frame
from .converter import converter

__all__ = ["asked_for_value"]


def asked_for_value(tensor: Any, asked: str) -> Any:
    """Called by the binding when a symbol is asked for a value that it does not have."""
    scope = _holdfast.scope_of(tensor)
    frame = user_frame()
    if scope["open"] and asked in ("bool", "len", "iter") and frame is not None:
        converter().on_demand(frame)
    from .._messages import symbols  # long, and few programs ask

    return symbols.refuse(tensor, asked, scope)
