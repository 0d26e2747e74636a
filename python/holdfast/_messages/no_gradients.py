"""What is said when an optimizer finds no gradient at all: per variable, where its path is cut."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

from .. import _holdfast
from .diagnostics import born_loc, name_in_frame
from .raising import fail, used_here

__all__ = ["note_none", "refuse_no_gradients", "refuse_with_reasons"]

_SHOWN = 3  # variables of which a message tells


class _Last(threading.local):
    """The variables that a tape last gave None for, all of them, and why, of the first few."""

    def __init__(self) -> None:
        self.reasons: list[tuple[Any, dict[str, Any]]] = []


_last = _Last()


def note_none(sources: list[Any], explained: Callable[[Any], dict[str, Any]]) -> None:
    """Remembers why gradients are None: an optimizer that gets nothing else will say so."""
    variables = [each for each in sources if isinstance(each, _holdfast.VariableBase)]
    _last.reasons = [(weakref.ref(each), explained(each)) for each in variables[:_SHOWN]]


def refuse_with_reasons(said: Any, variables: list[Any]) -> None:
    """E0501 of an optimizer, with what the tape knew of its variables, if that is known."""
    reasons, _last.reasons = _last.reasons, []
    known = [(v(), why) for v, why in reasons if any(v() is each for each in variables)]
    if not known:
        return
    labels: list[dict[str, Any]] = []
    words: list[str] = []
    fixes: list[dict[str, Any]] = []
    for variable, why in known:
        name = _path_of(variable)
        cut = next((each for each in why["labels"] if each["role"] == "cut"), None)
        reason = f"`{name}`: {why['why'].rstrip('.')}"
        if cut is not None:
            reason = f"`{name}` is cut off in line {cut['loc']['line']}: {cut['text']}"
        words.append(reason)
        labels += [each for each in why["labels"] if each["role"] != "used" and each not in labels]
        fixes += [each for each in why["fixes"] if each not in fixes]
    more = f"; {len(variables) - len(known)} more are like them" if variables[len(known) :] else ""
    fail(
        "E0501",
        said.headline,
        "; ".join(words) + more,
        fixes=fixes[:2],
        labels=[*_one_a_place(labels), *used_here("the optimizer is given the gradients here")],
        subject={"name": _path_of(known[0][0])},
    )


def _path_of(variable: Any) -> str:
    """What tells a layer's Variable from those of others: `head/kernel`."""
    return str(getattr(variable, "path", "") or variable.name).removesuffix(":0")


def _one_a_place(labels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most one label of a kind at one place: a layer makes several Variables in one line."""
    found = {
        (label["role"], label["loc"]["line"], label["loc"]["col_begin"]): label
        for label in reversed(labels)
    }
    return list(found.values())[::-1]


def refuse_no_gradients(loss: Any, variables: list[Any]) -> NoReturn:
    """Raises E0501 for a loss of a graph and the variables that it is to be minimised by."""
    name = name_in_frame(loss) or str(loss.name).removesuffix(":0")
    labels, said, fixes = used_here("the gradients are asked for here"), [], []
    for variable in variables[:3]:
        words, label, fix = _story(loss, name, variable)
        said.append(words)
        labels += [label] if label is not None else []
        fixes += [fix] if fix not in fixes else []
    more = f"; {len(variables) - 3} more are like them" if len(variables) > 3 else ""
    born = born_loc(loss)
    if born:
        text = f"`{name}` is computed here"
        labels.append({"role": "born", "loc": born, "text": text, "primary": False})
    fail(
        "E0501",
        f"no gradient of `{name}` reaches any variable",
        "; ".join(said) + more,
        fixes=[{"title": fix, "applicability": "manual", "edits": []} for fix in fixes[:2]],
        labels=labels,
        subject={"name": name, "op": loss.op.type, "owner": {"kind": "graph", "name": "graph"}},
    )


def _story(loss: Any, name: str, variable: Any) -> tuple[str, dict[str, Any] | None, str]:
    """What became of one variable: in words, the line that cuts it off, and a way out."""
    known = str(variable.name).removesuffix(":0")
    path = _path(loss, variable)
    if path is None:
        ignored = f"use `{known}` in what `{name}` is computed from"
        return f"no path leads from `{name}` to `{known}`", None, ignored
    cut = next((op for op in path if _cuts(op)), path[0])
    loc = born_loc(cut.outputs[0]) or {}
    line = f", line {loc['line']}" if loc else ""
    text = f"{cut.type} cuts `{known}` off: it has no gradient"
    label = {"role": "cut", "loc": loc, "text": text, "primary": False} if loc else None
    way_past = _holdfast.way_past(cut.type, f"`{name}`")
    return f"`{known}` is cut off at {cut.type}{line}", label, way_past


def _path(loss: Any, variable: Any) -> list[Any] | None:
    """The operations from the loss to a read of the variable; None if none leads there."""
    goal = variable.op.name
    left, came = deque([loss.op]), {loss.op.name: None}
    while left:
        op = left.popleft()
        for source in (tensor.op for tensor in op.inputs):
            if source.name == goal:
                return _back(op, came)
            if source.name not in came:
                came[source.name] = op
                left.append(source)
    return None


def _back(op: Any, came: dict[str, Any]) -> list[Any]:
    path = []
    while op is not None:
        path.append(op)
        op = came[op.name]
    return path[::-1]


def _cuts(op: Any) -> bool:
    record = _holdfast.raw_op_record(op.type)
    if record is None or record["no_gradient"] or not record["gradient"]:
        return str(op.type) != "ReadVariableOp"
    dtypes = [tensor.dtype for tensor in op.outputs]
    return bool(dtypes) and not any(d.is_floating or d.is_complex for d in dtypes)
