"""What is said when a symbol is asked for a Python value."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from . import _holdfast
from ._diagnostics import born_loc, mark, module_alias, name_in_frame, name_operand
from ._source import enclosing
from ._symbols import type_text
from .errors import fail, used_here

__all__ = ["refuse"]


def refuse(tensor: Any, asked: str, scope: dict[str, Any]) -> NoReturn:
    """Raises the diagnostic: whose the symbol is, why it has no value, and what to write instead."""
    name = name_operand(tensor, 0)[0] or name_in_frame(tensor) or scope["node"]
    by_hand = scope["kind"] == "graph" and asked in ("numpy", "buffer")
    if not scope["open"] or by_hand:
        _holdfast.value(tensor, name)  # it says why not
    if asked in ("numpy", "buffer"):
        _numpy(tensor, name, scope)
    if asked in ("iter", "len"):
        _iterate(tensor, name, asked, scope)
    _python_value(tensor, name, asked, scope)


def _labels(tensor: Any, text: str, used: str) -> list[dict[str, Any]]:
    born = born_loc(tensor)
    labels = used_here(used)
    if born:
        labels.insert(0, {"role": "born", "loc": born, "text": text, "primary": False})
    return labels


def _born_text(tensor: Any, scope: dict[str, Any]) -> str:
    if tensor._op == "Placeholder":
        return f"born here: {type_text(tensor)}, an argument of {scope['name']}"
    return f"born here: {type_text(tensor)} from {tensor._op}, in {scope['name']}"


def _subject(tensor: Any, name: str, scope: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "op": tensor._op,
        "dtype": tensor.dtype.name,
        "shape": str(tensor.shape),
        "born": born_loc(tensor) or {},
        "owner": {"kind": scope["kind"], "name": scope["name"], "trace_no": scope["trace_no"]},
    }


def _numpy(tensor: Any, name: str, scope: dict[str, Any]) -> NoReturn:
    tf, dtype = module_alias(), tensor.dtype.name
    fail(
        "E0203",
        f"`{name}.numpy()`: `{name}` has no value while `{scope['name']}` is traced",
        f"this runs once, while tracing `{scope['name']}`, when `{name}` is a recipe and not a number",
        fix=f"run what needs the number at each call: `{tf}.py_function(func, [{name}], {tf}.{dtype})`",
        labels=_labels(tensor, _born_text(tensor, scope), "asked for its value here"),
        subject=_subject(tensor, name, scope),
    )


def _origin(tensor: Any, scope: dict[str, Any]) -> str:
    roots = _holdfast.roots_of(tensor)
    if not roots:
        return f"is computed when `{scope['name']}` runs"
    names = ", ".join(f"`{r}`" for r in roots[:3])
    return f"depends on the argument{'s' if len(roots) > 1 else ''} {names} of `{scope['name']}`"


def _iterate(tensor: Any, name: str, asked: str, scope: dict[str, Any]) -> NoReturn:
    tf = module_alias()
    what = "iterated over" if asked == "iter" else "asked for its length"
    fail(
        "E0202",
        f"`{name}` is {what}, and its first dimension is not known while tracing",
        f"`{name}` {_origin(tensor, scope)}, and {type_text(tensor)} says not how many rows there are",
        fix=f"`{tf}.map_fn(lambda row: ..., {name})`, or `for` in the traced function itself",
        labels=_labels(tensor, _born_text(tensor, scope), f"{what} here"),
        subject=_subject(tensor, name, scope),
    )


_ASKED = {"bool": "its truth", "int": "an int", "float": "a float", "index": "an index"}


def _python_value(tensor: Any, name: str, asked: str, scope: dict[str, Any]) -> NoReturn:
    fail(
        "E0201",
        f"`{name}` is asked for {_ASKED[asked]} while `{scope['name']}` is traced",
        f"`{name}` {_origin(tensor, scope)}, so Python can't know its value while the graph is written",
        fix=_way_out(name, asked),
        labels=_labels(tensor, _born_text(tensor, scope), f"asked for {_ASKED[asked]} here"),
        subject=_subject(tensor, name, scope),
    )


def _way_out(name: str, asked: str) -> str:
    """The function of ours that does what the statement around means."""
    tf, here = module_alias(), mark()
    around = enclosing(here.code, here.lasti) if here is not None else []
    for node in around:
        if isinstance(node, ast.Subscript):
            return f"choose in the graph: `{tf}.switch_case({name}, [...])`, or `{tf}.gather` for tensors"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            return f"count in the graph: `{tf}.range({name})`"
        if isinstance(node, (ast.If, ast.While)):
            return f"branch in the graph: `{tf}.cond({name}, lambda: ..., lambda: ...)`"
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            return f"choose in the graph: `{tf}.where({name}, ..., ...)`"
    if asked == "bool":
        return f"`{tf}.where({name}, ..., ...)` for values, `{tf}.cond({name}, ...)` for code"
    if asked == "index":
        return f"`{tf}.gather(..., {name})`, or `{tf}.switch_case({name}, [...])`"
    return f"stay in the graph: `{tf}.cast({name}, ...)`"
