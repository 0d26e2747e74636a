"""A number that does not fit the tensor it meets: whose dtype it was to have, and since where."""

from __future__ import annotations

import ast
from typing import Any

from .. import _holdfast
from .diagnostics import Mark, mark, module_alias, resolve, user_frame
from .provenance import born_label
from .source_text import function_at, last_set, line_at, tree_of

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
    if names.kind not in ("binary", "compare", "assign"):
        return False
    for text in names.operands:
        held = resolve(frame, text.text)
        if isinstance(held, (_holdfast.Tensor, _holdfast.VariableBase)):
            said["subject"] = subject | {"name": text.text, "dtype": held.dtype.name}
            begins = _number_before(text.text, held, here)
            if begins is not None:
                place, number = begins
                began = f"`{text.text}` begins here as a Python int, and is {held.dtype.name}"
                label = {"role": "born", "loc": place, "text": began, "primary": False}
                said["labels"] = [label, *said["labels"]]
                edit = {"file": place["file"], "line": place["line"], "col": place["col_begin"]}
                edit |= {"old": number, "new": f"{number}.0"}
                title = f"write the literal as a float: `{number}.0`"
                said["fixes"] = [{"title": title, "applicability": "tested", "edits": [edit]}]
                return True
            said["labels"] = [*born_label(held, text.text), *said["labels"]]
            if held.dtype.is_integer:
                tf = module_alias()
                cast = f"`{tf}.cast({text.text}, {tf}.float32)`"
                title = f"write an integer, or cast the tensor: {cast}"
                said["fixes"] = [{"title": title, "applicability": "manual", "edits": []}]
            return True
    return False


def _number_before(name: str, held: Any, here: Mark) -> tuple[dict[str, Any], str] | None:
    """The integer as typed that a variable of a staged loop begins with, and where it stands."""
    at = here.loc()
    tree = tree_of(at["file"]) if held._op == "Placeholder" else None
    home = function_at(tree, at["line"]) if tree is not None else None
    value = last_set(home, name, at["line"]) if home is not None else None
    if not isinstance(value, ast.Constant) or type(value.value) is not int:
        return None
    place = at | {"line": value.lineno, "col_begin": value.col_offset}
    place |= {"col_end": value.end_col_offset, "source": line_at(at["file"], value.lineno)}
    return place, str(value.value)
