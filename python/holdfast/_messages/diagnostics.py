"""Diagnostics as Python sees them: frozen data, the names of operands, where warnings go.

The binding asks this module three things: what the user calls an operand (`name_operand`), under
which name the user's module knows us (`module_alias`), and where a warning goes (`show_warning`).
"""

from __future__ import annotations

import ast
import functools
import inspect
import operator
import os
import re
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from .. import _holdfast
from . import source as _source
from .birth_names import name_at
from .listed import item_of, items_of, spread
from .record import Record
from .source import OperandNames
from .source_text import widened

__all__ = [
    "Diagnostic",
    "Edit",
    "Fix",
    "Label",
    "Loc",
    "Mark",
    "Scope",
    "TensorInfo",
    "argument_name",
    "born_loc",
    "has_alias",
    "mark",
    "user_frame",
    "warn",
]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NOT_THEIRS = (_PACKAGE, "<frozen importlib")  # imports call us for `import tensorflow`
_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_ONE_NAME = re.compile(r"[\w.]+(\[[\w'\"-]+\])*")


class Loc(Record):
    """A place in a user's file. Columns are bytes from 0, -1 if unknown."""

    file: str = ""
    line: int = 0
    col_begin: int = -1
    col_end: int = -1
    qualname: str = ""
    source: str = ""

    _UNCOMPARED: ClassVar = ("source",)


class Scope(Record):
    """Where a tensor lives: eager code, a traced function, a branch, a loop body, ..."""

    kind: str = "eager"
    name: str = ""
    defined: Loc = Loc()
    trace_no: int = 0
    parent: Scope | None = None
    state: str = "open"
    closed_at: Loc = Loc()


class TensorInfo(Record):
    """What a message knows of a tensor."""

    py_name: str = ""
    op: str = ""
    dtype: str = ""
    shape: str = ""
    device: str = ""
    born: Loc = Loc()
    owner: Scope = Scope()
    holder_path: str = ""


class Label(Record):
    """A marked place and what is to be said of it."""

    role: str
    loc: Loc
    text: str
    primary: bool = False


class Edit(Record):
    """A change to one line: `new` for `old`, or before the line if `old` is empty."""

    file: str
    line: int
    col: int
    old: str
    new: str


class Fix(Record):
    """A way out: words, and the edits that carry it out."""

    title: str
    applicability: str = "manual"
    edits: tuple[Edit, ...] = ()


class Diagnostic(Record):
    """Everything a message says, as data."""

    code: str
    severity: str = "error"
    headline: str = ""
    subject: TensorInfo | None = None
    others: tuple[TensorInfo, ...] = ()
    labels: tuple[Label, ...] = ()
    path: tuple[TensorInfo, ...] = ()
    why: str = ""
    fixes: tuple[Fix, ...] = ()
    docs: str = ""
    hidden_frames: int = 0
    thread: str = ""
    schema: int = 1
    op: str = ""
    rendered: str = ""

    _UNCOMPARED: ClassVar = ("rendered",)
    _UNSHOWN: ClassVar = ("rendered",)

    @classmethod
    def from_dict(cls, said: Mapping[str, Any], text: str = "") -> Diagnostic:
        """The data form of what the binding hands out."""
        subject = _tensor_info(said.get("subject") or {})
        known = subject.py_name or subject.op or subject.dtype or subject.born.file
        return cls(
            code=said["code"],
            severity=said.get("severity", "warning" if said["code"][0] == "W" else "error"),
            headline=said.get("headline", ""),
            subject=subject if known else None,
            others=tuple(map(_tensor_info, said.get("others", ()))),
            labels=tuple(
                Label(x["role"], _loc(x.get("loc")), _text_of(x), bool(x.get("primary")))
                for x in said.get("labels", ())
            ),
            path=tuple(map(_tensor_info, said.get("path", ()))),
            why=said.get("why", ""),
            fixes=tuple(
                Fix(
                    x["title"],
                    x.get("applicability", "manual"),
                    tuple(map(_edit, x.get("edits", ()))),
                )
                for x in said.get("fixes", ())
            ),
            docs=said["code"],
            hidden_frames=said.get("hidden_frames", 0),
            thread=said.get("thread", ""),
            op=said.get("op", ""),
            rendered=text,
        )

    def to_json(self) -> str:
        """One line of JSON, schema 1: columns count from 1, what is not known is null."""
        import json

        return json.dumps(
            {
                "schema": self.schema,
                "code": self.code,
                "level": self.severity,
                "message": self.headline,
                "op": self.op or None,
                "spans": [
                    {
                        "file": _holdfast.short_path(x.loc.file),
                        "line": x.loc.line,
                        "col": _columns(x.loc),
                        "is_primary": x.primary,
                        "role": x.role,
                        "label": x.text,
                    }
                    for x in self.labels
                ],
                "subject": self.subject and _tensor_json(self.subject),
                "owner": self.subject and _scope_json(self.subject.owner),
                "others": [_tensor_json(x) for x in self.others],
                "path": [_tensor_json(x) for x in self.path],
                "why": self.why,
                "fixes": [
                    {
                        "title": x.title,
                        "applicability": x.applicability,
                        "edits": [_edit_json(e) for e in x.edits],
                    }
                    for x in self.fixes
                ],
                "children": [],
                "hidden_frames": self.hidden_frames,
                "thread": self.thread or None,
                "docs": self.docs,
                "rendered": self.rendered,
            },
            ensure_ascii=False,
        )

    def __str__(self) -> str:
        return self.rendered or f"{self.severity}[{self.code}]: {self.headline}"


def _text_of(label: Mapping[str, Any]) -> str:
    """All that a label says: its text, what the value is from, where the line runs."""
    op, place = label.get("op"), label.get("place")
    origin = f" from {op}" if op else ""
    return f"{label.get('text', '')}{origin}" + (f", {place}" if place else "")


def _edit(said: Mapping[str, Any]) -> Edit:
    return Edit(**widened(said))


def _edit_json(edit: Edit) -> dict[str, Any]:
    shown = {"file": _holdfast.short_path(edit.file), "col": edit.col + 1}
    return edit.as_dict() | shown


def _columns(loc: Loc) -> list[int] | None:
    return None if loc.col_begin < 0 else [loc.col_begin + 1, loc.col_end]


def _loc_json(loc: Loc) -> dict[str, Any] | None:
    if not loc.file:
        return None
    return {
        "file": _holdfast.short_path(loc.file),
        "line": loc.line,
        "col": _columns(loc),
        "qualname": loc.qualname or None,
    }


def _scope_json(scope: Scope) -> dict[str, Any]:
    return {
        "kind": scope.kind,
        "name": scope.name or None,
        "defined": _loc_json(scope.defined),
        "trace_no": scope.trace_no,
        "state": scope.state,
        "closed_at": _loc_json(scope.closed_at),
    }


def _tensor_json(info: TensorInfo) -> dict[str, Any]:
    words = ("py_name", "op", "dtype", "shape", "device")
    return {key: getattr(info, key) or None for key in words} | {
        "born": _loc_json(info.born),
        "owner": _scope_json(info.owner),
        "holder_path": info.holder_path or None,
    }


def _loc(said: Mapping[str, Any] | None) -> Loc:
    if not said:
        return Loc()
    return Loc(
        said.get("file", ""),
        said.get("line", 0),
        said.get("col_begin", -1),
        said.get("col_end", -1),
        said.get("qualname", ""),
        said.get("source", ""),
    )


def _tensor_info(said: Mapping[str, Any]) -> TensorInfo:
    words = ("op", "dtype", "shape", "device", "holder_path")
    owner = said.get("owner") or {}
    return TensorInfo(
        py_name=said.get("name", said.get("py_name", "")),
        born=_loc(said.get("born")),
        owner=Scope(
            kind=owner.get("kind", "eager"),
            name=owner.get("name", ""),
            defined=_loc(owner.get("defined")),
            trace_no=owner.get("trace_no", 0),
            state=owner.get("state", "open"),
            closed_at=_loc(owner.get("closed_at")),
        ),
        **{key: said.get(key, "") for key in words},
    )


# The user's frame and the words in it.


def user_frame() -> types.FrameType | None:
    """The innermost frame of the program that calls us."""
    frame: types.FrameType | None = sys._getframe(1)
    library: types.FrameType | None = None  # better than none
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_NOT_THEIRS):
            if not _holdfast.is_library(file):
                return frame
            library = library or frame
        frame = frame.f_back
    return library


class Mark(NamedTuple):
    """An executing instruction, to be turned into a place only if somebody asks."""

    code: types.CodeType
    lasti: int

    def loc(self) -> dict[str, Any]:
        """The place, as the dict form of a Loc."""
        place = _source.locate(self.code, self.lasti)
        return {
            "file": place.file,
            "line": place.line,
            "col_begin": place.col_begin,
            "col_end": place.col_end,
            "qualname": place.qualname,
            "source": place.source_line,
        }

    def names(self) -> OperandNames:
        """The words of the expression there."""
        return _source.operand_names(self.code, self.lasti)


def mark() -> Mark | None:
    """What the user's program is executing."""
    frame = user_frame()
    return None if frame is None else Mark(frame.f_code, frame.f_lasti)


def resolve(frame: types.FrameType, path: str) -> Any:
    """What a name or a dotted path means in `frame`, without running the user's code; or None."""
    if not _PATH.fullmatch(path):
        return _item(frame, path)
    first, *rest = path.split(".")
    found = frame.f_locals.get(first, frame.f_globals.get(first))
    for part in rest:
        space = getattr(found, "__dict__", None)
        found = space.get(part) if isinstance(space, Mapping) else None
    return found


def _item(frame: types.FrameType, path: str) -> Any:
    """What `holder[key]` means, for Python's own containers and keys that are spelled out."""
    holder, bracket, rest = path.rpartition("[")
    if not bracket or not rest.endswith("]"):
        return None
    try:
        key = ast.literal_eval(rest[:-1])
    except (ValueError, SyntaxError):
        return None
    found = resolve(frame, holder)
    if type(found) not in (list, tuple, dict):
        return None
    try:
        return found[key]
    except (LookupError, TypeError):
        return None


def same_tensor(value: Any, tensor: Any) -> bool:
    """Whether `value` is this very tensor, or the Variable it was read from."""
    if isinstance(value, _holdfast.Tensor):
        return bool(value._id == tensor._id or _holdfast.same_symbol(value, tensor))
    return False


def _tensor_names(frame: types.FrameType) -> Iterator[tuple[str, Any]]:
    for space in (frame.f_locals, frame.f_globals):
        for name, value in list(space.items()):
            if name.isidentifier() and isinstance(value, _holdfast.Tensor):
                yield name, value


def name_in_frame(tensor: Any) -> str:
    """The name under which the user's frame holds `tensor`; "" if none."""
    frame = user_frame()
    if frame is None:
        return ""
    for name, value in _tensor_names(frame):
        if same_tensor(value, tensor):
            return name
    return ""


def argument_name(value: Any, position: int, keyword: str, longest: int = 0) -> str:
    """What the user typed for an argument of the executing call; or "".

    It is one name, or any expression of no more than `longest` characters.
    """
    used = mark()
    if used is not None:
        names = used.names()
        text = names.keywords.get(keyword)
        if text is None and position < len(names.operands):
            text = names.operands[position]
        if text is not None and (_ONE_NAME.fullmatch(text.text) or len(text.text) <= longest):
            return text.text
    return name_in_frame(value) if isinstance(value, _holdfast.Tensor) else ""


def _text_loc(frame: types.FrameType, text: _source.Text) -> dict[str, Any]:
    place = _source.locate_frame(frame)
    # Without columns no edit is made: it would look for words that messages have on one line.
    as_typed = text.line == text.end_line and text.text == " ".join(text.text.split())
    return {
        "file": place.file,
        "line": text.line,
        "col_begin": text.col if as_typed else -1,
        "col_end": text.end_col if as_typed else -1,
        "qualname": place.qualname,
        "source": place.source_line if place.line == text.line else "",
    }


def name_operand(
    tensor: Any, position: int, code: types.CodeType | None = None, lasti: int = 0
) -> tuple[str, dict[str, Any] | None]:
    """What the user typed for operand `position` of the executing expression, and where.

    A position below 0 is an item of a list of operands: -1 is its first.
    `code` and `lasti` say which expression, where it is not the one that Python is executing: a
    graph runs long after its lines did.
    """
    frame = user_frame()
    if code is not None and (frame is None or frame.f_code is not code or frame.f_lasti != lasti):
        return _name_written(tensor, code, lasti, position)
    if frame is None:
        return "", None
    names = _source.operand_names(frame.f_code, frame.f_lasti)
    owner = names.receiver if names.kind == "call" else None
    if owner is not None and isinstance(resolve(frame, owner.text), _holdfast.VariableBase):
        if position == 0:  # a Variable is the first operand of what its methods do
            return owner.text, _text_loc(frame, owner)
        position -= 1
    operands = spread(names.operands) if names.kind == "call" else list(names.operands)
    texts = [*operands, *names.keywords.values()]
    if names.receiver is not None:
        texts.append(names.receiver)
    for text in texts:  # certain: the very object stands there under its name, or is made there
        named = same_tensor(resolve(frame, text.text), tensor)
        if named or _is_made_by(text, tensor, frame.f_code):
            return " ".join(text.text.split()), _text_loc(frame, text)
    same = functools.partial(same_tensor, tensor=tensor)
    for text in texts:
        if item := item_of(resolve(frame, text.text), same):
            return f"{text.text}{item}", None
    listed = len(operands) != len(names.operands)
    if not listed and 0 <= position < len(operands) and _by_position(frame, names, position):
        text = operands[position]
        return " ".join(text.text.split()), _text_loc(frame, text)
    born, here = _born(tensor), _source.locate_frame(frame)
    made_here = born and (born["line"], born["col_begin"]) == (here.line, here.col_begin)
    known = name_in_frame(tensor) or ("" if made_here else name_at(born))
    return known or (_typed_item(names, -1 - position) if position < 0 else ""), None


def _born(thing: Any) -> dict[str, Any] | None:
    return born_loc(thing) if isinstance(thing, _holdfast.Tensor) else None


def _is_made_by(text: _source.Text, tensor: Any, code: types.CodeType) -> bool:
    """Whether a tensor was born in the expression `text` of `code`."""
    born = _born(tensor)
    if born is None or text.line != text.end_line:
        return False
    span = (born["line"], born["col_begin"], born["col_end"])
    same_file = born["file"] == _source.shown_name(code.co_filename)
    return same_file and span == (text.line, text.col, text.end_col)


def _name_written(tensor: Any, code: types.CodeType, lasti: int, position: int) -> tuple[str, None]:
    names = _source.operand_names(code, lasti)
    if isinstance(tensor, _holdfast.Tensor) and tensor.dtype.name == "resource":
        return "" if names.receiver is None else names.receiver.text, None
    texts = spread((*names.operands, *names.keywords.values()))
    if (name := _given_at_birth(tensor)) and any(text.text == name for text in texts):
        return name, None
    for typed in texts:
        if _is_made_by(typed, tensor, code):
            return " ".join(typed.text.split()), None
    if names.kind not in ("binary", "compare", "unary", "assign", "call"):
        return "", None
    if position < 0:
        return _typed_item(names, -1 - position), None
    if names.receiver is not None and _ASSIGNS.fullmatch(names.function.rpartition(".")[2]):
        position -= 1
    before = names.operands[: position + 1]
    if len(spread(before)) != len(before) or any(text.text[0] in "\"'" for text in before):
        return "", None  # behind a list or a text, places are not operands
    text = before[position] if position < len(before) else _keyword_at(names, position)
    return "" if text is None else " ".join(text.text.split()), None


_ASSIGNS = re.compile(r"assign(_add|_sub)?")
_STARRED = re.compile(r"[\[(,]\s*\*")


def _typed_item(names: OperandNames, index: int) -> str:
    """One item of the list that a call is given as typed; "" if there is none, or more than one."""
    given = (*names.operands, *names.keywords.values())
    plain = [text for text in given if text.text[:1] != "{" and not _STARRED.search(text.text)]
    lists = [items for text in plain if (items := items_of(text))]
    if names.kind != "call" or len(lists) != 1 or index >= len(lists[0]):
        return ""
    return " ".join(lists[0][index].text.split())


def _keyword_at(names: OperandNames, position: int) -> _source.Text | None:
    """The keyword argument that is parameter `position` of our function."""
    ours, path = sys.modules[__name__.partition(".")[0]], names.function.partition(".")[2]
    try:
        parameters = list(inspect.signature(operator.attrgetter(path)(ours)).parameters)
    except (AttributeError, TypeError, ValueError):
        return None
    return names.keywords.get(parameters[position]) if position < len(parameters) else None


def _given_at_birth(tensor: Any) -> str:
    """The name that the line gives a tensor which makes it; "" if it does more than that."""
    born = _born(tensor)
    try:
        body = ast.parse(born["source"].strip()).body if born else []
    except SyntaxError:
        return ""
    match body:
        case [ast.Assign(targets=[(ast.Name() | ast.Attribute()) as target])]:
            return ast.unparse(target)
    return ""


def _by_position(frame: types.FrameType, names: OperandNames, position: int) -> bool:
    if names.kind in ("binary", "compare", "unary", "assign"):
        return True
    if names.kind != "call":
        return False
    # An argument that is some other tensor is not this one; a starred one stands for several.
    text = names.operands[position].text
    if any(word.text.startswith("*") for word in names.operands):
        return False
    return not isinstance(resolve(frame, text), (_holdfast.Tensor, types.ModuleType, dict))


def module_alias() -> str:
    """The name that the user's module has for this package, `tf` if it has none."""
    return _alias() or "tf"


def has_alias() -> bool:
    """Whether the user's module has a name for this package, so that an edit may use it."""
    return bool(_alias())


def _alias() -> str:
    frame = user_frame()
    for name, value in list(frame.f_globals.items()) if frame is not None else ():
        if isinstance(value, types.ModuleType) and value.__name__ in ("holdfast", "tensorflow"):
            return name
    return ""


def born_loc(thing: Any) -> dict[str, Any] | None:
    """Where a tensor or Variable was made, as the dict form of a Loc."""
    born: dict[str, Any] | None = thing._born()
    return born


def show_warning(text: str, diagnostic: Mapping[str, Any]) -> None:
    """Writes a warning where Python's stderr goes now."""
    stream = sys.stderr
    if stream is not None:
        stream.write(text + "\n")


def warn(code: str, headline: str, **fields: Any) -> None:
    """Warns once for each code and call site; HOLDFAST_DIAG=error raises instead."""
    _holdfast.warn_diagnostic({"code": code, "headline": headline, **fields})
