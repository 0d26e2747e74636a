"""What only Python can add to a message of the library: who holds a tensor, which `with` placed it.

Asked only after a failure; looks, and never runs the user's code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, NamedTuple

from .. import _holdfast
from .called import name_function
from .diagnostics import born_loc, module_alias, resolve, user_frame
from .rebinding import statement_loc
from .source import shown_name
from .source_text import function_at, last_set, line_at, tree_of

__all__ = ["enrich"]

_DEPTH = 3  # containers within containers that are looked into
_LOOKED_AT = 20_000  # values, after which the search for holders ends


def enrich(said: dict[str, Any]) -> bool:
    """Adds to the dict form of a Diagnostic what is known here; whether there was anything."""
    add = _ADDITIONS.get(said["code"])
    return name_function(said) | (add is not None and add(said))


# E0701: the line that placed each operand, and the edit that copies one.


def _placed(said: dict[str, Any]) -> bool:
    frame = user_frame()
    if frame is None:
        return False
    filename = frame.f_code.co_filename
    tree = tree_of(filename)
    if tree is None:
        return False
    file = shown_name(filename)
    added = []
    for info in (said["subject"], *said["others"]):
        place = _device_call(tree, info["born"]["line"])
        if info["name"] and place is not None and info["born"]["file"] == file:
            loc = dict(info["born"]) | {
                "line": place.lineno,
                "col_begin": place.col_offset,
                "col_end": place.end_col_offset,
                "source": line_at(filename, place.lineno),
            }
            text = f"placed `{info['name']}` on {info['device']}"
            added.append({"role": "placed", "loc": loc, "text": text, "primary": False})
    said["labels"] = [*added, *said["labels"]]
    # A copy stays where its source is, unless the line itself is under the right device.
    fix = _identity_fix(said) if _device_call(tree, frame.f_lineno) is not None else None
    if fix is not None:
        said["fixes"] = [fix]
    return bool(added) or fix is not None


def _device_call(tree: ast.AST, line: int) -> ast.expr | None:
    """The innermost `device(...)` of a `with` around a line."""
    found: ast.expr | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.With) and node.lineno < line <= (node.end_lineno or 0):
            for item in node.items:
                match item.context_expr:
                    case ast.Call(func=ast.Name(id="device") | ast.Attribute(attr="device")):
                        if found is None or item.context_expr.lineno > found.lineno:
                            found = item.context_expr
    return found


def _identity_fix(said: dict[str, Any]) -> dict[str, Any] | None:
    name = said["subject"]["name"]
    used = next((label["loc"] for label in said["labels"] if label["primary"]), None)
    if used is None or not re.fullmatch(r"[\w.]+", name) or used["col_begin"] < 0:
        return None
    line = used["source"].encode()
    pattern = rb"(?<![\w.])" + re.escape(name.encode()) + rb"(?![\w.])"
    hit = re.compile(pattern).search(line, used["col_begin"], used["col_end"])
    before = rb"(?<![\w.])" + re.escape(name.encode())
    if hit is None or re.search(before, line[: used["col_begin"]]) is not None:
        return None
    new = f"{module_alias()}.identity({name})"
    place = {"file": used["file"], "line": used["line"], "col": hit.start()}
    return {
        "title": f"copy `{name}` to where the op runs: `{new}`",
        "applicability": "maybe",
        "edits": [place | {"old": name, "new": new}],
    }


# E0702: what is live, and under which name.


class _Holder(NamedTuple):
    """What holds tensors: a container, or the name or attribute of one; as the user writes it."""

    path: str
    value: Any
    container: bool = False


def _parts(holder: _Holder) -> Iterator[_Holder]:
    """What a holder holds in turn. The items of a container are the container's."""
    path, value, _ = holder
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        for item in list(value.values() if isinstance(value, Mapping) else value):
            yield _Holder(path, item, True)
    elif not isinstance(value, type) and type(value).__module__ != "builtins":
        space = getattr(value, "__dict__", None)
        if isinstance(space, dict):
            for name, part in list(space.items()):
                yield _Holder(
                    path if holder.container else f"{path}.{name}", part, holder.container
                )


def _tensors(holder: _Holder, depth: int, budget: list[int]) -> Iterator[tuple[str, Any]]:
    """The tensors that a value holds, and under which path."""
    if budget[0] <= 0:
        return
    budget[0] -= 1
    if isinstance(holder.value, (_holdfast.Tensor, _holdfast.VariableBase)):
        yield holder.path, holder.value
    elif depth:
        for part in _parts(holder):
            yield from _tensors(part, depth - 1, budget)


def _names(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """The user's variables, the nearest frame first."""
    seen: set[int] = set()
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            if id(space) not in seen:
                seen.add(id(space))
                for name, value in list(space.items()):
                    if not name.startswith("__"):
                        yield name, value
        frame = frame.f_back


def _bytes_text(count: int) -> str:
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.1f} {unit}" if unit != "bytes" else f"{count} bytes"


def _live(said: dict[str, Any]) -> bool:
    held: dict[tuple[str, str, int], list[Any]] = {}
    counted: set[int] = set()
    budget = [_LOOKED_AT]
    frame = user_frame()
    for name, value in _names(frame):
        for path, tensor in _tensors(_Holder(name, value), _DEPTH, budget):
            born = born_loc(tensor)
            known = (tensor if isinstance(tensor, _holdfast.Tensor) else tensor.handle)._id
            if known not in counted and born is not None:
                counted.add(known)
                held.setdefault((path, born["file"], born["line"]), []).append(tensor)
    sized = sorted(((sum(map(_size, group)), key) for key, group in held.items()), reverse=True)
    for total, key in sized[:3]:
        group = held[key]
        each = f"{len(group)} x {_bytes_text(total // len(group))}"
        text = f"live: {each}, held by `{key[0]}`"
        label = {"role": "stored", "loc": born_loc(group[0]), "text": text, "primary": False}
        said["labels"] = [label, *said["labels"]]
    if not sized:
        return False
    name = sized[0][1][0]
    found = resolve(frame, name) if frame is not None else None
    how = f"{name}.clear()" if hasattr(found, "clear") else f"del {name}"
    free = f"free `{name}` with `{how}`"
    title = f"make a smaller tensor; of what is live, `{name}` holds the most: {free}"
    said["fixes"] = [{"title": title, "applicability": "manual", "edits": []}, *said["fixes"]]
    return True


def _size(tensor: Any) -> int:
    return int(tensor.shape.num_elements() or 0) * int(tensor.dtype.size)


# E0904: a value that a pass made of another one keeps the birth of that; the function has its own.


def _sizes(said: dict[str, Any]) -> bool:
    used = next((label["loc"] for label in said["labels"] if label["primary"]), None)
    tree = tree_of(used["file"]) if used is not None else None
    if used is None or tree is None:
        return False
    home, changed = function_at(tree, used["line"]), False
    if home is None:
        return False
    for label in said["labels"]:
        loc, name = label["loc"], label.get("value", "") if label.get("op") else ""
        inside = loc["file"] == used["file"] and home.lineno <= loc["line"] <= (
            home.end_lineno or 0
        )
        made = last_set(home, name, used["line"]) if name and not inside else None
        if made is not None:
            label["loc"] = statement_loc(made, used["file"]) | {"qualname": used["qualname"]}
            label["op"], changed = "", True
    return changed


# E1103: a value inside of ours that the program's line says nothing of is not told.


def _told_values(said: dict[str, Any]) -> bool:
    before = len(said["labels"])
    used = next((label["loc"] for label in said["labels"] if label["primary"]), None)
    line = str((used or {}).get("source", ""))
    said["labels"] = [
        label
        for label in said["labels"]
        if not label.get("value")
        or not label["value"].isidentifier()
        or re.search(rf"\b{label['value']}\b", f"{line} {label['loc'].get('source', '')}")
    ]
    return before != len(said["labels"])


_ADDITIONS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "E0701": _placed,
    "E0702": _live,
    "E0904": _sizes,
    "E1103": _told_values,
}
