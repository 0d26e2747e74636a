"""Tensors and Variables as messages speak of them: their types, and where they were made."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .birth_names import assigned_there, expression_at, name_at
from .diagnostics import born_loc

__all__ = [
    "NO_NUMBER",
    "assigned_there",
    "born_label",
    "expression_at",
    "name_at_birth",
    "type_text",
    "width_of",
    "words_of",
]


def type_text(thing: Any) -> str:
    """`float32[?,2]`, as messages have it."""
    shape = thing.shape
    if shape.rank is None:
        return f"{thing.dtype.name}[...]"
    sizes = ",".join("?" if size is None else str(size) for size in shape.as_list())
    return f"{thing.dtype.name}[{sizes}]"


def born_label(thing: Any, name: str) -> list[dict[str, Any]]:
    """The label for where a tensor or Variable was made; none for what has no birth."""
    is_tensor = isinstance(thing, _holdfast.Tensor)
    if not is_tensor and not isinstance(thing, _holdfast.VariableBase):
        return []
    loc = born_loc(thing)
    if loc is None:
        return []
    made = f" from {thing._op}" if is_tensor and thing._op else ""
    kind = "" if is_tensor else "Variable "
    text = f"born here: {kind}`{name}`, {type_text(thing)}{made}"
    return [{"role": "born", "loc": loc, "text": text, "primary": False}]


def words_of(tensor: Any) -> str:
    """The expression that a tensor was born from, as typed, if it is short and no name is known."""
    return expression_at(born_loc(tensor) or {})


def name_at_birth(tensor: Any) -> str:
    """The name or attribute that the line of a birth gives the tensor to; "" if there is none."""
    return name_at(born_loc(tensor))


_KINDS = {"bool": 0, "uint": 1, "int": 1, "bfloat": 2, "float": 2, "complex": 3}
NO_NUMBER = (-1, 0)


def width_of(dtype: str) -> tuple[int, int]:
    """A dtype's place among those of numbers: its kind, then its bits."""
    kind = dtype.rstrip("0123456789")
    return (_KINDS[kind], int(dtype[len(kind) :] or 0)) if kind in _KINDS else NO_NUMBER
