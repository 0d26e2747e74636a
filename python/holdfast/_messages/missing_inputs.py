"""Inputs that a model needs and is not given: under which names the program has them."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from .diagnostics import born_loc, mark, resolve, same_tensor, user_frame
from .rebinding import statement_loc
from .source import Text, shown_name
from .source_text import line_at, tree_of
from .visible import visible_name

__all__ = ["complete"]


def complete(said: dict[str, Any], missing: list[Any], given: list[Any], unused: list[Any]) -> None:
    """Adds to the dict form of an E0301 what only the program's frame and source can tell.

    Where the name of an Input was given to something else, the message becomes E0302.
    """
    frame = user_frame()
    if frame is None:
        return
    for symbol in missing:
        lost = _lost_name(frame, symbol)
        if lost is not None:
            _say_rebound(said, frame, symbol, lost, unused or given)
            return
    names = [_visible(symbol) for symbol in missing]
    if not all(names):
        lines = [(born_loc(each) or {}).get("line") for each in missing]
        places = " and ".join(f"line {line}" for line in dict.fromkeys(lines) if line)
        title = f"keep the `Input` of {places} under a name of its own, and give the model that too"
        said["fixes"] = [{"title": title, "applicability": "manual", "edits": []}]
        return
    argument = _inputs_argument()
    whole = _with_more(frame, argument.text if argument is not None else "", names)
    if argument is None or not whole or argument.line != argument.end_line:
        title = f"give the model {_listed(names)} too: `Model([{', '.join(['...', *names])}], ...)`"
        said["fixes"] = [{"title": title, "applicability": "manual", "edits": []}]
        return
    edit = {
        "file": shown_name(frame.f_code.co_filename),
        "line": argument.line,
        "col": argument.col,
        "old": argument.text,
        "new": whole,
    }
    title = f"give the model {_listed(names)} too"
    said["fixes"] = [{"title": title, "applicability": "maybe", "edits": [edit]}]


def _visible(symbol: Any) -> str:
    """An expression that means a symbol where the program is."""
    return visible_name(lambda value: same_tensor(value, symbol))


def _listed(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _inputs_argument() -> Text | None:
    """What is written for `inputs` in the call that makes the model."""
    here = mark()
    names = here.names() if here is not None else None
    if names is None or names.kind != "call":
        return None
    first = names.operands[0] if names.operands else None
    return names.keywords.get("inputs", first)


def _with_more(frame: types.FrameType, text: str, names: list[str]) -> str:
    """An expression for the inputs and those of `names`; empty if none can be told."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return ""
    more = ", ".join(names)
    match tree:
        case ast.List(elts=items):
            return f"{text.rstrip()[:-1].rstrip().rstrip(',')}{', ' if items else ''}{more}]"
        case ast.Tuple(elts=items) if text.startswith("("):
            return f"{text.rstrip()[:-1].rstrip().rstrip(',')}{', ' if items else ''}{more})"
        case ast.Dict(keys=keys):
            entries = ", ".join(f'"{_key_of(frame, name)}": {name}' for name in names)
            return f"{text.rstrip()[:-1].rstrip().rstrip(',')}{', ' if keys else ''}{entries}}}"
        case ast.Subscript(slice=ast.Slice()) | ast.ListComp() | ast.BinOp():
            return f"[*{text}, {more}]" if not isinstance(tree, ast.BinOp) else ""
    held = resolve(frame, text)
    if isinstance(held, dict):
        entries = ", ".join(f'"{_key_of(frame, name)}": {name}' for name in names)
        return f"{{**{text}, {entries}}}"
    if isinstance(held, (list, tuple)) or text.endswith(".inputs"):
        return f"[*{text}, {more}]"
    return f"[{text}, {more}]"


def _key_of(frame: types.FrameType, name: str) -> str:
    """The key of an Input in a dict of them: its name in the program, or its own."""
    if name.isidentifier():
        return name
    return str(getattr(resolve(frame, name), "name", "") or name.strip("\"'[]")).partition(":")[0]


class _Lost(NamedTuple):
    """A name that an Input had, and has no more."""

    name: str
    birth: ast.stmt
    target: ast.expr  # where the birth has the name
    rebound: ast.stmt


def _lost_name(frame: types.FrameType, symbol: Any) -> _Lost | None:
    born, filename = born_loc(symbol), frame.f_code.co_filename
    tree = tree_of(filename)
    if born is None or tree is None or born["file"] != shown_name(filename):
        return None
    if _visible(symbol):
        return None
    home = _function_at(tree, born["line"])
    if home is not _function_at(tree, frame.f_lineno):
        return None
    births = ((node, _given(node, born)) for node in _statements(home))
    birth, target = next(((node, each) for node, each in births if each is not None), (None, None))
    if birth is None or target is None:
        return None
    name = ast.unparse(target)
    if not hasattr(target, "lineno"):  # an item of what is written out here
        ast.copy_location(target, birth)
    if resolve(frame, name) is None:
        return None
    later = [
        node
        for node in _statements(home)
        if node is not birth and name in _bound(node) and birth.lineno < node.lineno
    ]
    before_use = [node for node in later if node.lineno <= frame.f_lineno]
    return _Lost(name, birth, target, (before_use or later or [birth])[0])


def _given(node: ast.stmt, born: dict[str, Any]) -> ast.expr | None:
    """The name or attribute that an assignment gives to what is born in it."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not _contains(node, born):
        return None
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    match targets, node.value:
        case [*_, (ast.Name() | ast.Attribute()) as target], ast.Dict(keys=keys, values=values):
            held = [key for key, value in zip(keys, values, strict=True) if _contains(value, born)]
            return ast.Subscript(target, held[0], ast.Load()) if held and held[0] else None
        case [*_, (ast.Name() | ast.Attribute()) as target], ast.List(elts=values):
            at = next((i for i, each in enumerate(values) if _contains(each, born)), None)
            return None if at is None else ast.Subscript(target, ast.Constant(at), ast.Load())
        case [*_, (ast.Name() | ast.Attribute() | ast.Subscript()) as target], _:
            return target
        case [ast.Tuple(elts=names)], ast.Tuple(elts=values) if len(names) == len(values):
            pairs = zip(names, values, strict=True)
            return next((name for name, value in pairs if _contains(value, born)), None)
    return None


def _contains(node: ast.stmt | ast.expr, born: dict[str, Any]) -> bool:
    """Whether the place of a birth lies within a node."""
    line, last = born["line"], node.end_lineno or node.lineno
    if born["col_begin"] < 0 or not node.lineno <= line <= last:
        return bool(node.lineno <= line <= last)
    begins = (node.lineno, node.col_offset) <= (line, born["col_begin"])
    return bool(begins and (line, born["col_end"]) <= (last, node.end_col_offset or 0))


def _function_at(tree: ast.Module, line: int) -> ast.AST:
    """The innermost function whose code a line is; else the module."""
    found: ast.AST = tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and (
            node.lineno <= line <= (node.end_lineno or node.lineno)
        ):
            found = node
    return found


def _statements(home: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function or a module in order, without those of functions inside."""
    for node in ast.iter_child_nodes(home):
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _statements(node)


def _bound(node: ast.stmt) -> set[str]:
    """What a statement itself gives values to."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign(targets=all_targets):
            targets = list(all_targets)
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            targets = [target]
        case ast.With(items=items):
            targets = [item.optional_vars for item in items if item.optional_vars is not None]
    out: set[str] = set()
    for target in targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        out.update(ast.unparse(part) for part in parts)
    return out


def _say_rebound(
    said: dict[str, Any], frame: types.FrameType, symbol: Any, lost: _Lost, instead: list[Any]
) -> None:
    filename, name = frame.f_code.co_filename, lost.name.replace("'", '"')
    said["code"] = "E0302"
    said["headline"] = (
        f"the model needs the Input that `{name}` was; `{name}` is something else by now"
    )
    said["subject"]["name"] = name
    born = [label for label in said["labels"] if label["role"] == "born"]
    for label in born:
        label["text"] = f"born here: the Input, as `{name}`"
    again = lost.rebound is lost.birth
    text = f"rebound here: from now on `{name}` is another " + ("Input" if again else "tensor")
    label = {
        "role": "rebound",
        "loc": statement_loc(lost.rebound, filename),
        "text": text,
        "primary": False,
    }
    said["labels"] = [*born, label, *(x for x in said["labels"] if x["role"] != "born")]
    said["why"] = (
        f"the outputs are computed from the Input that `{name}` was in line {lost.birth.lineno}; "
        "the model is given " + ("another Input" if instead else "none of it")
    )
    said["fixes"] = [_kept_apart(frame, lost, instead)]


def _kept_apart(frame: types.FrameType, lost: _Lost, instead: list[Any]) -> dict[str, Any]:
    """The fix that gives the Input a name of its own, and the model that name."""
    if lost.rebound is lost.birth:
        title = (
            f"keep every `Input` that `{lost.name}` is: `inputs.append({lost.name})`, and make the "
            "model of `inputs`"
        )
        return {"title": title, "applicability": "manual", "edits": []}
    taken = {*frame.f_locals, *frame.f_globals}
    own = next(n for n in _names_for(lost.name) if n not in taken)
    title = f"keep the `Input` under its own name, `{own}`, and make the model of that"
    fix: dict[str, Any] = {"title": title, "applicability": "manual", "edits": []}
    argument, target = _inputs_argument(), lost.target
    alone = [target] == getattr(lost.birth, "targets", None)  # another name may stand beside it
    if argument is None or argument.line != argument.end_line or not alone:
        return fix
    place = _replaced(argument, own, instead)
    if place is None:
        return fix
    file = shown_name(frame.f_code.co_filename)
    line = line_at(frame.f_code.co_filename, target.lineno).encode()
    old = line[target.col_offset : target.end_col_offset].decode()
    fix["applicability"] = "maybe"
    fix["edits"] = [
        {
            "file": file,
            "line": target.lineno,
            "col": target.col_offset,
            "old": old,
            "new": f"{own} = {old}",
        },
        {"file": file, "line": argument.line, **place},
    ]
    return fix


def _names_for(name: str) -> Iterator[str]:
    yield "inputs"
    base = name.rpartition(".")[2]
    yield f"{base}_input"
    yield from (f"{base}_input_{number}" for number in range(1, 1000))


def _replaced(argument: Text, own: str, instead: list[Any]) -> dict[str, Any] | None:
    """The change of the `inputs` argument that puts `own` where a useless Input is."""
    try:
        tree = ast.parse(argument.text, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(tree, (ast.List, ast.Tuple)):
        return {"col": argument.col, "old": argument.text, "new": own}
    if len(tree.elts) != 1 or not instead:
        return None
    old = ast.get_source_segment(argument.text, tree.elts[0]) or ""
    return {"col": argument.col + tree.elts[0].col_offset, "old": old, "new": own}
