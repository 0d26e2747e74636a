"""What the line of a birth calls the thing that is born there."""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["assigned_there", "expression_at", "name_at"]


def expression_at(loc: dict[str, Any], longest: int = 40) -> str:
    """The source of the expression at a place, if it is short."""
    line = str(loc.get("source", "")).encode()
    part = line[max(loc.get("col_begin", 0), 0) : max(loc.get("col_end", 0), 0)]
    text = part.decode(errors="replace")
    return text if len(text) <= longest else ""


def assigned_there(loc: dict[str, Any] | None) -> ast.Assign | None:
    """The assignment on the line of a birth, if it gives its value to one name or attribute."""
    if not loc or not loc.get("source"):
        return None
    try:
        body = ast.parse(loc["source"].strip()).body
    except SyntaxError:
        return None
    match body:
        case [ast.Assign(targets=[ast.Name() | ast.Attribute()]) as assign]:
            return assign
    return None


def name_at(loc: dict[str, Any] | None) -> str:
    """The name or attribute that a line gives the value of the expression at `loc`; or ""."""
    assign = assigned_there(loc)
    if loc is None or assign is None:
        return ""
    whole = ast.get_source_segment(str(loc["source"]).strip(), assign.value)
    return ast.unparse(assign.targets[0]) if whole == expression_at(loc, 1000) else ""
