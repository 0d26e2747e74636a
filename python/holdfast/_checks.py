"""Checks as ops: what the program calls what it checks is found here, the rest is said by the library."""

from __future__ import annotations

from typing import Any

from . import _registry
from ._births import born_label
from ._diagnostics import argument_name
from ._graph_control import newest
from ._staging import is_staged

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
    """What the user typed for an argument of the executing check; else what the check calls it."""
    return argument_name(value, position, keyword) or keyword


def births(*things: tuple[Any, str]) -> list[dict[str, Any]]:
    """The labels for where things were made."""
    return [label for thing, name in things for label in born_label(thing, name)]
