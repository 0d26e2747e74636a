"""The function of ours that a line calls, where an op inside of it refused its arguments."""

from __future__ import annotations

import ast
import inspect
import operator
from types import FrameType, ModuleType
from typing import Any

from .. import _holdfast
from .diagnostics import resolve, user_frame
from .source_text import PerFile, parse

__all__ = ["name_function"]

_OF_ARGUMENTS = {"E0904", "E1101", "E1102", "E1103"}
_OURS = ("holdfast", "tensorflow")
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def name_function(said: dict[str, Any]) -> bool:
    """Lets a message of an inner op begin with the function that the program calls.

    Advice goes that is for calls of the op: the program does not call it.
    """
    if said["code"] not in _OF_ARGUMENTS or _holdfast.raw_op_record(said["op"]) is None:
        return False
    found = _called(said)
    if found is None:
        return False
    words, function, again = found
    before = said["speaker"], said["fixes"]
    name, record = _last(words), getattr(function, "record", None)
    own = isinstance(record, dict) and record.get("op") == said["op"]
    # A raw op, or a function that speaks for itself, whatever the program calls it.
    own = own or getattr(function, "__name__", "") in (said["op"], _last(said["speaker"]))
    fixes = [fix for fix in said["fixes"] if own or _fits(fix, function)]
    said["fixes"] = fixes or (_sizes(said) if said["fixes"] else [])
    if again:  # what one run of the line needs may spoil another
        said["fixes"] = [
            fix | {"applicability": "maybe"} if fix["applicability"] == "tested" else fix
            for fix in said["fixes"]
        ]
    known = [said["op"], said["speaker"]]  # which differ where a kernel is that of several ops
    if not (own or any(each and _same(name, each) for each in known)):
        _holdfast.speak_as(said, words)
    return before != (said["speaker"], said["fixes"])


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _called(said: dict[str, Any]) -> tuple[str, Any, bool] | None:
    """The function of this package that is called where the message points.

    The path it has there, the function, and whether it is called there, or in these words, more
    than once.
    """
    used = next((label["loc"] for label in said["labels"] if label["primary"]), None)
    frame = user_frame()
    if used is None or frame is None:
        return None
    calls = _files.get(used["file"])
    for node in calls.beginning_at(used["line"], used["col_begin"]):
        if node.end_lineno == node.lineno and node.end_col_offset != used["col_end"]:
            continue  # the first operand of what is executing
        words = ast.unparse(node.func)
        found = _meant(words, frame)
        if getattr(found, "__module__", "").partition(".")[0] == __name__.partition(".")[0]:
            return words.partition(".")[2] or words, found, calls.repeats(node)
    return None


class _Calls:
    """The calls of a file, and what runs them more than once."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        tree = parse("".join(lines))
        nodes = list(ast.walk(tree)) if tree is not None else []
        self._loops = [node for node in nodes if isinstance(node, _LOOPS)]
        self._on_line: dict[int, list[ast.Call]] = {}
        for node in nodes:
            if isinstance(node, ast.Call):
                self._on_line.setdefault(node.lineno, []).append(node)

    def beginning_at(self, line: int, column: int) -> list[ast.Call]:
        return [
            call
            for call in self._on_line.get(line, ())
            if call.col_offset == column and isinstance(call.func, (ast.Name, ast.Attribute))
        ]

    def repeats(self, call: ast.Call) -> bool:
        """Whether a loop is around a call, or the line says the same once more."""
        begin, end = (call.lineno, call.col_offset), (call.end_lineno, call.end_col_offset)
        for loop in self._loops:
            if (loop.lineno, loop.col_offset) <= begin and end <= (
                loop.end_lineno,
                loop.end_col_offset,
            ):
                return True
        text = ast.unparse(call)
        return sum(ast.unparse(each) == text for each in self._on_line[call.lineno]) > 1


_files = PerFile(_Calls)


def _meant(words: str, frame: FrameType) -> Any:
    """What a path stands for; modules of ours give names that they load when asked."""
    first, _, rest = words.partition(".")
    root = resolve(frame, first)
    ours = isinstance(root, ModuleType) and root.__name__.partition(".")[0] in _OURS
    if not ours or not rest:
        return resolve(frame, words)
    try:
        return operator.attrgetter(rest)(root)
    except AttributeError:
        return None


def _sizes(said: dict[str, Any]) -> list[dict[str, Any]]:
    """What is left to advise of operands whose sizes do not fit."""
    if said["code"] not in ("E0904", "E1102"):
        return []
    known = [each for each in (said["subject"], *said["others"]) if each["name"]]
    shown = [f"`{each['name']}` {each['shape']}" for each in known if each["shape"] != "[]"]
    title = f"check the sizes of {' and '.join(shown[:2])} where they are made"
    return [{"title": title, "applicability": "manual", "edits": []}] if shown else []


def _same(function: str, op: str) -> bool:
    """Whether a function and an op have one name: `matmul` and `BatchMatMulV2`."""
    plain, known = function.replace("_", "").lower(), op.lower()
    return plain in known or known in plain


def _fits(fix: dict[str, Any], function: Any) -> bool:
    """Whether advice is good for calls of `function`: it gives it no argument of another one."""
    if not fix.get("argument"):
        return True
    try:
        return fix["argument"] in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
