"""Who holds what under which name: the object graph of a checkpoint."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from .. import _holdfast
from .._variables.module import Module
from .._variables.variable import Variable

__all__ = ["VALUE", "Node", "children_of", "graph_of"]

VALUE = "VARIABLE_VALUE"


def is_trackable(value: Any) -> bool:
    """Whether a checkpoint looks into it."""
    if isinstance(value, (Variable, Module)) or hasattr(value, "_checkpoint_children"):
        return True
    if isinstance(value, Mapping):
        return all(isinstance(key, str) for key in value) and any(map(is_trackable, value.values()))
    return isinstance(value, (list, tuple)) and any(map(is_trackable, value))


def children_of(holder: Any) -> dict[str, Any]:
    """What an object holds, by the names under which checkpoints know it."""
    if isinstance(holder, Variable):
        return {}
    if hasattr(holder, "_checkpoint_children"):
        found = holder._checkpoint_children()
    elif isinstance(holder, Mapping):
        found = dict(holder)
    elif isinstance(holder, (list, tuple)):
        found = {str(i): value for i, value in enumerate(holder)}
    else:
        found = dict(holder.__dict__)
    return {name: value for name, value in found.items() if is_trackable(value)}


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


class Node:
    """An object of a checkpoint: its number, its path, who it holds."""

    def __init__(self, number: int, holder: Any, path: str) -> None:
        self.number, self.holder, self.path = number, holder, path
        self.children: list[tuple[int, str]] = []

    @property
    def key(self) -> str:
        """Under which a variable's value is stored."""
        return f"{self.path}/.ATTRIBUTES/{VALUE}" if self.path else f".ATTRIBUTES/{VALUE}"


def graph_of(root: Any) -> list[Node]:
    """All objects that a root holds, those near to it first."""
    nodes = [Node(0, root, "")]
    known = {id(root): 0}
    left = deque(nodes)
    while left:
        node = left.popleft()
        for name, value in children_of(node.holder).items():
            if id(value) not in known:
                known[id(value)] = len(nodes)
                path = f"{node.path}/{_escaped(name)}" if node.path else _escaped(name)
                nodes.append(Node(len(nodes), value, path))
                left.append(nodes[-1])
            node.children.append((known[id(value)], name))
    return nodes


def has_weights_later(holder: Any) -> bool:
    """Whether it makes its variables when it is first called."""
    return isinstance(holder, _holdfast.LayerBase) and not holder.built
