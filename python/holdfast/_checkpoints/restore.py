"""A checkpoint whose values are given out: to what is there, and to what is made later."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from .. import _holdfast
from .._graphs.init_scope import init_scope
from .._variables.module import set_kept_listener
from .._variables.variable import Variable
from ..errors import fail, unsupported
from .containers import waiting_container
from .trackable import POSITION, VALUE, child_of, is_container, is_trackable, places_of

__all__ = ["GRAPH", "Restore", "settle"]

GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"

# Lists that only say which variables an optimizer trains come last: who holds a variable itself
# says better which one it is.
_LAST = "_trainable_variables"


class Restore:
    """One checkpoint; it lives as long as somebody waits for a value of it."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        keys = {key for key, _, _ in _holdfast.bundle_entries(prefix)}
        if GRAPH not in keys:
            unsupported(
                f"the checkpoint `{prefix}` has no object graph",
                "it was written by name, as TensorFlow 1 did",
                fix="read its tensors with `tf.train.load_checkpoint`",
            )
        (graph,) = _holdfast.bundle_read(prefix, [GRAPH])
        self.nodes = _holdfast.object_graph_decode(graph.numpy())
        # Which object stands for a node. Weakly: this may wait for objects that it would keep.
        self._matched: dict[int, weakref.ref[Any] | None] = {}

    def is_matched(self, node: int) -> bool:
        """Whether an object here stands for a node."""
        return node in self._matched

    def matched(self) -> list[Any]:
        """The objects that stand for nodes; lists and dicts are left out."""
        found = [ref() for ref in self._matched.values() if ref is not None]
        return [holder for holder in found if holder is not None]

    def give(self, root: Any, number: int = 0) -> None:
        """Gives the objects below a root the values of the nodes that they stand for."""
        walk = _Walk(self, root, number)
        with init_scope():
            walk.give()
        for node, holder in walk.found.items():
            self._matched[node] = None if is_container(holder) else weakref.ref(holder)
        for holder, node in walk.unfinished:
            _wait(holder, self, node)


class _Walk:
    """Finds who stands for which node, then gives the values: all of them, or none."""

    def __init__(self, restore: Restore, root: Any, number: int) -> None:
        self._restore = restore
        self.found: dict[int, Any] = {}
        self.unfinished: list[tuple[Any, int]] = []
        self._variables: dict[str, Variable] = {}
        self._positions: dict[str, Any] = {}
        self._slots: list[tuple[Any, int]] = []
        left, last = deque([(root, number, root)]), deque[Any]()
        while left or last:
            holder, node, owner = left.popleft() if left else last.popleft()
            self._meet(holder, node, owner, node == number and holder is root, left, last)
        for holder, node in self._slots:
            self._give_slots(holder, node)

    def _known(self, node: int) -> Any:
        if node in self.found:
            return self.found[node]
        ref = self._restore._matched.get(node)
        return None if ref is None else ref()

    def _meet(self, holder: Any, node: int, owner: Any, again: bool, left: Any, last: Any) -> None:
        if is_container(holder):
            if self.found.get(node) is holder:
                return
        elif not again and self._known(node) is not None:
            return
        self.found[node] = holder
        children, attributes, slots, _, _ = self._restore.nodes[node]
        self._note_values(holder, attributes)
        if slots:
            self._slots.append((holder, node))
        if isinstance(holder, Variable):
            return
        places = places_of(holder)
        missing = False
        for child, name in children:
            value = child_of(holder, name, places)
            if value is None:
                missing = missing or not self._restore.is_matched(child)
                continue
            if isinstance(value, (list, dict)) and not self._complete(value, child):
                value = waiting_container(holder, name, value, settle)
            above = owner if is_container(holder) else holder
            (last if name == _LAST else left).append((value, child, above))
        if missing:
            # Of a list somebody hears through the object that it lies in.
            waits = (owner, self._node_of(owner)) if is_container(holder) else (holder, node)
            if waits[1] is not None and waits not in self.unfinished:
                self.unfinished.append(waits)

    def _complete(self, value: Any, node: int) -> bool:
        places = places_of(value)
        return all(name in places for _, name in self._restore.nodes[node][0])

    def _node_of(self, holder: Any) -> Any:
        for node, found in self.found.items():
            if found is holder:
                return node
        return None

    def _note_values(self, holder: Any, attributes: Any) -> None:
        for name, _, key in attributes:
            if name == VALUE and isinstance(holder, Variable):
                self._variables[key] = holder
            elif name == POSITION and hasattr(holder, "_checkpoint_position"):
                self._positions[key] = holder
            elif name == "ITERATOR" and hasattr(holder, "_checkpoint_position"):
                unsupported(
                    "the position of an iterator that TensorFlow saved can't be read",
                    f"it is `{key}` of the checkpoint `{self._restore.prefix}`",
                    fix="leave the iterator out of the Checkpoint, and begin the dataset anew",
                )

    def _give_slots(self, holder: Any, node: int) -> None:
        """What optimizers before Keras 3 kept stands beside the variables that it belongs to."""
        slot_of = getattr(holder, "_checkpoint_slot", None)
        for variable, name, slot in self._restore.nodes[node][2]:
            mine = self._known(variable)
            kept = slot_of(mine, name) if slot_of is not None and mine is not None else None
            if kept is not None:
                self.found[slot] = kept
                self._note_values(kept, self._restore.nodes[slot][1])
            elif (holder, node) not in self.unfinished:
                self.unfinished.append((holder, node))

    def give(self) -> None:
        """Reads the values, compares them with what is here, and gives them."""
        keys = sorted(self._variables)
        prefix = self._restore.prefix
        values = _holdfast.bundle_read(prefix, keys)
        for key, value in zip(keys, values, strict=True):
            variable = self._variables[key]
            if not variable.shape.is_compatible_with(value.shape):
                fail(
                    "E1102",
                    f"`{key}` has shape {value.shape} in the file, and {variable.shape} here",
                    f"the checkpoint is `{prefix}`",
                )
            if variable.dtype != value.dtype:
                fail(
                    "E1101",
                    f"`{key}` is {value.dtype.name} in the file, and {variable.dtype.name} here",
                    f"the checkpoint is `{prefix}`",
                )
        places = sorted(self._positions)
        for key, position in zip(places, _holdfast.bundle_read(prefix, places), strict=True):
            self._positions[key]._checkpoint_go_to(position.numpy())
        for key, value in zip(keys, values, strict=True):
            self._variables[key].assign(value)


# What waits, by the identity of who waits: an object of the user's may be equal to others, or have
# no hash.
_waiting: dict[int, tuple[weakref.ref[Any], list[tuple[Restore, int]]]] = {}


def _wait(holder: Any, restore: Restore, node: int) -> None:
    """What an object does not hold yet gets its values when it does."""
    key = id(holder)
    if key not in _waiting:
        _waiting[key] = weakref.ref(holder, lambda _: _waiting.pop(key, None)), []
    others = _waiting[key][1]
    others[:] = [one for one in others if one[0] is not restore or one[1] != node]
    others.append((restore, node))


def settle(holder: Any) -> None:
    """Gives what an object holds by now the values that wait for it."""
    _, waiting = _waiting.pop(id(holder), (None, []))
    for i, (restore, node) in enumerate(waiting):
        try:
            restore.give(holder, node)
        except BaseException:
            for each in waiting[i:]:
                _wait(holder, *each)
            raise


def _kept(holder: Any, name: str, value: Any) -> None:
    if id(holder) in _waiting and (is_trackable(value) or isinstance(value, (list, dict))):
        settle(holder)


def _made(holder: Any) -> None:
    if id(holder) in _waiting:
        settle(holder)


set_kept_listener(_kept)
_holdfast.set_made_listener(_made)
