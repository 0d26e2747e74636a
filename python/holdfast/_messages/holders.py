"""Who still holds a value that left its scope: the path from the user's variables to it."""

from __future__ import annotations

import re
from typing import Any

from .. import _holdfast
from .birth_names import expression_at
from .diagnostics import born_loc, mark, user_frame
from .source import shown_name
from .visible import visible_name

__all__ = ["add_holder", "is_executing", "rename_receiver"]

_PATH = re.compile(r"\w+([.\[][^()]*)+")
_LOST = ("E0101", "E0103", "E0104", "E0114")


def add_holder(said: dict[str, Any]) -> bool:
    """Says of a lost value what holds it, where that is not what the user's line calls it."""
    subject = said.get("subject") or {}
    if said["code"] not in _LOST or not subject.get("born"):
        return False
    kind = subject["dtype"], subject["op"]

    def lost(value: Any) -> bool:
        return (
            isinstance(value, _holdfast.Tensor)
            and (value.dtype.name, value._op) == kind
            and born_loc(value) == subject["born"]
        )

    name = subject["name"]
    path = visible_name(lost, but=name)
    better = path and _root(name) in _passing() and _root(path) != _root(name)
    if _PATH.fullmatch(name) and not better:  # what the line says is the path
        subject["holder_path"] = name
        return False
    subject["holder_path"] = path
    if path and _only_ours(said, name, path):
        _rename(said, name, path)
        return True
    for label in said["labels"]:
        if path and label["role"] == "born":
            label["text"] += f"; held by `{path}`"
    return bool(path)


def _only_ours(said: dict[str, Any], name: str, path: str) -> bool:
    """Whether a name is that of a parameter of ours, and the line that is executing says `path`."""
    used: dict[str, Any] = next((x["loc"] for x in said["labels"] if x["primary"]), {})
    words = expression_at(used, 1000)
    return path in words and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", words) is None


def _rename(said: dict[str, Any], old: str, new: str) -> None:
    said["subject"]["name"] = new
    quoted = f"`{old}`"
    for key in ("headline", "why"):
        said[key] = said[key].replace(quoted, f"`{new}`")
    for part in (*said["labels"], *said["fixes"]):
        for key in ("text", "title"):
            if key in part:
                part[key] = part[key].replace(quoted, f"`{new}`")


def _root(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _passing() -> set[str]:
    """The names that the user's frame has for a while only, such as those of a loop."""
    frame = user_frame()
    if frame is None or frame.f_locals is frame.f_globals:
        return set()
    return set(frame.f_locals)


def is_executing(loc: dict[str, Any]) -> bool:
    """Whether Python is in the code of a place; a graph runs its lines when that has ended."""
    frame = user_frame()
    while frame is not None:
        code = frame.f_code
        if code.co_qualname == loc["qualname"] and shown_name(code.co_filename) == loc["file"]:
            return True
        frame = frame.f_back
    return False


def rename_receiver(said: dict[str, Any]) -> bool:
    """Calls a closed session what the line calls it that uses it, not the one that opened it."""
    if said["code"] != "E0802":
        return False
    here = mark()
    receiver = here.names().receiver if here is not None else None
    known = re.match(r"`([^`]*)` is closed", said["headline"])
    if receiver is None or known is None or not re.fullmatch(r"[\w.\[\]\"']+", receiver.text):
        return False
    said["headline"] = said["headline"].replace(known[0], f"`{receiver.text}` is closed")
    return receiver.text != known[1]
