"""Who still holds a value that left its scope: the path from the user's variables to it."""

from __future__ import annotations

import re
from typing import Any

from .. import _holdfast
from .birth_names import expression_at
from .diagnostics import born_loc, mark, resolve, user_frame
from .source import shown_name
from .visible import visible_name

__all__ = ["holder_of", "place_use", "receiver_words"]

_PATH = re.compile(r"\w+([.\[][^()]*)+")
_PLAIN = re.compile(r"[\w.\[\]\"']+")


def holder_of(tensor: Any, name: str, used: dict[str, Any]) -> tuple[str, bool]:
    """What holds a lost value that the line at `used` calls `name`, and whether it means that."""
    kind, born = (tensor.dtype.name, tensor._op), born_loc(tensor)

    def lost(value: Any) -> bool:
        return (
            isinstance(value, _holdfast.Tensor)
            and (value.dtype.name, value._op) == kind
            and born_loc(value) == born
        )

    path = visible_name(lost, but=name)
    better = path and _root(name) in _passing() and _root(path) != _root(name)
    if _PATH.fullmatch(name) and not better:  # what the line says is the path
        return name, False
    return path, bool(path) and _only_ours(used, name, path)


def _only_ours(used: dict[str, Any], name: str, path: str) -> bool:
    """Whether a name is that of a parameter of ours, and the line that is executing says `path`."""
    words = expression_at(used, 1000)
    return path in words and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", words) is None


def _root(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _passing() -> set[str]:
    """The names that the user's frame has for a while only, such as those of a loop."""
    frame = user_frame()
    if frame is None or frame.f_locals is frame.f_globals:
        return set()
    return set(frame.f_locals)


def _is_executing(loc: dict[str, Any]) -> bool:
    """Whether Python is in the code of a place; a graph runs its lines when that has ended."""
    frame = user_frame()
    while frame is not None:
        code = frame.f_code
        if code.co_qualname == loc["qualname"] and shown_name(code.co_filename) == loc["file"]:
            return True
        frame = frame.f_back
    return False


def place_use(said: dict[str, Any]) -> bool:
    """Takes back that the line runs in eager code, where it is being traced, or a graph runs it."""
    wrong = [each for each in said["labels"] if each.get("place") == _holdfast.EAGER_CODE]
    tracing = bool(wrong) and _holdfast.is_tracing()
    changed = False
    for label in wrong:
        if not tracing and _is_executing(label["loc"]):
            continue
        owner = "" if tracing else label["loc"]["qualname"].rpartition(".")[2]
        label["place"] = f"in {owner}" if owner.isidentifier() else ""
        changed = True
    return changed


def receiver_words() -> str:
    """What the line calls the session whose method it runs; "" if that is no plain path."""
    here, frame = mark(), user_frame()
    receiver = here.names().receiver if here is not None else None
    if receiver is None or frame is None or not _PLAIN.fullmatch(receiver.text):
        return ""
    # A line may ask a tensor, which asks the session that is the default.
    meant = resolve(frame, receiver.text)
    known = meant is None or isinstance(meant, _holdfast.SessionBase)
    return receiver.text if known else ""
