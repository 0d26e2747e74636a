"""What to write in place of a statement that wants a Python value of a symbol."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from .. import _holdfast
from .diagnostics import mark, module_alias, resolve, user_frame
from .source import enclosing

__all__ = ["around", "calls_in", "is_call", "way_out"]


def around() -> list[ast.expr | ast.stmt]:
    here = mark()
    return enclosing(here.code, here.lasti) if here is not None else []


def calls_in(node: ast.AST) -> set[str]:
    """The functions that an expression calls by plain names."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return {each.id for each in calls if isinstance(each, ast.Name)}


def way_out(tensor: Any, name: str, asked: str, models: bool = False) -> str:
    """The function of ours that does what the statement around means."""
    tf = module_alias()
    place = name if tensor.dtype.is_integer else f"{tf}.cast({name}, {tf}.int32)"
    nodes = around()
    for inner, node in zip([None, *nodes], nodes, strict=False):
        match node:
            case ast.If() | ast.While() | ast.IfExp() if inner is not node.test:
                continue  # what it decides about
            case ast.Subscript(value=value, ctx=ast.Store()):
                return _kept(ast.unparse(value), name, asked, ast.unparse(node))
            case ast.Subscript(value=value, slice=ast.Slice()):
                return _cut(ast.unparse(value), name)
            case ast.Subscript(value=value) if not isinstance(value, (ast.Call, ast.ListComp)):
                return _choice(ast.unparse(value), name, tensor)
            case ast.Call(func=ast.Attribute(value=value, attr="get")) if asked in _AS_KEYS:
                return _choice(ast.unparse(value), name, tensor)
            case ast.comprehension() | ast.ListComp() | ast.GeneratorExp() if asked == "bool" and (
                isinstance(node, ast.comprehension) or any(part.ifs for part in node.generators)
            ):
                mask = f"{tf}.boolean_mask(values, mask)"
                return f"keep those for which it holds, in the graph: `{mask}`"
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[among]):
                return _is_among(ast.unparse(left), among)
            case ast.BinOp(left=ast.List() as row, op=ast.Mult()) if asked in _AS_KEYS:
                return f"repeat in the graph: `{tf}.repeat({ast.unparse(row)}, {place})`"
            case ast.Call() if asked == "bool" and "filter" in calls_in(node):
                mask = f"{tf}.boolean_mask(values, mask)"
                return f"keep those for which it holds, in the graph: `{mask}`"
            case ast.Call() if asked in _AS_KEYS and "range" in calls_in(node):
                return _loops(nodes, place) or _counted(place)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() if any(
                is_call(part.iter, "range") for part in node.generators
            ):
                return _counted(place)
            case ast.Subscript(value=ast.Call() as value) if is_call(value, "sorted"):
                return _sorted_fix(value)
            case ast.Call() if is_call(node, "sorted"):
                return _sorted_fix(node)
            case ast.Call() if is_call(node, "max") or is_call(node, "min"):
                found = "argmax" if is_call(node, "max") else "argmin"
                most = f"reduce_{found[3:]}"
                if any(each.arg == "key" for each in node.keywords):
                    given = f"{tf}.stack({ast.unparse(node.args[0])})" if node.args else "..."
                    picked = f"{tf}.gather({given}, {tf}.{found}(keys))"
                    return f"choose in the graph, with `keys` as one tensor: `{picked}`"
                return (
                    f"compare in the graph: `{tf}.{most}({tf}.stack([...]))` is the value, "
                    f"`{tf}.{found}` its place"
                )
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=attr)) if (
                attr in _MATH
            ):
                return f"compute it in the graph: `{tf}.math.{_MATH[attr]}({name})`"
            case ast.If() if models:
                return f"compute both and choose: `{tf}.where({name}, ..., ...)`"
            case ast.While():
                return f"loop in the graph: `{tf}.while_loop(lambda ...: {name}, ...)`"
            case ast.If():
                return f"branch in the graph: `{tf}.cond({name}, lambda: ..., lambda: ...)`"
            case ast.IfExp() | ast.BoolOp():
                return f"choose in the graph: `{tf}.where({name}, ..., ...)`"
    if asked == "bool":
        return f"`{tf}.where({name}, ..., ...)` for values, `{tf}.cond({name}, ...)` for code"
    if asked == "key":
        return f"`{tf}.switch_case({name}, [...])` goes by the value; `{name}.ref()` is a key"
    if asked == "index":
        return f"`{tf}.gather(..., {place})`, or `{tf}.switch_case({place}, [...])`"
    dtype = "float32" if asked == "float" else "int32"
    return f"stay in the graph: `{tf}.cast({name}, {tf}.{dtype})` is a tensor of that kind"


_AS_KEYS = ("int", "index", "key")


def _kept(container: str, name: str, asked: str, place: str) -> str:
    """A store by a tensor: of one into an array, or at a place that only the graph knows."""
    tf, frame = module_alias(), user_frame()
    found = resolve(frame, container) if frame is not None else None
    if asked in ("int", "index", "key"):
        return (
            f"let a tensor stand for `{container}`: "
            f"`{tf}.tensor_scatter_nd_update(..., [[{name}]], [...])` gives one with that place set"
        )
    if isinstance(found, np.ndarray) and _is_local(container):
        return f"collect tensors in a list, in place of `{container}`, and `{tf}.stack` it"
    return f"keep it in a `{tf}.Variable`: `{place}.assign({name})`"


def _is_local(name: str) -> bool:
    """Whether a name is set in the function around, so that what it leads to ends with the call."""
    for node in around():
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            names = (n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name)
            return any(isinstance(n.ctx, ast.Store) for n in names)
    return False


def is_call(node: ast.AST, name: str) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == name


def _loops(nodes: list[ast.expr | ast.stmt], name: str) -> str:
    """What to write for a loop over `range(...)`, which only converted code stages; or ""."""
    tf = module_alias()
    if not any(isinstance(node, ast.For) and "range" in calls_in(node.iter) for node in nodes):
        return ""
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and any(map(_is_as_written, node.decorator_list)):
            return f"leave out `autograph=False`: a loop over `{tf}.range({name})` is staged then"
    return f"loop in the graph: `{tf}.while_loop(lambda i, ...: i < {name}, ...)`"


def _is_as_written(decorator: ast.expr) -> bool:
    options = decorator.keywords if isinstance(decorator, ast.Call) else []
    return any(
        option.arg == "autograph"
        and isinstance(option.value, ast.Constant)
        and option.value.value is False
        for option in options
    )


def _counted(name: str) -> str:
    return f"count in the graph: `{module_alias()}.range({name})`"


def _sorted_fix(call: ast.Call) -> str:
    tf = module_alias()
    given = f"{tf}.stack({ast.unparse(call.args[0]) if call.args else '...'})"
    options = {each.arg: each.value for each in call.keywords}
    reverse = options.get("reverse")
    turned = isinstance(reverse, ast.Constant) and reverse.value
    down = ', direction="DESCENDING"' if turned else ""
    if "key" in options:
        order = f"{tf}.gather({given}, {tf}.argsort(keys{down}))"
        return f"sort in the graph, with `keys` as one tensor: `{order}`"
    return f"sort in the graph: `{tf}.sort({given}{down})`"


def _is_among(name: str, among: ast.expr) -> str:
    """`name in among`, of keys or elements that are numbers."""
    tf = module_alias()
    keys = among.keys if isinstance(among, ast.Dict) else getattr(among, "elts", [])
    literal = bool(keys) and all(isinstance(key, ast.Constant) for key in keys)
    listed = ", ".join(ast.unparse(key) for key in keys if key is not None)
    rows = f"[{listed}]" if literal else f"list({ast.unparse(among)})"
    return f"compare in the graph: `{tf}.reduce_any({tf}.equal({name}, {rows}))`"


def _cut(container: str, name: str) -> str:
    """A part of a Python container, of a length that is known when the graph runs."""
    tf, frame = module_alias(), user_frame()
    found = resolve(frame, container) if frame is not None else None
    if isinstance(found, (list, tuple)) and not any(map(callable, found)):
        return f"cut in the graph: `{tf}.stack({container})[...]` takes tensors as bounds"
    return (
        f"walk over all of `{container}`, the `i`-th under `{tf}.cond(i < {name}, ...)`; "
        f"or give `{name}` as a Python number"
    )


def _choice(container: str, name: str, tensor: Any) -> str:
    """One of the things in a Python container, picked when the graph runs."""
    tf, frame = module_alias(), user_frame()
    found = resolve(frame, container) if frame is not None else None
    found = found if isinstance(found, (list, tuple, dict)) else None  # a tensor is not asked
    items = list(found.values()) if isinstance(found, dict) else found
    functions = bool(items) and all(map(callable, items or ()))
    given = "(...)" if functions else ""
    if tensor.dtype.name == "bool":
        either = (True, False) if isinstance(found, dict) else (1, 0)
        sides = ", ".join(f"lambda: {container}[{key!r}]{given}" for key in either)
        return f"let the graph choose: `{tf}.cond({name}, {sides})`"
    keys: list[Any] = list(found if isinstance(found, dict) else range(len(items or ())))
    counted = keys == list(range(len(keys)))
    if tensor.dtype.name == "string" and keys:
        known = ", ".join(map(repr, keys[:_SHOWN_KEYS])) + ", ..." * (len(keys) > _SHOWN_KEYS)
        name = f"{tf}.argmax({tf}.equal({name}, [{known}]), output_type={tf}.int32)"
        counted = True
    elif not tensor.dtype.is_integer:
        name = f"{tf}.cast({name}, {tf}.int32)"
    if functions or isinstance(found, dict) or (items and not _stacks(items)):
        rest = given or ("" if isinstance(found, dict) else "...")
        sides = ", ".join(
            f"{'' if counted else f'{key!r}: '}lambda: {container}[{key!r}]{rest}"
            for key in keys[:_SHOWN_KEYS]
        )
        sides += ", ..." if len(keys) > _SHOWN_KEYS else ""
        sides = f"[{sides}]" if counted else f"{{{sides}}}"
        return f"let the graph choose: `{tf}.switch_case({name}, {sides})`"
    if isinstance(items, (list, tuple)):
        return f"let the graph choose: `{tf}.gather({tf}.stack({container}), {name})`"
    return (
        f"let the graph choose: `{tf}.switch_case({name}, [...])`, or `{tf}.gather` from a tensor"
    )


_SHOWN_KEYS = 2


def _stacks(items: Any) -> bool:
    """Whether what a container holds can be one tensor, and may be one here."""
    if any(is_call(node, "getattr") for node in around()):
        return False  # a name that Python goes by
    numbers = (str, int, float, complex, list, tuple, np.generic, np.ndarray)
    return all(isinstance(x, (*numbers, _holdfast.Tensor, _holdfast.VariableBase)) for x in items)


# Functions of Python's `math`, and their counterparts.
_MATH = {
    each: each
    for each in (
        "sqrt",
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "tanh",
        "floor",
        "ceil",
        "pow",
        "atan2",
        "erf",
    )
} | {"fabs": "abs"}
