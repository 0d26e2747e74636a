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
from .trackable import POSITION, VALUE, child_of, graph_of, is_container, is_trackable, places_of

__all__ = ["GRAPH", "NamedRestore", "Restore", "opened", "settle"]

GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"

# Lists that only say which variables an optimizer trains come last: who holds a variable itself
# says better which one it is.
_LAST = "_trainable_variables"


class Restore:
    """One checkpoint; it lives as long as somebody waits for a value of it."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
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

    def left_over(self) -> str | None:
        """A value that went to nothing here."""
        for number, (_, attributes, _, _, _) in enumerate(self.nodes):
            if attributes and not self.is_matched(number):
                return str(attributes[0][2])
        return None

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
        prefix = self._restore.prefix
        values = _values_for(prefix, sorted(self._variables.items(), key=lambda pair: pair[0]))
        places = sorted(self._positions)
        for key, position in zip(places, _holdfast.bundle_read(prefix, places), strict=True):
            self._positions[key]._checkpoint_go_to(position.numpy())
        for variable, value in values:
            variable.assign(value)


def _values_for(prefix: str, wanted: list[tuple[str, Variable]]) -> list[tuple[Variable, Any]]:
    """The values of some keys, refused where a variable is of another shape or dtype."""
    values = _holdfast.bundle_read(prefix, [key for key, _ in wanted])
    for (key, variable), value in zip(wanted, values, strict=True):
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
    return [(variable, value) for (_, variable), value in zip(wanted, values, strict=True)]


class NamedRestore:
    """One that was written by names, as TensorFlow 1 did: variables are found by theirs."""

    def __init__(self, prefix: str, keys: set[str]) -> None:
        self.prefix = prefix
        self._keys = keys
        self._matched: dict[int, weakref.ref[Any]] = {}

    def matched(self) -> list[Any]:
        """The variables that were given values."""
        found = (ref() for ref in self._matched.values())
        return [variable for variable in found if variable is not None]

    def left_over(self) -> None:
        """Nothing is: such files hold whatever a graph had, of which objects take their part."""

    def give(self, root: Any, number: int = 0) -> None:
        """Gives the variables below a root the values that stand under their names."""
        wanted = []
        for node in graph_of(root):
            if isinstance(node.holder, Variable):
                name, given = (
                    node.holder.name.removesuffix(":0"),
                    self._matched.get(id(node.holder)),
                )
                if name in self._keys and (given is None or given() is not node.holder):
                    wanted.append((name, node.holder))
            elif not is_container(node.holder):
                _wait(node.holder, self, 0)
        with init_scope():
            for variable, value in _values_for(self.prefix, wanted):
                variable.assign(value)
                self._matched[id(variable)] = weakref.ref(variable)


def opened(prefix: str) -> Restore | NamedRestore:
    """A checkpoint to give values of."""
    keys = {key for key, _, _ in _holdfast.bundle_entries(prefix)}
    return Restore(prefix) if GRAPH in keys else NamedRestore(prefix, keys)


# What waits, by the identity of who waits: an object of the user's may be equal to others, or have
# no hash.
_waiting: dict[int, tuple[weakref.ref[Any], list[tuple[Restore | NamedRestore, int]]]] = {}


def _wait(holder: Any, restore: Restore | NamedRestore, node: int) -> None:
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
