"""Tensors without a value: which they are, and how they print."""

from __future__ import annotations

import threading
from typing import Any

from .. import _holdfast
from .._messages.provenance import name_at_birth, type_text

__all__ = ["describe_symbol", "is_symbol", "only_types"]


class _OnlyTypes(threading.local):
    """Whether code runs on this thread to tell the types of what it gives, and nothing more.

    Of an `if` on a symbol whose sides can't be joined the first is asked alone.
    """

    on = False


only_types = _OnlyTypes()


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
    name = scope["node"] if tensor._op == "Placeholder" else name_at_birth(tensor)
    return f"{name or scope['node']}: {type_text(tensor)} (symbolic, {origin}{place})"
