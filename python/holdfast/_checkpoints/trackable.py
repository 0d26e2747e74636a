"""Who holds what under which name: the object graph of a checkpoint."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from .. import _holdfast
from .._tensors.tensor import convert_to_tensor
from .._variables.module import Module
from .._variables.variable import Variable

__all__ = ["POSITION", "VALUE", "Node", "child_of", "children_of", "graph_of", "is_container"]

VALUE = "VARIABLE_VALUE"
POSITION = "ITERATOR_POSITION"


def is_container(value: Any) -> bool:
    """Whether it is a list or a dict, which has no name of its own."""
    return isinstance(value, (list, tuple, Mapping))


def is_trackable(value: Any) -> bool:
    """Whether a checkpoint looks into it."""
    if isinstance(value, (Variable, _holdfast.ModuleBase)):
        return True
    if hasattr(value, "_checkpoint_children") or hasattr(value, "_checkpoint_position"):
        return not isinstance(value, type)
    if isinstance(value, Mapping):
        return all(isinstance(key, str) for key in value) and any(map(is_trackable, value.values()))
    return isinstance(value, (list, tuple)) and any(map(is_trackable, value))


def _held(holder: Any) -> dict[str, Any]:
    if isinstance(holder, Variable):
        return {}
    if hasattr(holder, "_checkpoint_children"):
        return dict(holder._checkpoint_children())
    if isinstance(holder, Mapping):
        return dict(holder)
    if isinstance(holder, (list, tuple)):
        return {str(i): value for i, value in enumerate(holder)}
    if isinstance(holder, Module):
        return dict(holder.__dict__)
    if isinstance(holder, _holdfast.ModuleBase):
        return {**names_of(holder.variables), **getattr(holder, "__dict__", {})}
    return {}


def names_of(variables: Any) -> dict[str, Any]:
    """Variables by the last part of their names; Keras has some under private names."""
    out: dict[str, Any] = {}
    for variable in variables:
        plain, number = variable.name.rpartition("/")[2].removesuffix(":0"), 0
        while (f"{plain}_{number}" if number else plain) in out:
            number += 1
        name = f"{plain}_{number}" if number else plain
        out[name] = out[f"_{name}"] = variable
    return out


def children_of(holder: Any) -> dict[str, Any]:
    """What an object holds, by the names under which checkpoints know it."""
    return {name: value for name, value in _held(holder).items() if is_trackable(value)}


def places_of(holder: Any) -> dict[str, Any]:
    """The same, with lists and dicts in which nothing lies yet."""
    return {
        name: value
        for name, value in _held(holder).items()
        if is_trackable(value) or (isinstance(value, (list, dict)) and not value)
    }


def child_of(holder: Any, name: str, places: dict[str, Any]) -> Any:
    """What stands here for a name of a checkpoint; None where nothing does."""
    if name in places:
        return places[name]
    # Other versions had other names for what an object holds.
    known_as = getattr(holder, "_checkpoint_child", None)
    return known_as(name) if known_as is not None else None


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


class Node:
    """An object of a checkpoint: its number, its path, who it holds."""

    def __init__(self, number: int, holder: Any, path: str) -> None:
        self.number, self.holder, self.path = number, holder, path
        self.children: list[tuple[int, str]] = []

    def key(self, attribute: str = VALUE) -> str:
        """Under which a value of it is stored."""
        return f"{self.path}/.ATTRIBUTES/{attribute}" if self.path else f".ATTRIBUTES/{attribute}"

    def values(self) -> list[tuple[str, str, str, Any]]:
        """Its own values: attribute, the variable's name, key, tensor."""
        if isinstance(self.holder, Variable):
            name = self.holder.name.removesuffix(":0")
            return [(VALUE, name, self.key(), convert_to_tensor(self.holder))]
        if hasattr(self.holder, "_checkpoint_position"):
            position = convert_to_tensor(self.holder._checkpoint_position())
            return [(POSITION, "", self.key(POSITION), position)]
        return []


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
