"""What is said when an optimizer finds no gradient at all: per variable, where its path is cut."""

from __future__ import annotations

from collections import deque
from typing import Any, NoReturn

from .. import _holdfast
from .diagnostics import born_loc, name_in_frame
from .raising import fail, used_here

__all__ = ["refuse_no_gradients"]


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
