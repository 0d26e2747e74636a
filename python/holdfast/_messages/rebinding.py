"""A tensor that a training step put in a Variable's place: where, and what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import _holdfast
from .diagnostics import born_loc, module_alias, resolve, user_frame
from .provenance import type_text
from .raising import fail, used_here
from .source import shown_name
from .source_text import line_at, tree_of

__all__ = [
    "Rebinding",
    "assign_fix",
    "rebinding_of",
    "rebound_labels",
    "refuse_rebound",
    "statement_loc",
]

_METHODS = {ast.Sub: "assign_sub", ast.Add: "assign_add"}
_FILLS = ("append", "extend", "insert")


class Rebinding(NamedTuple):
    """A tensor under the name that a Variable had."""

    name: str  # the name, attribute or item that is now a tensor, or the container of tensors
    variable: dict[str, Any]  # where the Variable was made
    statement: ast.stmt
    loc: dict[str, Any]  # of the statement
    container: bool


def _gradient_names(tree: ast.Module) -> set[str]:
    """Names that hold gradients, or what is computed from them, as far as the source shows it."""
    known: set[str] = set()
    for _ in range(4):  # a list of gradients, one of them, the new value, a list of those
        before = len(known)
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=targets, value=value) if _mentions(value, known):
                    known.update(name for target in targets for name in _stored(target))
                case (
                    ast.For(target=target, iter=value)
                    | ast.comprehension(target=target, iter=value)
                ) if _mentions(value, known):
                    known.update(_stored(target))
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=holder), attr=attr), args=args
                ) if attr in _FILLS and any(_mentions(value, known) for value in args):
                    known.add(holder)
        if len(known) == before:
            break
    return known


def _stored(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _mentions(value: ast.expr, known: set[str]) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "gradient")
        or (isinstance(node, ast.Name) and node.id in known)
        for node in ast.walk(value)
    )


def _as_unparsed(name: str) -> str:
    """A name with the quotes that `ast.unparse` writes."""
    try:
        return ast.unparse(ast.parse(name, mode="eval"))
    except SyntaxError:
        return name


def _base(text: str) -> str:
    """`ws` of `ws[0]`; a name or an attribute is its own."""
    return text.partition("[")[0]


def _sets(statement: ast.Assign, name: str) -> tuple[str, bool] | None:
    """What a statement sets of `name`: the place, and whether that is a container of it."""
    base = _base(name)
    for target in statement.targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        for part in parts:
            text = ast.unparse(part)
            if _same_place(text, name):
                return text, False
            if isinstance(part, ast.Subscript) and _same_place(ast.unparse(part.value), base):
                return text, False
            if _same_place(text, base):
                return text, True
    return None


def _same_place(text: str, name: str) -> bool:
    """Whether a statement's words stand for `name`: a method says `self.w` of what is `net.w`."""
    if text == name:
        return True
    owner, _, attribute = text.partition(".")
    return owner == "self" and "." in name and attribute == name.rpartition(".")[2]


def rebinding_of(source: Any, name: str, update: bool = False) -> Rebinding | None:
    """How `source` took the place of a Variable it was computed from, if it did.

    `update`: by a training step, whose new value comes from a gradient.
    """
    if not isinstance(source, _holdfast.Tensor):
        return None
    variable, frame, born = source._variable_born(), user_frame(), born_loc(source)
    if variable is None or frame is None or born is None:
        return None
    tree = tree_of(frame.f_code.co_filename)
    if tree is None:
        return None
    gradients, name = _gradient_names(tree), _as_unparsed(name)
    found: list[tuple[int, ast.Assign, str, bool]] = []
    for node in ast.walk(tree):
        place = _sets(node, name) if isinstance(node, ast.Assign) else None
        if place is None or not isinstance(node, ast.Assign) or node.lineno == variable["line"]:
            continue
        here = node.lineno <= born["line"] <= (node.end_lineno or node.lineno)
        if not (_mentions(node.value, gradients) or (here and not update)):
            continue
        if _had_variable(tree, variable["line"], node, place[0]):
            found.append((1 if here else 0, node, *place))
    if not found:
        return None
    _, statement, where, container = max(found, key=lambda each: (each[0], each[1].lineno))
    held = resolve(frame, where)
    container = container or isinstance(held, (list, tuple, dict))
    return Rebinding(
        where, variable, statement, statement_loc(statement, frame.f_code.co_filename), container
    )


def _had_variable(tree: ast.Module, line: int, statement: ast.Assign, place: str) -> bool:
    """Whether a place held the Variable of that line: by its line, or by the new value."""
    base = _base(place)
    for node in ast.walk(statement.value):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            text = ast.unparse(node)
            if _same_place(text, place) or _same_place(text, base):
                return True
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)):
            continue
        if not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder))):
                targets = [holder]
            case ast.AnnAssign(target=target):
                targets = [target]
            case ast.Assign():
                targets = [part for each in node.targets for part in getattr(each, "elts", [each])]
            case _:
                continue
        texts = [_base(ast.unparse(target)) for target in targets]
        if any(_same_place(text, base) or _same_place(base, text) for text in texts):
            return True
    return False


def statement_loc(statement: ast.stmt | ast.expr, filename: str) -> dict[str, Any]:
    """The place of a statement in the user's file."""
    source = line_at(filename, statement.lineno)
    one = statement.end_lineno == statement.lineno
    end = statement.end_col_offset if one else len(source.encode())
    return {
        "file": shown_name(filename),
        "line": statement.lineno,
        "col_begin": statement.col_offset,
        "col_end": end,
        "qualname": "",
        "source": source,
    }


def refuse_rebound(tape: Any, target: Any, sources: list[Any], names: list[str]) -> None:
    """E0404 if a source is an unwatched tensor that a training step put in a Variable's place."""
    for source, name in zip(sources, names, strict=True):
        found = rebinding_of(source, name, update=True)
        if found is None or tape._why_none(target, source) != "unwatched":
            continue
        shown = found.name
        what = f"`{shown}` is a tensor that replaced a Variable; the tape does not watch it"
        why = (
            f"`{shown} = ...` gave the name to a new tensor and left the Variable behind, so no "
            "gradient can reach it."
        )
        if found.container:
            what = f"`{shown}` holds tensors that replaced Variables; the tape does not watch them"
            why = (
                f"`{shown} = ...` filled it with new tensors and left the Variables behind, so no "
                "gradient can reach them."
            )
        fail(
            "E0404",
            what,
            why,
            labels=[
                *rebound_labels(found, source),
                *used_here(f"used here: the gradient is asked for `{name}`"),
            ],
            fixes=[assign_fix(found)],
            subject={
                "name": name,
                "op": source._op,
                "dtype": source.dtype.name,
                "shape": type_text(source).removeprefix(source.dtype.name),
                "born": born_loc(source) or {},
            },
            op="GradientTape.gradient",
        )


def rebound_labels(found: Rebinding, source: Any) -> list[dict[str, Any]]:
    """Where the Variable was made, and where a tensor took its place."""
    of = f"of `{found.name}`" if found.container else f"`{found.name}`"
    born = f"born here: Variable {of}, {type_text(source)}"
    now = "holds tensors" if found.container else "is a tensor"
    rebound = f"rebound here: from now on `{found.name}` {now}"
    return [
        {"role": "born", "loc": found.variable, "text": born, "primary": False},
        {"role": "rebound", "loc": found.loc, "text": rebound, "primary": False},
    ]


def _flat(container: str) -> str:
    """An expression for all that a container holds, at whatever depth."""
    frame = user_frame()
    held = resolve(frame, container) if frame is not None else None
    deep = isinstance(held, (list, tuple)) and any(isinstance(x, (list, tuple, dict)) for x in held)
    plain = isinstance(held, (list, tuple)) and not deep
    return container if plain else f"{module_alias()}.nest.flatten({container})"


def assign_fix(found: Rebinding) -> dict[str, Any]:
    """The statement that changes the Variables in place, where it can be written down."""
    new = _in_place(found)
    one_line = found.statement.lineno == found.statement.end_lineno
    if new is None or not one_line:
        title = f"keep the Variable, and change it in place: `{found.name}.assign(...)`"
        if found.container:
            loop = f"for v, value in zip({_flat(found.name)}, ...): v.assign(value)"
            title = f"keep the Variables, and change each in place: `{loop}`"
        return {"title": title, "applicability": "manual", "edits": []}
    line = found.loc["source"].encode()
    old = line[found.loc["col_begin"] : found.loc["col_end"]].decode()
    edit = {
        "file": found.loc["file"],
        "line": found.loc["line"],
        "col": found.loc["col_begin"],
        "old": old,
        "new": new[0],
    }
    title = "change the Variable instead of the name"
    if found.container:
        title = "change each Variable instead of the list"
    return {"title": title, "applicability": new[1], "edits": [edit]}


def _in_place(found: Rebinding) -> tuple[str, str] | None:
    """The statement that does it, and how sure we are; None if none can be told."""
    statement = found.statement
    assert isinstance(statement, ast.Assign)
    value, source = statement.value, found.loc["source"]
    if len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    match target, value:
        case ((ast.Tuple(elts=places) | ast.List(elts=places)), ast.Tuple(elts=values)) if len(
            places
        ) == len(values):
            changes = [
                _change(ast.unparse(place), each, source)
                for place, each in zip(places, values, strict=True)
            ]
            return "; ".join(changes), "tested"
        case _, (
            ast.ListComp(elt=elt, generators=[generator])
            | ast.DictComp(value=elt, generators=[generator])
        ) if not generator.is_async:
            if not isinstance(elt, ast.BinOp) or type(elt.op) not in _METHODS:
                return None
            first = ast.unparse(elt.left)
            tests = "".join(f" if {ast.unparse(test)}" for test in generator.ifs)
            if tests:
                return None
            head = f"for {_text(generator.target, source)} in {_text(generator.iter, source)}"
            return f"{head}: {_change(first, elt, source)}", "tested"
        case _ if not found.container and not isinstance(target, (ast.Tuple, ast.List)):
            return _change(found.name, value, source), "tested"
    return None


def _change(place: str, value: ast.expr, source: str) -> str:
    """`place.assign_sub(...)` where the value says so, else `place.assign(...)`."""
    match value:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _METHODS:
            if ast.unparse(left) == place:
                return f"{place}.{_METHODS[type(op)]}({_text(right, source)})"
    return f"{place}.assign({_text(value, source)})"


def _text(node: ast.expr, source: str) -> str:
    """The words of a node as typed."""
    if node.lineno == node.end_lineno and node.end_col_offset is not None:
        typed = source.encode()[node.col_offset : node.end_col_offset].decode(errors="replace")
        return typed or ast.unparse(node)
    return ast.unparse(node)
