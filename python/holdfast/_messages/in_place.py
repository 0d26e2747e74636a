"""E0404 for `variable -= x`: the statement would put a tensor in the Variable's place."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from .diagnostics import born_loc, user_frame
from .provenance import type_text
from .raising import fail, used_here
from .rebinding import statement_loc
from .source_text import tree_of
from .visible import visible_name

__all__ = ["refuse_in_place"]

_OPERATORS: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "**": ast.Pow,
    "@": ast.MatMult,
    "&": ast.BitAnd,
    "|": ast.BitOr,
    "^": ast.BitXor,
}


def refuse_in_place(variable: Any, symbol: str, method: str) -> NoReturn:
    """Refuses `variable symbol= value`; `method` is the Variable's own for it, "" if none."""
    statement, loc = _statement(symbol)
    name = visible_name(lambda value: value is variable) or "variable"
    if statement is not None:
        name = ast.unparse(statement.target)
    value = "..." if statement is None else ast.unparse(statement.value)
    if method:
        instead = f"{name}.{method}({value})"
    else:
        simple = statement is None or isinstance(
            statement.value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)
        )
        instead = f"{name}.assign({name} {symbol} {value if simple else f'({value})'})"
    fix: dict[str, Any] = {
        "title": f"change the Variable instead: `{instead}`",
        "applicability": "manual",
        "edits": [],
    }
    if statement is not None and statement.lineno == statement.end_lineno:
        old = loc["source"].encode()[loc["col_begin"] : loc["col_end"]].decode()
        place = {"file": loc["file"], "line": loc["line"], "col": loc["col_begin"]}
        fix |= {
            "title": "change the Variable instead of the name",
            "applicability": "tested",
            "edits": [place | {"old": old, "new": instead}],
        }
    born = born_loc(variable)
    type_ = type_text(variable)
    labels = [
        {
            "role": "born",
            "loc": born,
            "text": f"born here: Variable `{name}`, {type_}",
            "primary": False,
        }
    ]
    used = used_here(f"used here: `{name}` would be a tensor from now on")
    if statement is not None:
        used = [label | {"loc": loc} for label in used]
    fail(
        "E0404",
        f"`{name} {symbol}= ...` would put a tensor in the place of the Variable `{name}`",
        f"`{symbol}=` gives the name to a new tensor, and the Variable would keep its old value",
        labels=[*(labels if born else []), *used],
        fixes=[fix],
        subject={
            "name": name,
            "dtype": variable.dtype.name,
            "shape": type_.removeprefix(variable.dtype.name),
            "born": born or {},
        },
    )


def _statement(symbol: str) -> tuple[ast.AugAssign | None, dict[str, Any]]:
    """The statement that is executing and its place; None if the source does not tell."""
    frame = user_frame()
    tree = None if frame is None else tree_of(frame.f_code.co_filename)
    if frame is None or tree is None:
        return None, {}
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.AugAssign)
        and isinstance(node.op, _OPERATORS[symbol])
        and node.lineno <= frame.f_lineno <= (node.end_lineno or node.lineno)
    ]
    if len(found) != 1:
        return None, {}
    return found[0], statement_loc(found[0], frame.f_code.co_filename)
