"""Checks as ops: here is found what the program calls its operands; the library says the rest."""

from __future__ import annotations

import re
from typing import Any

from . import _registry
from ._diagnostics import born_loc, mark, name_in_frame
from ._graph_control import newest
from ._staging import is_staged
from ._tensor import Tensor
from ._variable import Variable

__all__ = ["births", "name_of", "require"]


def require(op: str, condition: Any, *operands: tuple[Any, str], **arguments: Any) -> Any:
    """Runs a check's op where `condition` does not hold; in a graph, each time that runs.

    `operands` are what the user gave, with the names of the arguments. An eager check that passes
    has no need to know what the user calls things. In a graph by hand the operation is returned.
    """
    if not is_staged([condition]) and bool(condition.numpy().all()):
        return None
    words = [name_of(value, i, keyword) for i, (value, keyword) in enumerate(operands)]
    _registry.raw_op(op, condition=condition, words=words, **arguments)
    return newest([condition])


def name_of(value: Any, position: int, keyword: str) -> str:
    """What the user typed for an argument of the executing check, if it is short."""
    used = mark()
    if used is not None:
        names = used.names()
        text = names.keywords.get(keyword)
        if text is None and position < len(names.operands):
            text = names.operands[position]
        if text is not None and re.fullmatch(r"[\w.]+(\[[\w'\"]+\])?", text.text):
            return str(text.text)
    return (name_in_frame(value) if isinstance(value, Tensor) else "") or keyword


def births(*things: tuple[Any, str]) -> list[dict[str, Any]]:
    """Labels for where things were born."""
    labels = []
    for thing, name in things:
        loc = born_loc(thing) if isinstance(thing, (Tensor, Variable)) else None
        if loc is not None:
            sizes = thing.shape.as_list() if thing.shape.rank is not None else ["?..."]
            known = ",".join("?" if size is None else str(size) for size in sizes)
            made = f" from {thing._op}" if isinstance(thing, Tensor) and thing._op else ""
            kind = "" if isinstance(thing, Tensor) else "Variable "
            text = f"born here: {kind}`{name}`, {thing.dtype.name}[{known}]{made}"
            labels.append({"role": "born", "loc": loc, "text": text, "primary": False})
    return labels
