"""Tensors without a value: how they print, and what happens when a value is asked of them."""

from __future__ import annotations

from typing import Any

from . import _holdfast
from ._diagnostics import user_frame

__all__ = ["describe_symbol", "refuse", "type_text"]

def type_text(tensor: Any) -> str:
    """`float32[?,2]`, as messages have it."""
    shape = tensor.shape
    if shape.rank is None:
        return f"{tensor.dtype.name}[...]"
    sizes = ",".join("?" if size is None else str(size) for size in shape.as_list())
    return f"{tensor.dtype.name}[{sizes}]"


def describe_symbol(tensor: Any) -> str:
    """`gap: float32[?,3] (symbolic, Sub in residual, app.py:12)`."""
    scope = _holdfast.scope_of(tensor)
    born = tensor._born()
    place = f", {_short(born)}" if born else ""
    role = "placeholder" if scope["kind"] == "graph" else "argument"
    origin = (
        f"{role} of {scope['name']}"
        if tensor._op == "Placeholder"
        else f"{tensor._op} in {scope['name']}"
    )
    return f"{scope['node']}: {type_text(tensor)} (symbolic, {origin}{place})"


def _short(loc: dict[str, Any]) -> str:
    import os

    file = loc["file"]
    here = os.getcwd() + os.sep
    shown = file.removeprefix(here) if file.startswith(here) else "/".join(file.split("/")[-2:])
    return f"{shown}:{loc['line']}"


def refuse(tensor: Any, asked: str) -> Any:
    """Called by the binding when a symbol is asked for a value that it does not have."""
    from . import _symbol_messages, autograph

    scope = _holdfast.scope_of(tensor)
    if scope["open"] and asked in ("bool", "len", "iter"):
        autograph.on_demand(user_frame())
    return _symbol_messages.refuse(tensor, asked, scope)
