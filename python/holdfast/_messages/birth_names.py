"""What the line of a birth calls the thing that is born there."""

from __future__ import annotations

import ast
from typing import Any

from .source_text import tree_of

__all__ = ["assigned_there", "expression_at", "name_at", "name_given"]


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
        body: list[ast.AST] = list(ast.parse(loc["source"].strip()).body)
    except SyntaxError:  # the statement has more lines
        tree = tree_of(loc["file"])
        place = loc["line"], loc["col_begin"]
        body = [
            node
            for node in (ast.walk(tree) if tree is not None else ())
            if isinstance(node, ast.Assign)
            and (node.lineno, node.col_offset) <= place
            and place <= (node.end_lineno or 0, node.end_col_offset or 0)
        ]
    match body:
        case [ast.Assign(targets=[ast.Name() | ast.Attribute()]) as assign]:
            return assign
    return None


def name_given(loc: dict[str, Any]) -> str:
    """The name or attribute that a line gives what it computes; "" if there is none."""
    assign = assigned_there(loc)
    return "" if assign is None else ast.unparse(assign.targets[0])


def name_at(loc: dict[str, Any] | None) -> str:
    """The name or attribute that a line gives the value of the expression at `loc`; or ""."""
    assign = assigned_there(loc)
    if loc is None or assign is None:
        return ""
    if assign.lineno != assign.end_lineno:
        whole = (assign.value.lineno, assign.value.col_offset) == (loc["line"], loc["col_begin"])
        return ast.unparse(assign.targets[0]) if whole else ""
    words = ast.get_source_segment(str(loc["source"]).strip(), assign.value)
    return ast.unparse(assign.targets[0]) if words == expression_at(loc, 1000) else ""
