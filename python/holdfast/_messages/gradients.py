"""What is said when a gradient is None: which of its meanings this is, in the program's words."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from .. import _holdfast
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
from .holders import place_use
from .no_gradients import note_none
from .provenance import born_label, type_text
from .raising import fail, used_here
from .rebinding import assign_fix, rebinding_of, rebound_labels
from .rebinding import refuse_rebound as refuse_replaced
from .source_text import tree_of
from .visible import visible_name

__all__ = [
    "explained",
    "refuse_inside",
    "refuse_rebound",
    "refuse_second",
    "refuse_tensors",
    "warn_none",
    "with_node",
]


def _source_name(source: Any, single: bool) -> str:
    """What the user's line calls one of the sources; empty if that is not known."""
    words = argument_name(source, 1, "sources") if single else ""
    frame = user_frame()
    held = resolve(frame, words) if words and frame is not None else None
    if words and (held is source or same_tensor(held, source)):
        return words
    if isinstance(source, _holdfast.Tensor):
        return visible_name(lambda value: same_tensor(value, source)) or words
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


def explained(tape: Any, target: Any, source: Any, single: bool = True) -> dict[str, Any]:
    """Why d(target)/d(source) is None, as the dict form of a Diagnostic.

    The library finds the reason and says it; what the program calls things is found here.
    """
    y = argument_name(target, 0, "target")
    x = _source_name(source, single)
    tape_name = _tape_name(mark())
    rebinding = rebinding_of(source, x)
    replaced = rebinding.name if rebinding else ""
    said: dict[str, Any]
    meaning, said = tape._explain(target, source, y, x, tape_name, replaced)
    place_use(said)
    is_variable = not isinstance(source, _holdfast.Tensor)
    if rebinding is not None:
        said["labels"] = [
            *rebound_labels(rebinding, source),
            *(label for label in said["labels"] if label["role"] != "born"),
        ]
    unseen = meaning == "off" or (meaning == "unwatched" and is_variable)
    outside = _made_outside(tape, target) if unseen else None
    if outside is not None:
        quoted = f"`{y}`" if y else "the target"
        text = f"{quoted} is computed here, outside the tape's block"
        label = {"role": "first_use", "loc": outside, "text": text, "primary": False}
        known = (each for each in said["labels"] if each["loc"] != born_loc(target))
        said["labels"] = [*known, label]
        said["why"] = (
            f"{quoted} was computed in line {outside['line']}, which the tape did not see."
        )
        said["fixes"] = [_manual(f"compute {quoted} inside the tape's block, below its `with`")]
    elif meaning == "off" and (ignored := _ignored(tape, source)):
        quoted = f"`{y}`" if y else "the target"
        said["why"] = (
            f"the tape recorded how `{ignored}` is computed, and {quoted} does not use `{ignored}`."
        )
        said["fixes"] = [_manual(f"use `{ignored}` in what {quoted} is computed from")]
    elif meaning == "unwatched" and rebinding is not None:
        said["fixes"] = [assign_fix(rebinding)]
    elif meaning == "unwatched" and _made_after(tape, target, source):
        said |= _too_late(source, x, y)
    elif meaning == "unwatched" and not (is_variable and source.trainable):
        said["fixes"] = [_with_watch(said["fixes"][0], tape, source)]
    return said | {"subject": _info(source, x), "others": [_info(target, y)]}


def _ignored(tape: Any, source: Any) -> str:
    """The name of what the tape saw last in the function that asks for the gradient; or ""."""
    frame = user_frame()
    seen = {
        value._id: name
        for name, value in (frame.f_locals.items() if frame is not None else ())
        if isinstance(value, _holdfast.Tensor)
        and value.dtype.is_floating
        and tape._why_none(value, source) == "no path"
    }
    return seen[max(seen)] if seen else ""


def _made_after(tape: Any, target: Any, source: Any) -> bool:
    """Whether a source is a tensor that was made when the target was there, below the block."""
    tensors = isinstance(source, _holdfast.Tensor) and isinstance(target, _holdfast.Tensor)
    if not tensors or source._id < target._id:
        return False
    node = with_node(tape._opened) if tape._opened is not None else None
    born = born_loc(source)
    if node is None or born is None or born["file"] != tape._opened.loc()["file"]:
        return False
    return bool(born["line"] > (node.end_lineno or node.lineno))


def _too_late(source: Any, x: str, y: str) -> dict[str, Any]:
    """What is said of a source that no target can come from, since it is younger."""
    x, y = f"`{x}`" if x else "the source", f"`{y}`" if y else "the target"
    line = (born_loc(source) or {})["line"]
    return {
        "headline": f"the gradient of {y} with respect to {x} is None: {x} was made after {y}",
        "why": f"{x} was made in line {line}, when {y} was there already: {y} comes from others.",
        "fixes": [
            _manual(
                f"ask for a tensor that {y} was computed from, which `tape.watch` was told of, or "
                f"make {x} above the block and compute {y} from it"
            )
        ],
    }


def _manual(title: str) -> dict[str, Any]:
    return {"title": title, "applicability": "manual", "edits": []}


def _tape_name(used: Mark | None) -> str:
    if used is not None:
        names = used.names()
        if names.kind == "call" and names.receiver is not None:
            return str(names.receiver.text)
    return "tape"


def _with_watch(fix: dict[str, Any], tape: Any, source: Any) -> dict[str, Any]:
    """The fix with its edit: the first thing the tape's block does is to watch the source.

    What the block itself makes is watched below its own line.
    """
    node = with_node(tape._opened) if tape._opened is not None else None
    frame = user_frame()
    while frame is not None and tape._opened is not None and frame.f_code is not tape._opened.code:
        frame = frame.f_back
    if node is None or frame is None:
        return fix
    held = {**frame.f_globals, **frame.f_locals}
    is_tensor = isinstance(source, _holdfast.Tensor)
    known = {
        name
        for name, value in held.items()
        if value is source or (is_tensor and same_tensor(value, source))
    }
    name = min(known & _read_in(node) or known, default="")
    tapes = [ast.unparse(item.optional_vars) for item in node.items if item.optional_vars]
    own = next((each for each in tapes if resolve(frame, each) is tape), "")
    first, born = _first_after(node, born_loc(source)), tape._opened.loc()
    if not name or not own or first is None:
        return fix
    text = " " * first.col_offset + f"{own}.watch({name})\n"
    place = {"file": born["file"], "line": first.lineno, "col": first.col_offset}
    return fix | {"applicability": "tested", "edits": [place | {"old": "", "new": text}]}


def _read_in(node: ast.With) -> set[str]:
    """The names that a block of a tape reads."""
    names = (each for part in node.body for each in ast.walk(part) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Load)}


def _first_after(node: ast.With, born: dict[str, Any] | None) -> ast.stmt | None:
    """The statement of a block before which its source is there; None if no line begins so."""
    line, last = born["line"] if born is not None else 0, node.items[-1].context_expr.end_lineno
    makes = [each for each in node.body if each.lineno <= line <= (each.end_lineno or line)]
    if makes and hasattr(makes[0], "body"):
        return None  # it is made in a loop or under a condition, and used there
    after = line if makes else last or node.lineno
    return next((each for each in node.body if each.lineno > after), None)


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


def _made_outside(tape: Any, target: Any) -> dict[str, Any] | None:
    """Where the target was made, if that is in the tape's own file and not in its block."""
    born = born_loc(target) if isinstance(target, _holdfast.Tensor) else None
    node = with_node(tape._opened) if tape._opened is not None else None
    if born is None or node is None:
        return None
    opened = tape._opened.loc()
    if (born["file"], born["qualname"]) != (opened["file"], opened["qualname"]):
        return None
    return None if node.lineno <= born["line"] <= (node.end_lineno or born["line"]) else born


def warn_none(tape: Any, targets: list[Any], sources: list[Any]) -> dict[str, Any]:
    """W0502 for the first source: all gradients are None."""
    single = len(targets) == 1 and len(sources) == 1
    said = explained(tape, targets[0], sources[0], single)
    note_none(sources, lambda each: explained(tape, targets[0], each, single))
    warn(**said)
    return said


def refuse_inside(targets: list[Any], sources: list[Any]) -> None:
    """E0503: a source is a value from inside a traced function, of which the tape saw one op."""
    for source in sources:
        function = traced_values.function_of(source)
        if not function:
            continue
        name = _source_name(source, len(sources) == 1) or "the source"
        fail(
            "E0503",
            f"the gradient with respect to `{name}`, a value inside `{function}`",
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
    names = [_source_name(each, len(sources) == 1) or "the source" for each in tensors]
    refuse_replaced(tape, target, tensors, names)


def refuse_tensors(variables: list[Any], of: str) -> None:
    """Refuses what is no Variable among those that an optimizer is to change."""
    for given in variables:
        if not isinstance(given, _holdfast.Tensor):
            continue
        name = visible_name(lambda value, each=given: same_tensor(value, each)) or "variable"  # type: ignore[misc]
        rebinding = rebinding_of(given, name)
        used = used_here(f"used here: {of} is asked to change `{name}`")
        if rebinding is not None:
            fail(
                "E0404",
                f"`{rebinding.name}` is a tensor that replaced a Variable; {of} can't change it",
                f"`{rebinding.name} = ...` gave the name to a new tensor and left the Variable "
                "behind; a tensor keeps its value.",
                labels=[*rebound_labels(rebinding, given), *used],
                fixes=[assign_fix(rebinding)],
                subject=_info(given, name),
            )
        fail(
            "E1104",
            f"`{name}` is a tensor, expected a Variable: {of} can't change it",
            "a tensor keeps its value, and an optimizer changes Variables in place.",
            labels=[*born_label(given, name), *used],
            fix=f"make it once as a Variable: `{name} = {module_alias()}.Variable({name})`",
            subject=_info(given, name),
        )


# A tape used twice.


def refuse_second(tape: Any) -> NoReturn:
    """E0504: a tape that is not persistent gives one gradient."""
    used = mark()
    name = _tape_name(used)
    said = tape._already_used(name)
    if tape._opened is not None:
        said["fixes"] = [_with_persistent(said["fixes"][0], tape._opened)]
    asked = used.names().operands if used is not None else ()
    if len(asked) == 2 and _targets_before(said, used) == {asked[0].text}:
        y, x = (text.text for text in asked)
        said["fixes"].append(
            _manual(f"or ask for both at once: `{name}.gradient({y}, [{x}, ...])`")
        )
    _holdfast.raise_diagnostic(said)
    raise AssertionError("raise_diagnostic returned")


def _targets_before(said: dict[str, Any], used: Mark | None) -> set[str]:
    """What the first gradient was asked of, in the words of its line; two are told by columns."""
    first = next((each["loc"] for each in said["labels"] if each["role"] == "first_use"), None)
    if first is None or used is None:
        return set()
    here = used.loc()
    if (first["line"], first["col_begin"]) == (here["line"], here["col_begin"]):
        return set()  # one call in a loop or a comprehension, with other targets
    typed = first["source"].encode()[first["col_begin"] : first["col_end"]].decode()
    try:
        call = ast.parse(typed, mode="eval").body
    except SyntaxError:
        return set()
    return {ast.unparse(call.args[0])} if isinstance(call, ast.Call) and call.args else set()


def _with_persistent(fix: dict[str, Any], opened: Mark) -> dict[str, Any]:
    """The fix with its edit, where the call that made the tape stands on one line."""
    whole = opened.names().whole
    one_line = whole is not None and whole.line == whole.end_line
    if whole is None or not one_line or not _takes_persistent(whole.text):
        return fix
    before = whole.text[:-1].rstrip()
    gap = "" if before.endswith("(") else " " if before.endswith(",") else ", "
    new = before + gap + "persistent=True)"
    place = {"file": opened.loc()["file"], "line": whole.line, "col": whole.col}
    edits = [place | {"old": whole.text, "new": new}]
    return fix | {"applicability": "tested", "edits": edits}


def _takes_persistent(call: str) -> bool:
    """Whether `persistent=True` may be added to a call: it has not said it in another way."""
    try:
        node = ast.parse(call, mode="eval").body
    except SyntaxError:
        return False
    match node:
        case ast.Call(args=[], keywords=keywords):
            return all(each.arg not in (None, "persistent") for each in keywords)
    return False
