"""What is said of a Variable that a traced function makes on each call."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NoReturn

from .provenance import assigned_there
from .raising import fail, used_here
from .rebinding import statement_loc
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
    if not _target(born) and not holder and not returned and (maker := _maker(born)) is not None:
        _refuse_let_go(name, function, variable, *maker)
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


def _refuse_let_go(
    name: str,
    function: Callable[..., Any],
    variable: Any,
    text: str,
    statement: ast.Assign | None,
) -> NoReturn:
    """The same of what makes Variables when it is first called, a layer or a metric."""
    born, quoted = variable._born(), f"`{text}`"
    labels = [{"role": "born", "loc": born, "text": "makes Variables here", "primary": True}]
    made = None
    if statement is not None:
        made = statement_loc(statement, born["file"]) | {"qualname": born["qualname"]}
        labels[0]["primary"] = False
        said = {"role": "born", "loc": made, "text": "made here, on each call", "primary": True}
        labels.insert(0, said)
    labels += [label | {"primary": False} for label in used_here("called here")]
    fix = _moved(name, function, made, quoted, statement)
    if fix["edits"]:
        fix["applicability"] = "maybe"  # it goes on from call to call then
    if made is None:
        fix["title"] = f"make {quoted} once, outside of `{name}`, and call that here"
    fail(
        "E0401",
        f"`{name}` makes {quoted} on each call, and lets it go",
        f"it has the Variable `{_path_of(variable)}`: a graph is written once, and would go on "
        "with that of the call before, where plain code begins anew",
        fixes=[fix],
        labels=labels,
        subject={
            "name": text,
            "dtype": variable.dtype.name,
            "shape": str(variable.shape),
            "born": made or born,
        },
    )


def _maker(born: dict[str, Any] | None) -> tuple[str, ast.Assign | None] | None:
    """What makes Variables in a line that calls it: its text, and the statement that makes it."""
    tree = None if born is None else tree_of(born["file"])
    if tree is None or born is None:
        return None
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    place = born["line"], born["col_begin"], born["col_end"]
    call = next((n for n in calls if (n.lineno, n.col_offset, n.end_col_offset) == place), None)
    if call is None:
        return None
    if isinstance(call.func, ast.Call):
        return ast.unparse(call.func), None
    text = ast.unparse(call.func.value if isinstance(call.func, ast.Attribute) else call.func)
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda))]
    around = [n for n in functions if n.lineno <= call.lineno <= (n.end_lineno or n.lineno)]
    inside = ast.walk(around[-1]) if around else ()
    makes = [n for n in inside if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    for statement in makes:
        if ast.unparse(statement.targets[0]) == text and statement.lineno <= call.lineno:
            return text, statement
    return None


def _path_of(variable: Any) -> str:
    return str(getattr(variable, "path", "") or variable.name).removesuffix(":0")


def _by_name(variable: Any) -> str:
    """What a Variable is called that no line gives a name to: of a layer's, where it stands."""
    path = _path_of(variable)
    return "the Variable" if path.startswith("Variable") else f"the Variable `{path}`"


def _target(born: dict[str, Any] | None) -> str:
    statement = assigned_there(born)
    return ast.unparse(statement.targets[0]) if statement else ""


def _moved(
    name: str,
    function: Callable[..., Any],
    born: dict[str, Any] | None,
    quoted: str,
    statement: ast.Assign | None = None,
) -> dict[str, Any]:
    """The edit that moves the line in front of a module's function; words where it can't be so."""
    statement, attribute = statement or assigned_there(born), False
    if statement is not None:
        attribute = isinstance(statement.targets[0], ast.Attribute)
    title = f"make {quoted} once, outside of `{name}`"
    if attribute:
        title = f"make {quoted} in `__init__`, outside of `{name}`, or only `if` there is none yet"
    first, one_line = None, statement is not None and statement.lineno == statement.end_lineno
    if born is not None and statement is not None and one_line and not attribute:
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
            line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            later = {name for each in tree.body if each.lineno > line for name in _bound(each)}
            earlier = {name for each in tree.body if each.lineno < line for name in _bound(each)}
            ready = not words & (later - earlier)
            once = _bound(node.body).count(ast.unparse(statement.targets[0])) == 1
            return line if ready and once else None
    return None


def _bound(code: ast.AST | list[ast.stmt]) -> list[str]:
    """The names that code gives values to, once for each time; not those of functions in it."""
    names: list[str] = []
    left: list[ast.AST] = list(code) if isinstance(code, list) else [code]
    while left:
        match left.pop():
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                names.append(name)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.append(name)
            case ast.alias(name=name, asname=other):
                names.append(other or name.partition(".")[0])
            case node:
                left.extend(ast.iter_child_nodes(node))
    return names
