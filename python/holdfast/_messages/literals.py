"""A number that does not fit the tensor it meets: whose dtype it was to have, and since where."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .diagnostics import mark, module_alias, resolve, user_frame
from .provenance import born_label

__all__ = ["add_other_operand"]


def add_other_operand(said: dict[str, Any]) -> bool:
    """Says of `n * 0.5` where `n` was born, and casts it by name."""
    subject = said.get("subject") or {}
    if said["code"] != "E1101" or subject.get("name"):
        return False
    here, frame = mark(), user_frame()
    if here is None or frame is None:
        return False
    names = here.names()
    if names.kind not in ("binary", "compare"):
        return False
    for text in names.operands:
        held = resolve(frame, text.text)
        if isinstance(held, (_holdfast.Tensor, _holdfast.VariableBase)):
            said["labels"] = [*born_label(held, text.text), *said["labels"]]
            said["subject"] = subject | {"name": text.text, "dtype": held.dtype.name}
            if held.dtype.is_integer:
                tf = module_alias()
                cast = f"`{tf}.cast({text.text}, {tf}.float32)`"
                title = f"write an integer, or cast the tensor: {cast}"
                said["fixes"] = [{"title": title, "applicability": "manual", "edits": []}]
            return True
    return False
