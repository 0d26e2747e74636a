"""What the program calls a placeholder that is to be fed, or a layer that is asked for a tensor."""

from __future__ import annotations

import ast
from typing import Any

from .. import _holdfast
from .birth_names import name_at
from .diagnostics import born_loc, same_tensor
from .source_text import tree_of
from .visible import visible_name

__all__ = ["layer_words", "placeholder_words"]


def placeholder_words(tensor: Any, name: str) -> str:
    """How a `feed_dict` can say a placeholder which its graph calls `name`."""
    path = visible_name(lambda value: same_tensor(value, tensor))
    if path or name == name_at(born_loc(tensor)):
        return path or name
    return f'"{name}:0"'  # the graph knows it by that


def layer_words(name: str) -> str:
    """What the line that is executing calls a layer; "" if it has no words for it."""
    used = _holdfast.here()
    tree = tree_of(used["file"]) if used else None
    if tree is None:
        return ""
    asked = {
        ast.unparse(node.value).replace("'", '"')
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in ("input", "output")
        and node.lineno == used["line"]
    }
    if len(asked) == 1:
        return asked.pop()
    return visible_name(
        lambda value: isinstance(value, _holdfast.LayerBase) and getattr(value, "name", "") == name
    )
