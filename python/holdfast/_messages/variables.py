"""What is said of a Variable that a traced function makes on each call."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NoReturn

from .provenance import assigned_there
from .raising import fail, used_here
from .source_text import tree_of

__all__ = ["refuse"]


def refuse(
    name: str, function: Callable[..., Any], variable: Any, holder: str, returned: bool = False
) -> NoReturn:
    """E0401: the Variable, who keeps it, and the line that belongs outside.

    `holder`: how the function's code reaches it, such as `self.total`; "" if it can't.
    """
    born = variable._born()
    called = _target(born) or _by_name(variable)
    if holder.endswith("]"):
        holder = holder.rpartition("[")[0]  # the list rather than its item
    kept = f"`{holder}` keeps it" if holder and holder != called else "it stays"
    if returned and not holder:
        kept = "returns it"
    labels = (
        []
        if born is None
        else [{"role": "born", "loc": born, "text": "made here, on each call", "primary": True}]
    )
    labels += [label | {"primary": not labels} for label in used_here("called here")]
    quoted = called if " " in called else f"`{called}`"
    fail(
        "E0401",
        f"`{name}` makes {quoted} on each call, and {kept}",
        f"a graph is written once: whether {quoted} is to be made once or anew at each call of "
        f"`{name}`, the program does not say",
        fixes=[_moved(name, function, born, quoted)],
        labels=labels,
        subject={
            "name": called,
            "dtype": variable.dtype.name,
            "shape": str(variable.shape),
            "born": born or {},
        },
    )


def _by_name(variable: Any) -> str:
    """What a Variable is called that no line gives a name to: of a layer's, where it stands."""
    path = str(getattr(variable, "path", "") or variable.name).removesuffix(":0")
    return "the Variable" if path.startswith("Variable") else f"the Variable `{path}`"


def _target(born: dict[str, Any] | None) -> str:
    statement = assigned_there(born)
    return ast.unparse(statement.targets[0]) if statement else ""


def _moved(
    name: str, function: Callable[..., Any], born: dict[str, Any] | None, quoted: str
) -> dict[str, Any]:
    """The edit that moves the line in front of a module's function; words where it can't be so."""
    statement, attribute = assigned_there(born), False
    if statement is not None:
        attribute = isinstance(statement.targets[0], ast.Attribute)
    title = f"make {quoted} once, outside of `{name}`"
    if attribute:
        title = f"make {quoted} in `__init__`, outside of `{name}`, or only `if` there is none yet"
    first = None
    if born is not None and statement is not None and not attribute:
        first = _first_line(function, born, statement)
    if first is None or born is None:
        return {"title": title, "applicability": "manual", "edits": []}
    line = born["source"]
    edits = [
        {"file": born["file"], "line": first, "col": 0, "old": "", "new": line.strip() + "\n"},
        {"file": born["file"], "line": born["line"], "col": 0, "old": line, "new": ""},
    ]
    return {"title": title, "applicability": "tested", "edits": edits}


def _first_line(
    function: Callable[..., Any], born: dict[str, Any], statement: ast.Assign
) -> int | None:
    """The line of the function's first decorator, if the statement may stand before it."""
    code = getattr(function, "__code__", None)
    tree = tree_of(born["file"])
    if code is None or tree is None or code.co_filename != born["file"]:
        return None
    words = {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
    if words & {*code.co_varnames, *code.co_freevars, *code.co_cellvars}:
        return None  # it needs what the function has
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
            continue
        if len(node.body) > 1 and any(inner.lineno == born["line"] for inner in node.body):
            return min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return None
