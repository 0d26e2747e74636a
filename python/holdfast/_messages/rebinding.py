"""A tensor that a training step put in a Variable's place: where, and what to write instead."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from .. import _holdfast
from .diagnostics import born_loc, module_alias, resolve, user_frame
from .provenance import type_text
from .raising import fail, used_here
from .source import operand_names, shown_name
from .source_text import line_at, tree_of

__all__ = [
    "Rebinding",
    "assign_fix",
    "rebinding_of",
    "rebound_labels",
    "refuse_rebound",
    "statement_loc",
]

_PACKAGE = os.path.dirname(_holdfast.__file__) + os.sep
_METHODS = {ast.Sub: "assign_sub", ast.Add: "assign_add"}
_FILLS = ("append", "extend", "insert")


_Assignment = ast.Assign | ast.AnnAssign


class Rebinding(NamedTuple):
    """A tensor under the name that a Variable had."""

    name: str  # the name, attribute or item that is now a tensor, or the container of tensors
    variable: dict[str, Any]  # where the Variable was made
    statement: _Assignment
    loc: dict[str, Any]  # of the statement
    container: bool
    frame: FrameType  # that runs it


_Functions = tuple[int, ...]  # around a node, outermost first, by where they begin


class _Gradients:
    """Names that hold gradients, or what is computed from them, as far as the source shows it.

    A name is that of the function it is set in. Of functions, it is those that give such things;
    what they are given counts where they say it. With `frame`, which runs code of `tree`, those of
    other files count, too, by the words they are called by.
    """

    def __init__(self, tree: ast.Module, frame: FrameType | None = None) -> None:
        self._elsewhere = set(_givers_elsewhere(tree, frame)) if frame is not None else set()
        self._around: dict[ast.AST, _Functions] = {}
        self._shared: dict[_Functions, set[str]] = {}  # names that functions say are from outside
        self._known: set[tuple[_Functions, str]] = set()
        self._place(tree, ())
        functions = [node for node in self._around if isinstance(node, ast.FunctionDef)]
        for _ in range(4):  # a list of gradients, one of them, the new value, a list of those
            before = len(self._known)
            for node in list(self._around):
                self._learn(node, functions)
            if len(self._known) == before:
                break

    def mentioned_by(self, value: ast.expr) -> bool:
        return any(
            (isinstance(node, ast.Attribute) and node.attr == "gradient")
            or (isinstance(node, ast.Name) and self._holds(node))
            or (isinstance(node, (ast.Name, ast.Attribute)) and self._comes_from_elsewhere(node))
            for node in ast.walk(value)
        )

    def gives(self, function: str) -> bool:
        return ((), function) in self._known

    def _comes_from_elsewhere(self, called: ast.Name | ast.Attribute) -> bool:
        return bool(self._elsewhere) and ast.unparse(called) in self._elsewhere

    def _place(self, node: ast.AST, around: _Functions) -> None:
        self._around[node] = around
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            self._shared.setdefault(around, set()).update(node.names)
        inside = self._inside(node) if isinstance(node, (ast.FunctionDef, ast.Lambda)) else around
        for child in ast.iter_child_nodes(node):
            self._place(child, inside)

    def _inside(self, function: ast.FunctionDef | ast.Lambda) -> _Functions:
        return (*self._around[function], function.lineno)

    def _holds(self, name: ast.Name) -> bool:
        around = self._around[name]
        return any((around[:n], name.id) in self._known for n in range(len(around) + 1))

    def _add(self, around: _Functions, name: str) -> None:
        self._known.add((() if name in self._shared.get(around, ()) else around, name))

    def _add_stored(self, target: ast.expr) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._add(self._around[node], node.id)

    def _learn(self, node: ast.AST, functions: list[ast.FunctionDef]) -> None:
        match node:
            case ast.Assign(targets=targets, value=value) if self.mentioned_by(value):
                for target in targets:
                    self._add_stored(target)
            case (
                ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value)
            ) if self.mentioned_by(value):
                self._add_stored(target)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=holder), attr=attr), args=args) if (
                attr in _FILLS and any(self.mentioned_by(value) for value in args)
            ):
                self._add(self._around[node], holder)
            case ast.Call(func=ast.Name() | ast.Attribute() as called, args=args):
                name = called.id if isinstance(called, ast.Name) else called.attr
                for function in functions:
                    if function.name == name:
                        self._add_parameters(function, args)
            case ast.FunctionDef(name=name) if any(
                isinstance(part, ast.Return) and part.value and self.mentioned_by(part.value)
                for part in ast.walk(node)
            ):
                self._add(self._around[node], name)

    def _add_parameters(self, function: ast.FunctionDef, args: list[ast.expr]) -> None:
        """The parameters of a function that a call gives gradients to."""
        names = [each.arg for each in function.args.args]
        names = names[1:] if names[:1] == ["self"] else names
        for name, value in zip(names, args, strict=False):
            if self.mentioned_by(value):
                self._add(self._inside(function), name)


def _givers_elsewhere(tree: ast.Module, frame: FrameType) -> Iterator[str]:
    """How `tree` calls functions of other files of the program that give gradients."""
    by_file: dict[str, list[tuple[str, str]]] = {}
    for words, code in _called(tree, frame):
        if code.co_filename != frame.f_code.co_filename and _is_of_program(code):
            by_file.setdefault(code.co_filename, []).append((words, code.co_name))
    for file, calls in by_file.items():
        other = tree_of(file)
        if other is None:
            continue
        gradients = _Gradients(other)
        yield from (words for words, name in calls if gradients.gives(name))


def _is_of_program(code: CodeType) -> bool:
    own = code.co_filename.startswith(_PACKAGE)
    return not own and not _holdfast.is_library(code.co_filename)


def _called(node: ast.AST, frame: FrameType) -> Iterator[tuple[str, CodeType]]:
    """The program's own functions that are called in `node`, as the words there say."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, (ast.Name, ast.Attribute)):
            words = ast.unparse(part.func)
            code = getattr(resolve(frame, words), "__code__", None)
            if isinstance(code, CodeType):
                yield words, code


def _made_in(statement: _Assignment, born: dict[str, Any], frame: FrameType) -> bool:
    """Whether a tensor was born in a statement, or in a function that it calls."""
    lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    if born["file"] == shown_name(frame.f_code.co_filename) and born["line"] in lines:
        return True
    name = born["qualname"].rpartition(".")[2]
    return any(
        code.co_name == name and shown_name(code.co_filename) == born["file"]
        for _, code in _called(statement, frame)
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


def _targets(node: ast.AST) -> list[ast.expr]:
    """What an assignment gives its value to; nothing for other nodes."""
    match node:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target, value=ast.expr()):
            return [target]
    return []


def _sets(statement: ast.AST, name: str) -> tuple[str, bool] | None:
    """What a statement sets of `name`: the place, and whether that is a container of it."""
    base = _base(name)
    for target in _targets(statement):
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        for part in parts:
            text = ast.unparse(part)
            if _same_place(text, name):
                return text, False
            if isinstance(part, ast.Subscript) and _same_place(ast.unparse(part.value), base):
                whole = isinstance(part.slice, ast.Slice)
                return (ast.unparse(part.value), True) if whole else (text, False)
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

    `update`: by a training step, whose new value comes from a gradient. A parameter is looked for
    where its function is called, under the name that it is given by.
    """
    if not isinstance(source, _holdfast.Tensor):
        return None
    frame, found = user_frame(), None
    while frame is not None and found is None:
        found = _rebound_in(frame, source, name, update)
        name, frame = _given_as(name, frame)
    return found


def _given_as(name: str, frame: FrameType) -> tuple[str, FrameType | None]:
    """What the caller of a function writes for a parameter, or for a part of one; and its frame."""
    code, caller = frame.f_code, frame.f_back
    first = re.split(r"\W", name, maxsplit=1)[0]
    parameters = code.co_varnames[: code.co_argcount]
    if caller is None or first not in parameters:
        return name, None
    names = operand_names(caller.f_code, caller.f_lasti)
    if getattr(resolve(caller, names.function), "__code__", None) is not code:
        return name, None
    at = parameters.index(first)
    text = names.keywords.get(first)
    if text is None and at < len(names.operands):
        text = names.operands[at]
    return (name, None) if text is None else (text.text + name[len(first) :], caller)


def _rebound_in(frame: FrameType, source: Any, name: str, update: bool) -> Rebinding | None:
    born = born_loc(source)
    tree = tree_of(frame.f_code.co_filename)
    if born is None or tree is None:
        return None
    name = _as_unparsed(name)
    direct = source._variable_born()
    variable = direct or _variable_of(tree, name, frame.f_code.co_filename)
    if variable is None:
        return None
    places = [
        (node, node.value, place)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        and node.value is not None
        and node.lineno != variable["line"]
        and (place := _sets(node, name)) is not None
    ]
    if not places:
        return None
    gradients = _Gradients(tree, frame)  # reads the whole file, and others: not where nothing asks
    found: list[tuple[int, _Assignment, str, bool]] = []
    for node, value, place in places:
        here = _made_in(node, born, frame)
        updates = gradients.mentioned_by(value)
        # What was computed from a Variable itself took its place; else an update must have made it.
        replaces = updates or (here and not update) if direct else updates and here
        if not replaces:
            continue
        if _had_variable(tree, variable["line"], node, place[0]):
            found.append((1 if here else 0, node, *place))
    if not found:
        return None
    _, statement, where, container = max(found, key=lambda each: (each[0], each[1].lineno))
    held = resolve(frame, where)
    container = container or isinstance(held, (list, tuple, dict))
    return Rebinding(
        where,
        variable,
        statement,
        statement_loc(statement, frame.f_code.co_filename),
        container,
        frame,
    )


def _variable_of(tree: ast.Module, name: str, filename: str) -> dict[str, Any] | None:
    """Where a name, or what holds it, was given a Variable, by the one line that makes any."""
    places = (name, _base(name))
    statements = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        and any(
            _same_place(ast.unparse(each), place) for each in _targets(node) for place in places
        )
    ]
    made = [
        part
        for node in statements
        for part in ast.walk(node)
        if isinstance(part, ast.Call) and ast.unparse(part.func).rpartition(".")[2] == "Variable"
    ]
    lines = {part.lineno for part in made}
    return statement_loc(made[0], filename) if len(lines) == 1 else None


def _had_variable(tree: ast.Module, line: int, statement: _Assignment, place: str) -> bool:
    """Whether a place held the Variable of that line: by its line, or by the new value."""
    base = _base(place)
    for node in ast.walk(statement.value) if statement.value is not None else ():
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
    lost: dict[str, tuple[Rebinding, Any, str]] = {}
    for source, name in zip(sources, names, strict=True):
        if tape._why_none(target, source) != "unwatched":
            continue
        found = rebinding_of(source, name, update=True)
        if found is not None:
            lost.setdefault(found.name, (found, source, name))
    if not lost:
        return
    all_lost = sorted(lost.values(), key=lambda each: each[0].statement.lineno)
    found, source, name = all_lost[0]
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
            *(label for each in all_lost[:_SHOWN] for label in rebound_labels(each[0], each[1])),
            *used_here(f"used here: the gradient is asked for `{name}`"),
        ],
        fixes=[_assign_all([each[0] for each in all_lost])],
        subject={
            "name": name,
            "op": source._op,
            "dtype": source.dtype.name,
            "shape": type_text(source).removeprefix(source.dtype.name),
            "born": born_loc(source) or {},
        },
        op="GradientTape.gradient",
    )


_SHOWN = 3  # names that were rebound


def _assign_all(lost: list[Rebinding]) -> dict[str, Any]:
    """The statements that change all Variables in place; where one can't be told, its advice."""
    places = {(each.statement.lineno, each.statement.col_offset): each for each in lost}
    fixes = [assign_fix(each) for each in places.values()]
    for fix in fixes:
        if not fix["edits"] or len(fixes) == 1:
            return fix
    title = "change the Variables instead of the names"
    edits = [edit for fix in fixes for edit in fix["edits"]]
    return {"title": title, "applicability": "tested", "edits": edits}


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


def _flat(container: str, frame: FrameType) -> str:
    """An expression for all that a container holds, at whatever depth."""
    held = resolve(frame, container)
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
            loop = f"for v, value in zip({_flat(found.name, found.frame)}, ...): v.assign(value)"
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
        kind = "dict" if isinstance(found.statement.value, ast.DictComp) else "list"
        title = f"change each Variable instead of the {kind}"
    return {"title": title, "applicability": new[1], "edits": [edit]}


def _in_place(found: Rebinding) -> tuple[str, str] | None:
    """The statement that does it, and how sure we are; None if none can be told."""
    targets, value, source = _targets(found.statement), found.statement.value, found.loc["source"]
    if len(targets) != 1 or value is None:
        return None
    target = targets[0]
    match target, value:
        case ((ast.Tuple(elts=places) | ast.List(elts=places)), ast.Tuple(elts=values)) if len(
            places
        ) == len(values):
            changes = _changes(places, values, found)
            return None if changes is None else ("; ".join(changes), "tested")
        case _, (
            ast.ListComp(elt=elt, generators=[generator])
            | ast.DictComp(value=elt, generators=[generator])
        ) if not generator.is_async:
            change = _change_of_each(elt, generator, found)
            if change is None:
                return None
            head = f"for {_text(generator.target, source)} in {_text(generator.iter, source)}"
            return f"{head}: {change}", "tested"
        case _ if not found.container and not isinstance(target, (ast.Tuple, ast.List)):
            return _change(found.name, value, source), "tested"
    return None


def _changes(places: list[ast.expr], values: list[ast.expr], found: Rebinding) -> list[str] | None:
    """A statement for each of several places, in order; None where one needs all at once."""
    source = found.loc["source"]
    out: list[str] = []
    for i, (place, value) in enumerate(zip(places, values, strict=True)):
        text = ast.unparse(place)
        if any(_needs(value, ast.unparse(before), but=text) for before in places[:i]):
            return None  # the old value, which is gone by then
        held = resolve(found.frame, text)
        if not isinstance(held, _holdfast.Tensor):
            return None
        if held._variable_born() is None:
            out.append(f"{text} = {_text(value, source)}")
        else:
            out.append(_change(text, value, source))
    return out


def _needs(value: ast.AST, place: str, but: str) -> bool:
    """Whether an expression reads a place, or what holds it; `but` is another one there."""
    if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
        text = ast.unparse(value)
        if text == but:
            return False
        if text in (place, _base(place)):
            return True
    return any(_needs(part, place, but) for part in ast.iter_child_nodes(value))


def _change_of_each(elt: ast.expr, generator: ast.comprehension, found: Rebinding) -> str | None:
    """The change of one element, for a comprehension that gives the new value of each in turn."""
    if not isinstance(elt, ast.BinOp) or type(elt.op) not in _METHODS or generator.ifs:
        return None
    source = found.loc["source"].encode()
    around = source[: found.loc["col_begin"]] + source[found.loc["col_end"] :].partition(b"#")[0]
    if around.strip():  # a loop wants a line of its own
        return None
    first, container = ast.unparse(elt.left), _base(found.name)
    walked = _walked(generator.target, generator.iter, container)
    of_container = isinstance(elt.left, ast.Subscript) and _same_place(
        ast.unparse(elt.left.value), container
    )
    if not of_container and (walked is None or first != ast.unparse(walked)):
        return None
    if _needs(elt.right, container, but=""):
        return None
    return _change(first, elt, found.loc["source"])


def _walked(target: ast.expr, walk: ast.expr, container: str) -> ast.expr | None:
    """The part of a loop's target that is each thing in a container in turn."""
    if _same_place(ast.unparse(walk), container):
        return target
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    match walk, parts:
        case ast.Call(func=ast.Name(id="zip"), args=args), [*_] if len(args) == len(parts):
            found = (_walked(t, w, container) for t, w in zip(parts, args, strict=True))
            return next((each for each in found if each is not None), None)
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]), [_, each]:
            return _walked(each, inner, container)
        case ast.Call(func=ast.Attribute(value=held, attr="items")), [_, each]:
            return each if _same_place(ast.unparse(held), container) else None
        case ast.Call(func=ast.Attribute(value=held, attr="values")), []:
            return target if _same_place(ast.unparse(held), container) else None
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
