"""`tf.device`: where ops run, and what is said when that place does not exist."""

from __future__ import annotations

import ast
import re
import threading
from types import TracebackType
from typing import Any

from .. import _holdfast
from .._messages.diagnostics import Mark, mark, module_alias, warn
from .._messages.gradients import with_node
from .._messages.source_text import line_at
from ..errors import fail, unsupported
from .spec import DeviceSpec

__all__ = ["device", "parse_device", "soft_placement"]

_NAME = re.compile(
    r"(?:/?job:(?P<job>\w+))?(?:/?replica:(?P<replica>\d+))?(?:/?task:(?P<task>\d+))?"
    r"(?:/?(?:physical_)?(?:device:)?(?P<kind>CPU|GPU|TPU)(?::(?P<index>\d+|\*))?)?/?",
    re.IGNORECASE,
)


class _SoftPlacement:
    on = True


soft_placement = _SoftPlacement()


def parse_device(name: str) -> tuple[str | None, int]:
    """Kind and number of the device that a name means; no kind if it leaves that open."""
    found = _NAME.fullmatch(name)
    if found is None:
        fail(
            "E1103",
            f"{name!r} is no device name",
            'a device name looks like "/GPU:0", "/CPU:0" or "/job:localhost/device:CPU:0".',
            op="device",
        )
    here = found["job"] in (None, "localhost") and not int(found["replica"] or 0)
    if not here or int(found["task"] or 0):
        fail(
            "E1103",
            f"{name!r} is a device of another process",
            "this process has the devices of `/job:localhost/replica:0/task:0` only.",
            op="device",
        )
    index = found["index"] or "0"
    kind = found["kind"]
    return kind.upper() if kind else None, 0 if index == "*" else int(index)


class _Entered(threading.local):
    """The contexts that this thread is in, innermost last."""

    def __init__(self) -> None:
        self.stack: list[device] = []


_entered = _Entered()


class device:
    """A context in which ops run, and tensors are made, on a device such as "/GPU:0"."""

    def __init__(self, device_name: Any) -> None:
        self._by: Any = None  # a function that places ops of a graph
        if callable(device_name):
            graph = _holdfast.current_graph()
            if graph is None:
                unsupported(
                    "`tf.device` of a function outside of a graph is not supported",
                    "there is no op to place before it runs",
                    fix='give a name such as `tf.device("/CPU:0")`',
                )
            self._by = graph.device(device_name)
            device_name = None
        if isinstance(device_name, DeviceSpec):
            device_name = device_name.to_string()
        self._name = getattr(device_name, "name", device_name)
        if self._name is not None and not isinstance(self._name, str):
            fail(
                "E1104",
                f"`tf.device` got a {type(device_name).__name__}, expected a string",
                'a device is named by a string such as "/GPU:0".',
                op="device",
            )
        self._mark = mark()

    def __enter__(self) -> None:
        _entered.stack.append(self)
        if self._by is not None:
            self._by.__enter__()
            return
        _holdfast.push_device(*self.place())

    def place(self) -> tuple[str | None, int]:
        """Kind and number of the device that is used, which may be another than was asked for."""
        kind, index = (None, 0) if self._name is None else parse_device(self._name)
        there = [(d["kind"], d["index"]) for d in _holdfast.devices()]
        if kind is not None and (kind, index) not in there:
            return self._absent(kind, index, there)
        return kind, index

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if _entered.stack[-1:] != [self]:
            raise RuntimeError(
                "a `tf.device` ends while one that was entered in it is still open: contexts end "
                "in the reverse order in which they began"
            )
        _entered.stack.pop()
        if self._by is not None:
            self._by.__exit__(kind, error, trace)
            return
        _holdfast.pop_device()

    def _absent(self, kind: str, index: int, there: list[tuple[str, int]]) -> tuple[str, int]:
        asked = f"{kind}:{index}"
        same = [f"{k}:{i}" for k, i in there if k == kind]
        if same:
            seen = f"only {same[0]}" if len(same) == 1 else f"{same[0]} to {same[-1]}"
            why = f"this process sees {seen}, so there is no {asked}."
        else:
            why = f"this process sees no {kind}, so there is no {asked}."
        if not soft_placement.on:
            fail(
                "E1103",
                f"{asked} was asked for and is absent",
                why + " Soft placement is off, so no other is used.",
                fix='name a device that exists: `tf.device("/CPU:0")`',
                op="device",
            )
        labels = []
        fixes = [_fix(self._mark)]
        if self._mark is not None:
            loc = self._mark.loc()
            labels = [{"role": "placed", "loc": loc, "text": "asked for here", "primary": True}]
            labels += _first_op(self._mark)
        warn(
            "W0703",
            f"{asked} was asked for and is absent; CPU:0 was used",
            why=why,
            labels=labels,
            fixes=fixes,
            op="device",
        )
        return "CPU", 0


def _fix(used: Mark | None) -> dict[str, Any]:
    call = f'{module_alias()}.device("/CPU:0")'
    fix: dict[str, Any] = {
        "title": f"name a device that exists: `{call}`",
        "applicability": "manual",
        "edits": [],
    }
    words = None if used is None else used.names()
    if used is None or words is None or words.whole is None or words.kind != "call":
        return fix
    whole = words.whole
    rest = whole.text.removeprefix(words.function)
    if "[" in rest:  # a list of names, which stays for the user to change
        fix["title"] = 'name a device that exists: "/CPU:0"'
    elif whole.line == whole.end_line and rest != whole.text:
        new = f'{words.function}("/CPU:0")'
        where = {"file": used.loc()["file"], "line": whole.line, "col": whole.col}
        fix["applicability"], fix["title"] = "tested", f"name a device that exists: `{new}`"
        fix["edits"] = [where | {"old": whole.text, "new": new}]
    return fix


def _first_op(used: Mark) -> list[dict[str, Any]]:
    """The first call in the block, which runs elsewhere than asked."""
    block = with_node(used)
    if block is None:
        return []
    calls = [node for node in ast.walk(block.body[0]) if isinstance(node, ast.Call)]
    if not calls:
        return []
    first = min(calls, key=lambda node: (node.lineno, node.col_offset))
    if first.end_lineno != first.lineno:
        return []
    loc = used.loc() | {
        "line": first.lineno,
        "col_begin": first.col_offset,
        "col_end": first.end_col_offset,
        "source": line_at(used.code.co_filename, first.lineno),
    }
    return [{"role": "used", "loc": loc, "text": "runs on CPU:0 instead", "primary": False}]
