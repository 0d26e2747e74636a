"""What is said when a gradient is None: which of its meanings this is, in the program's words."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from .. import _holdfast
from . import traced_values
from .diagnostics import Mark, argument_name, born_loc, mark, name_in_frame, warn
from .provenance import assigned_there, born_label, type_text
from .raising import fail, used_here
from .source_text import tree_of

__all__ = [
    "explained",
    "refuse_inside",
    "refuse_rebound",
    "refuse_second",
    "warn_none",
    "with_node",
]


def _source_name(source: Any, single: bool) -> str:
    if single and (words := argument_name(source, 1, "sources")):
        return words
    if isinstance(source, _holdfast.Tensor):
        return name_in_frame(source) or "the source"
    return str(source.name).removesuffix(":0")


def _info(thing: Any, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "op": thing._op if isinstance(thing, _holdfast.Tensor) else "",
        "dtype": thing.dtype.name,
        "shape": type_text(thing).removeprefix(thing.dtype.name),
        "device": "",
        "born": born_loc(thing) or {},
    }


def _meaning(said: dict[str, Any], source: Any) -> str:
    """Which of the meanings of None the binding found."""
    if not (source.dtype.is_floating or source.dtype.is_complex):
        return "integer"
    if any(label["role"] == "cut" for label in said["labels"]):
        return "cut"
    if "did not watch" in said["headline"]:
        return "unwatched"
    return "numpy" if "numpy" in said["why"] else "no path"


def _fitting(head: str, reason: str, shorter: str) -> str:
    """A headline that is complete on its line, also where names are long."""
    columns = 100 - len("warning[W0502]: ")
    return f"{head}: {reason if len(head) + 2 + len(reason) <= columns else shorter}"


def explained(tape: Any, target: Any, source: Any, single: bool = True) -> dict[str, Any]:
    """Why d(target)/d(source) is None, as the dict form of a Diagnostic."""
    used = mark()
    said: dict[str, Any] = tape._explain(target, source)
    meaning = _meaning(said, source)
    y = (argument_name(target, 0, "target") if single else "") or "the target"
    x = _source_name(source, single)
    tape_name = _tape_name(used)
    is_variable = not isinstance(source, _holdfast.Tensor)
    quoted_y = f"`{y}`" if y != "the target" else y
    quoted_x = f"`{x}`" if x != "the source" else x
    head = f"the gradient of {quoted_y} with respect to {quoted_x} is None"
    rebinding = _rebinding(source)
    labels = _rebound_labels(rebinding, source) if rebinding else born_label(source, x)
    if tape._opened is not None:
        labels.append(
            {
                "role": "placed",
                "loc": tape._opened.loc(),
                "text": "this tape was opened here",
                "primary": False,
            }
        )
    labels += [label for label in said["labels"] if label["role"] == "cut"]
    labels += used_here()
    fixes: list[dict[str, Any]] = []
    if meaning == "integer":
        head += f": {quoted_x} is {source.dtype.name}"
        why = f"only floats and complex numbers have gradients, {quoted_x} is {source.dtype.name}."
        fixes.append(_manual(f"make {quoted_x} a float, such as `float32`"))
    elif meaning == "unwatched" and is_variable:
        head = _fitting(
            head,
            f"{quoted_x} was not read while the tape recorded",
            "the tape saw no read",
        )
        why = f"the tape saw no read of the Variable {quoted_x}, or it is not trainable."
        watch = f"`{tape_name}.watch({x})`"
        fixes.append(_manual(f"use {quoted_x} inside the tape's block, or {watch}"))
    elif meaning == "unwatched" and rebinding is not None:
        head += f": {quoted_x} replaced a Variable"
        why = (
            f"`{rebinding.name} = ...` gave the Variable's name to a tensor, which no tape watches."
        )
        fixes.append(_assign_fix(rebinding.name, rebinding.statement, rebinding.here))
    elif meaning == "unwatched":
        head += f": {quoted_x} is not watched"
        why = (
            f"a tape watches Variables by itself, but a constant such as {quoted_x} only after "
            f"`{tape_name}.watch({x})`."
        )
        fixes.append(_watch_fix(tape, tape_name, x))
    elif meaning == "cut":
        op = next(label["text"] for label in said["labels"] if label["role"] == "cut").split()[0]
        head += f": it is cut at {op}"
        why = f"{op} has no derivative, so nothing before it is reached."
        fixes.append(_manual(f"replace {op} by something smooth, or leave it out of {quoted_y}"))
    elif meaning == "numpy":
        head = _fitting(
            head,
            f"{quoted_y} was not computed from anything watched",
            "the tape did not see it",
        )
        why = f"no recorded op leads to {quoted_y}: it was computed off the tape, or by NumPy."
        fixes.append(
            _manual(f"compute {quoted_y} by `tf` ops inside the tape's block, off `numpy`")
        )
    else:
        head = _fitting(head, f"{quoted_y} does not depend on {quoted_x}", "no path leads there")
        why = f"{quoted_y} was computed under this tape, but not from {quoted_x}."
        fixes.append(_manual(f"use {quoted_x} in the computation of {quoted_y}"))
    return {
        "code": "W0502",
        "severity": "warning",
        "headline": head,
        "why": why,
        "labels": labels,
        "fixes": fixes,
        "subject": _info(source, x),
        "others": [_info(target, y)],
        "op": "GradientTape.gradient",
    }


def _manual(title: str) -> dict[str, Any]:
    return {"title": title, "applicability": "manual", "edits": []}


def _tape_name(used: Mark | None) -> str:
    if used is not None:
        names = used.names()
        if names.kind == "call" and names.receiver is not None:
            return str(names.receiver.text)
    return "tape"


def _watch_fix(tape: Any, tape_name: str, source: str) -> dict[str, Any]:
    """Watching `source` as the first thing the tape's block does."""
    fix = _manual("let the tape watch it")
    if not source.isidentifier() or tape._opened is None:
        fix["title"] = f"let the tape watch it: `{tape_name}.watch({source})`"
        return fix
    body = _with_body(tape._opened)
    if body is None:
        fix["title"] = f"let the tape watch it: `{tape_name}.watch({source})`"
        return fix
    file, line, col = body
    text = " " * col + f"{tape_name}.watch({source})\n"
    fix["applicability"] = "tested"
    fix["edits"] = [{"file": file, "line": line, "col": col, "old": "", "new": text}]
    return fix


def with_node(opened: Mark) -> ast.With | None:
    """The `with` statement whose context a call makes."""
    words = opened.names()
    if words.whole is None:
        return None
    tree = tree_of(opened.code.co_filename)
    place = (words.whole.line, words.whole.col)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.With) and any(
            (item.context_expr.lineno, item.context_expr.col_offset) == place for item in node.items
        ):
            return node
    return None


def _with_body(opened: Mark) -> tuple[str, int, int] | None:
    """Where the first statement of the `with` block stands that a call opened."""
    node = with_node(opened)
    if node is None or node.body[0].lineno <= node.items[-1].context_expr.lineno:
        return None
    first = node.body[0]
    return opened.loc()["file"], first.lineno, first.col_offset


def warn_none(tape: Any, targets: list[Any], sources: list[Any]) -> dict[str, Any]:
    """W0502 for the first source: all gradients are None."""
    single = len(targets) == 1 and len(sources) == 1
    said = explained(tape, targets[0], sources[0], single)
    warn(**said)
    return said


def refuse_inside(targets: list[Any], sources: list[Any]) -> None:
    """E0503: a source is a value from inside a traced function, of which the tape saw one op."""
    for source in sources:
        function = traced_values.function_of(source)
        if not function:
            continue
        name = _source_name(source, len(sources) == 1)
        fail(
            "E0503",
            f"the gradient with respect to `{name}`, a value inside the traced function "
            f"`{function}`",
            f"to the tape a call of `{function}` is one op: it knows what goes in and what comes "
            f"out, not how the result depends on `{name}`",
            fix=f"take the gradient inside `{function}`, or return `{name}` from `{function}` and "
            "compute the rest from it",
            labels=[
                *born_label(source, name),
                *used_here("gradient asked for here"),
            ],
            subject=_info(source, name),
        )


# A tensor under the name of a Variable.


class _Rebinding(NamedTuple):
    """A tensor under the name that a Variable had."""

    name: str
    variable: dict[str, Any]  # where the Variable was made
    here: dict[str, Any]  # where the tensor took its name
    statement: ast.Assign


def _rebinding(source: Any) -> _Rebinding | None:
    """How `source` took over the name of a Variable it was computed from, if it did."""
    if not isinstance(source, _holdfast.Tensor):
        return None
    variable, here = source._variable_born(), born_loc(source)
    was, now = assigned_there(variable), assigned_there(here)
    if was is None or now is None or here is None or variable is None:
        return None
    name = ast.unparse(now.targets[0])
    if ast.unparse(was.targets[0]) != name:
        return None
    if variable["file"] == here["file"] and variable["line"] == here["line"]:
        return None
    return _Rebinding(name, variable, here, now)


def _is_update(rebinding: _Rebinding, used: Mark | None) -> bool:
    """Whether the new value comes from a gradient: a training step that lost its Variable."""
    grads = set(used.names().assigned_names) if used is not None else set()
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "gradient")
        or (isinstance(node, ast.Name) and node.id in grads)
        for node in ast.walk(rebinding.statement.value)
    )


def refuse_rebound(tape: Any, target: Any, sources: list[Any]) -> None:
    """E0404 if a source is an unwatched tensor that a training step put in a Variable's place."""
    used = mark()
    for source in sources:
        found = _rebinding(source)
        if found is None or not _is_update(found, used):
            continue
        if _meaning(tape._explain(target, source), source) != "unwatched":
            continue
        name = found.name
        fail(
            "E0404",
            f"`{name}` is a tensor that replaced a Variable; the tape does not watch it",
            f"`{name} = ...` gave the name to a new tensor and left the Variable behind, so no "
            "gradient can reach it.",
            labels=[
                *_rebound_labels(found, source),
                *used_here(f"used here: the gradient is asked for `{name}`"),
            ],
            fixes=[_assign_fix(name, found.statement, found.here)],
            subject=_info(source, name),
            op="GradientTape.gradient",
        )


def _rebound_labels(found: _Rebinding, source: Any) -> list[dict[str, Any]]:
    born = f"born here: Variable `{found.name}`, {type_text(source)}"
    rebound = f"rebound here: from now on `{found.name}` is a tensor"
    return [
        {"role": "born", "loc": found.variable, "text": born, "primary": False},
        {"role": "rebound", "loc": _statement(found.here), "text": rebound, "primary": False},
    ]


def _statement(loc: dict[str, Any]) -> dict[str, Any]:
    """The whole statement on the line of `loc`."""
    source = str(loc["source"])
    begin = len(source) - len(source.lstrip())
    plain = "'" not in source and '"' not in source  # so that a # begins a comment
    code = source.split("#")[0].rstrip() if plain else source.rstrip()
    return loc | {"col_begin": len(source[:begin].encode()), "col_end": len(code.encode())}


def _assign_fix(name: str, assign: ast.Assign, loc: dict[str, Any]) -> dict[str, Any]:
    """The statement that changes the Variable in place."""
    text = str(loc["source"]).strip()
    old = ast.get_source_segment(text, assign) or ""
    value = ast.get_source_segment(text, assign.value) or ""
    new = f"{name}.assign({value})"
    methods = {ast.Sub: "assign_sub", ast.Add: "assign_add"}
    match assign.value:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in methods:
            delta = ast.get_source_segment(text, right)
            if ast.unparse(left) == name and delta:
                new = f"{name}.{methods[type(op)]}({delta})"
    col = len(str(loc["source"]).encode()) - len(str(loc["source"]).lstrip().encode())
    edit = {"file": loc["file"], "line": loc["line"], "col": col, "old": old, "new": new}
    return {
        "title": "change the Variable instead of the name",
        "applicability": "tested",
        "edits": [edit],
    }


# A tape used twice.


def refuse_second(tape: Any, first: Mark | None) -> None:
    """E0504: a tape that is not persistent gives one gradient."""
    used = mark()
    name = _tape_name(used)
    labels: list[dict[str, Any]] = []
    fixes: list[dict[str, Any]] = []
    if tape._opened is not None:
        loc = tape._opened.loc()
        text = f"`{name}` was opened here, not persistent"
        labels.append({"role": "placed", "loc": loc, "text": text, "primary": False})
        fixes.append(_persistent_fix(tape._opened, loc))
    if first is not None:
        text = "first gradient here; what the tape recorded was freed"
        labels.append({"role": "first_use", "loc": first.loc(), "text": text, "primary": False})
    labels += used_here("used here a second time")
    if used is not None and len(used.names().operands) == 2:
        y, x = (text.text for text in used.names().operands)
        fixes.append(_manual(f"or ask for both at once: `{name}.gradient({y}, [{x}, ...])`"))
    fail(
        "E0504",
        f"`{name}` was already used for a gradient; it is not persistent",
        "a tape that is not persistent frees its record with the first gradient, and this is the "
        "second.",
        labels=labels,
        fixes=fixes,
        op="GradientTape.gradient",
    )


def _persistent_fix(opened: Mark, loc: dict[str, Any]) -> dict[str, Any]:
    title = "keep the record for more than one gradient"
    whole = opened.names().whole
    one_line = whole is not None and whole.line == whole.end_line
    if whole is None or not one_line or not whole.text.endswith(")") or "persistent" in whole.text:
        return _manual(title + ": `persistent=True`")
    gap = "" if whole.text.endswith("()") else ", "
    new = whole.text[:-1] + gap + "persistent=True)"
    place = {"file": loc["file"], "line": whole.line, "col": whole.col}
    edits = [place | {"old": whole.text, "new": new}]
    return {"title": title, "applicability": "tested", "edits": edits}
