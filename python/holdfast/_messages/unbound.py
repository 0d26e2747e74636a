"""What is added to Python's own error when `total += x` takes an outer name for a local one."""

from __future__ import annotations

import ast

from .. import _holdfast
from .diagnostics import born_loc
from .source import shown_name
from .source_text import tree_of

__all__ = ["explain_unbound"]

_METHODS = {ast.Add: "assign_add", ast.Sub: "assign_sub"}


def explain_unbound(error: UnboundLocalError) -> None:
    """Notes where the outer tensor or Variable was made, and what to write instead."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = getattr(error, "name", None) or _name_in(error)
    if trace is None or not name:
        return
    frame, line = trace.tb_frame, trace.tb_lineno
    held = frame.f_globals.get(name)
    is_variable = isinstance(held, _holdfast.VariableBase)
    if not is_variable and not isinstance(held, _holdfast.Tensor):
        return
    file = frame.f_code.co_filename
    statement = _statement(file, line, name)
    function, kind = frame.f_code.co_name, "Variable" if is_variable else "tensor"
    fix = f"say `global {name}` at the beginning of `{function}`"
    if is_variable:
        fix = f"change the Variable: `{name}.assign(...)`"
        if statement is not None and type(statement.op) in _METHODS:
            value = ast.unparse(statement.value)
            fix = f"change the Variable: `{name}.{_METHODS[type(statement.op)]}({value})`"
    born = born_loc(held)
    made = f", born at {_holdfast.short_path(born['file'])}:{born['line']}" if born else ""
    place = f"{_holdfast.short_path(shown_name(file))}:{line}"
    error.add_note(
        f" why: `{name}` is assigned in `{function}` ({place}), so Python takes "
        f"it for a name of its own there, and not for the {kind} `{name}`{made}\n fix: {fix}"
    )


def _name_in(error: UnboundLocalError) -> str:
    """The name, which Python has in its words only."""
    parts = str(error).split("'")
    return parts[1] if len(parts) == 3 else ""


def _statement(file: str, line: int, name: str) -> ast.AugAssign | None:
    tree = tree_of(file)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.AugAssign(target=ast.Name(id=known)) if (known, node.lineno) == (name, line):
                return node
    return None
