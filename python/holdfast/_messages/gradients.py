"""What is said when a gradient is None: which of its meanings this is, in the program's words."""

from __future__ import annotations

import ast
from typing import Any

from .. import _holdfast
from . import rebinding as _rebinding
from . import traced_values
from .diagnostics import (
    Mark,
    argument_name,
    born_loc,
    mark,
    module_alias,
    resolve,
    same_tensor,
    user_frame,
    warn,
)
from .provenance import born_label, type_text
from .raising import fail, used_here
from .rebinding import assign_fix, rebinding_of, rebound_labels
from .source_text import tree_of
from .visible import visible_name

__all__ = [
    "explained",
    "refuse_inside",
    "refuse_rebound",
    "refuse_second",
    "warn_none",
    "with_node",
]


def _source_name(source: Any, single: bool) -> str:
    """What the user's line calls one of the sources."""
    words = argument_name(source, 1, "sources") if single else ""
    frame = user_frame()
    held = resolve(frame, words) if words and frame is not None else None
    if words and (held is source or same_tensor(held, source)):
        return words
    if isinstance(source, _holdfast.Tensor):
        return visible_name(lambda value: same_tensor(value, source)) or words or "the source"
    name = visible_name(lambda value: value is source)
    return name or words or str(source.name).removesuffix(":0")


def _info(thing: Any, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "op": thing._op if isinstance(thing, _holdfast.Tensor) else "",
        "dtype": thing.dtype.name,
        "shape": type_text(thing).removeprefix(thing.dtype.name),
        "device": "",
        "born": born_loc(thing) or {},
    }


def _fitting(head: str, reason: str, shorter: str) -> str:
    """A headline that is complete on its line, also where names are long."""
    columns = 100 - len("warning[W0502]: ")
    return f"{head}: {reason if len(head) + 2 + len(reason) <= columns else shorter}"


def explained(tape: Any, target: Any, source: Any, single: bool = True) -> dict[str, Any]:
    """Why d(target)/d(source) is None, as the dict form of a Diagnostic."""
    used = mark()
    meaning, op, lines = tape._why_none(target, source)
    y = argument_name(target, 0, "target") or "the target"
    x = _source_name(source, single)
    tape_name = _tape_name(used)
    is_variable = not isinstance(source, _holdfast.Tensor)
    quoted_y = f"`{y}`" if y != "the target" else y
    quoted_x = f"`{x}`" if x != "the source" else x
    head = f"the gradient of {quoted_y} with respect to {quoted_x} is None"
    rebinding = rebinding_of(source, x)
    labels = rebound_labels(rebinding, source) if rebinding else born_label(source, x)
    if tape._opened is not None:
        labels.append(
            {
                "role": "placed",
                "loc": tape._opened.loc(),
                "text": "this tape was opened here",
                "primary": False,
            }
        )
    labels += [_cut(meaning, op, loc) for loc in lines[:_SHOWN_CUTS]]
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
        fixes.append(assign_fix(rebinding))
    elif meaning == "unwatched":
        head += f": {quoted_x} is not watched"
        why = (
            f"a tape watches Variables by itself, but a constant such as {quoted_x} only after "
            f"`{tape_name}.watch({x})`."
        )
        fixes.append(_watch_fix(tape, tape_name, x))
    elif meaning == "cut":
        head += f": it is cut at {op}"
        why = f"{op} has no derivative, so nothing before it is reached."
        fixes.append(_manual(f"replace {op} by something smooth, or leave it out of {quoted_y}"))
    elif meaning == "taken":
        taken = _expression(lines[0])
        quoted = f"`{taken}`" if taken else "Python"
        head = _fitting(head, f"{quoted} took the numbers out", "numbers were taken out")
        why = (
            f"{quoted} in line {lines[0]['line']} hands over plain numbers, and what is computed "
            f"from them does not know that they come from {quoted_x}."
        )
        fixes.append(
            _manual(
                f"compute {quoted_y} by `{module_alias()}` ops on the tensors themselves, without "
                f"{quoted}: stay off `numpy` on the way"
            )
        )
    elif meaning == "off":
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
        fix = f"use {quoted_x} in the computation of {quoted_y}"
        if taken := _expression(lines[0]) if lines else "":
            why = (
                f"{quoted_y} was computed under this tape, but not from {quoted_x}: `{taken}` in "
                f"line {lines[0]['line']} hands over plain numbers, which have no way back."
            )
            fix += f", in place of the numbers of `{taken}`: off `numpy`"
        fixes.append(_manual(fix))
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


_SHOWN_CUTS = 3


def _expression(loc: dict[str, Any]) -> str:
    """The source of the expression at a place, if it is short."""
    line = str(loc["source"]).encode()
    text = line[max(loc["col_begin"], 0) : max(loc["col_end"], 0)].decode(errors="replace")
    return text if len(text) <= 40 else ""


def _cut(meaning: str, op: str, loc: dict[str, Any]) -> dict[str, Any]:
    text = f"{op} has no gradient" if meaning == "cut" else "the path ends here: plain numbers"
    return {"role": "cut", "loc": loc, "text": text, "primary": False}


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


def refuse_rebound(tape: Any, target: Any, sources: list[Any]) -> None:
    """E0404 if a source is an unwatched tensor that a training step put in a Variable's place."""
    tensors = [each for each in sources if isinstance(each, _holdfast.Tensor)]
    names = [_source_name(each, len(sources) == 1) for each in tensors]
    _rebinding.refuse_rebound(tape, target, tensors, names)


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
