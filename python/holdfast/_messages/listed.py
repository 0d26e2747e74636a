"""Parts of Python's own lists, tuples and dicts: as they are typed, and as they are."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from .source import Text

__all__ = ["SHOWN_ITEMS", "item_of", "items_of", "key_text", "spread"]

SHOWN_ITEMS = 64  # of a container


def spread(operands: tuple[Text, ...]) -> list[Text]:
    """The operands, and the items of those that are lists as typed: `[u, v]` is `u` and `v`."""
    out: list[Text] = []
    for text in operands:
        found = items_of(text) if text.text.startswith(("[", "(", "{")) else None
        out.extend(spread(tuple(found)) if found is not None else [text])
    return out


def items_of(text: Text) -> list[Text] | None:
    try:
        tree = ast.parse(text.text, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(tree, (ast.List, ast.Tuple, ast.Dict)) or text.line != text.end_line:
        return None
    encoded = text.text.encode()
    return [
        Text(
            encoded[item.col_offset : item.end_col_offset].decode(),
            text.line,
            text.col + item.col_offset,
            text.line,
            text.col + (item.end_col_offset or 0),
        )
        for item in (tree.values if isinstance(tree, ast.Dict) else tree.elts)
        if not isinstance(item, ast.Starred)
    ]


def item_of(holder: Any, wanted: Callable[[Any], bool]) -> str:
    """Where a list, tuple or dict of Python's own has a wanted value: `[1]`, `["loss"]`; or ""."""
    if type(holder) in (list, tuple):
        pairs = list(enumerate(holder[:SHOWN_ITEMS]))
    elif type(holder) is dict:
        pairs = [(k, v) for k, v in list(holder.items())[:SHOWN_ITEMS] if type(k) in (str, int)]
    else:
        return ""
    return next((f"[{key_text(key)}]" for key, value in pairs if wanted(value)), "")


def key_text(key: str | int) -> str:
    """A key of a dict as it is written between brackets."""
    return str(key) if isinstance(key, int) else '"' + key.replace('"', '\\"') + '"'
