"""`tf.train.Checkpoint`: writes the variables of objects, and gives them back by who holds whom."""

from __future__ import annotations

import os
import weakref
from typing import Any

from .. import _holdfast
from .._graphs.init_scope import init_scope
from .._tensors.dtypes import int64
from .._tensors.tensor import convert_to_tensor
from .._variables.module import Module, set_kept_listener
from .._variables.variable import Variable
from ..errors import fail, unsupported
from . import files
from .trackable import VALUE, children_of, graph_of, has_weights_later, is_trackable

__all__ = ["Checkpoint"]

_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


class Checkpoint:
    """Objects that are saved together: `Checkpoint(model=model, step=step)`."""

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._save_counter: Variable | None = None
        self._root = root
        for name, value in {**({} if root is None else {"root": root}), **kwargs}.items():
            if not is_trackable(value) and not isinstance(value, (Module, list, tuple, dict)):
                fail(
                    "E1104",
                    f"`{name}` of a Checkpoint is of type {type(value).__name__}",
                    "expected variables, modules, layers, or lists and dicts of them",
                )
        for name, value in kwargs.items():
            setattr(self, name, value)

    def _checkpoint_children(self) -> dict[str, Any]:
        held = {k: v for k, v in self.__dict__.items() if k not in ("_root", "_save_counter")}
        if self._save_counter is not None:
            held["save_counter"] = self._save_counter
        return {**(children_of(self._root) if self._root is not None else {}), **held}

    @property
    def save_counter(self) -> Variable:
        """How many times `save` was called."""
        if self._save_counter is None:
            with init_scope():
                self._save_counter = Variable(0, dtype=int64, trainable=False, name="save_counter")
            _settle(self)
        return self._save_counter

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Writes a checkpoint under just this prefix."""
        _no_options(options)
        prefix = files.path_of(file_prefix, "file_prefix")
        folder = os.path.dirname(prefix)
        if folder:
            os.makedirs(folder, exist_ok=True)
        nodes = graph_of(self)
        tensors: list[tuple[str, Any]] = []
        described: list[tuple[Any, ...]] = []
        for node in nodes:
            attributes = []
            if isinstance(node.holder, Variable):
                name = node.holder.name.removesuffix(":0")
                attributes = [(VALUE, name, node.key)]
                tensors.append((node.key, convert_to_tensor(node.holder)))
            described.append((node.children, attributes, [], None, True))
        graph = _holdfast.object_graph_encode(described)
        _holdfast.bundle_write(prefix, [*tensors, (_GRAPH, convert_to_tensor(graph))])
        return prefix

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Writes the next one, `prefix-1`, `prefix-2` ..., and says that it is the latest."""
        prefix = files.path_of(file_prefix, "file_prefix")
        self.save_counter.assign_add(1)
        path = self.write(f"{prefix}-{int(self.save_counter.numpy())}", options)
        files.write_state(os.path.dirname(path) or ".", path, [path], [])
        return path

    def read(self, save_path: Any, options: Any = None) -> Status:
        """Gives the objects the values of a checkpoint that `write` made."""
        _no_options(options)
        if save_path is None:
            return Status(self, None)
        restore = Restore(files.path_of(save_path, "save_path"))
        restore.match(self)
        return Status(self, restore)

    def restore(self, save_path: Any, options: Any = None) -> Status:
        """Gives the objects the values of a checkpoint that `save` made; of None nothing happens.

        What has no variables yet is given its values when it makes them.
        """
        status = self.read(save_path, options)
        if save_path is not None:
            _ = self.save_counter  # made, and given its value, if it was not there
        return status


def _no_options(options: Any) -> None:
    if options is not None:
        unsupported("`options` of a Checkpoint are not supported", "files are written one way")


class Restore:
    """A checkpoint whose values are given out, now and to what is made later."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        keys = {key for key, _, _ in _holdfast.bundle_entries(prefix)}
        if _GRAPH not in keys:
            unsupported(
                f"the checkpoint `{prefix}` has no object graph",
                "it was written by name, as TensorFlow 1 did",
                fix="read its tensors with `tf.train.load_checkpoint`",
            )
        (graph,) = _holdfast.bundle_read(prefix, [_GRAPH])
        self.nodes = _holdfast.object_graph_decode(graph.numpy())
        self.matched: dict[int, Any] = {}
        self.holders: set[int] = set()

    def match(self, root: Any, number: int = 0) -> None:
        """Gives the objects below a root the values of the nodes that they stand for."""
        wanted: dict[str, tuple[Variable, str]] = {}
        found: dict[int, Any] = {}
        left = [(root, number)]
        while left:
            holder, node = left.pop()
            if node in self.matched or node in found:
                continue
            found[node] = holder
            children, attributes, slots, _, _ = self.nodes[node]
            if slots:
                unsupported(
                    "slots of an optimizer are not restored from a checkpoint",
                    f"the checkpoint is `{self.prefix}`",
                )
            if isinstance(holder, Variable):
                for name, _, key in attributes:
                    if name == VALUE:
                        wanted[key] = holder, name
                continue
            there = children_of(holder)
            if has_weights_later(holder) and children:
                unsupported(
                    f"layer `{holder.name}` is not built, and the checkpoint has weights for it",
                    "weights are given back to layers that have them",
                    fix="call the model once, or its `build`, before `restore`",
                )
            left += [(there[name], child) for child, name in children if name in there]
        keys = sorted(wanted)
        values = _holdfast.bundle_read(self.prefix, keys)
        for key, value in zip(keys, values, strict=True):
            variable = wanted[key][0]
            if not variable.shape.is_compatible_with(value.shape):
                fail(
                    "E1102",
                    f"`{key}` has shape {value.shape} in the file, and {variable.shape} here",
                    f"the checkpoint is `{self.prefix}`",
                )
            if variable.dtype != value.dtype:
                fail(
                    "E1101",
                    f"`{key}` is {value.dtype.name} in the file, and {variable.dtype.name} here",
                    f"the checkpoint is `{self.prefix}`",
                )
        for key, value in zip(keys, values, strict=True):
            wanted[key][0].assign(value)
        self.matched |= found
        for node, holder in found.items():
            self._wait(holder, node)

    def _wait(self, holder: Any, node: int) -> None:
        """What an object does not hold yet gets its values when it does."""
        there = children_of(holder) if not isinstance(holder, Variable) else {}
        missing = [(child, name) for child, name in self.nodes[node][0] if name not in there]
        if missing and isinstance(holder, (Module, Checkpoint)):
            _waiting_for(holder).append((self, {name: child for child, name in missing}))


_Waiting = list[tuple[Restore, dict[str, int]]]

# By identity: a module of the user's may be equal to others, or have no hash.
_waiting: dict[int, tuple[weakref.ref[Any], _Waiting]] = {}


def _waiting_for(holder: Any) -> _Waiting:
    """What waits for an object, to add to."""
    key = id(holder)
    if key not in _waiting:
        _waiting[key] = weakref.ref(holder, lambda _: _waiting.pop(key, None)), []
    return _waiting[key][1]


def _settle(holder: Any) -> None:
    """Gives what an object holds by now the values that wait for it."""
    _, waiting = _waiting.get(id(holder), (None, []))
    if not waiting:
        return
    there = children_of(holder)
    for restore, missing in list(waiting):
        for name in [name for name in missing if name in there]:
            restore.match(there[name], missing.pop(name))
    waiting[:] = [(restore, missing) for restore, missing in waiting if missing]


def _kept(holder: Any, name: str, value: Any) -> None:
    if id(holder) in _waiting and is_trackable(value):
        _settle(holder)


set_kept_listener(_kept)


class Status:
    """What a restore came to, for those who want to be sure."""

    def __init__(self, root: Checkpoint, restore: Restore | None) -> None:
        self._root, self._restore = root, restore

    def _objects(self) -> list[Any]:
        return graph_of(self._root)

    def assert_consumed(self) -> Status:
        """Refuses what is in the checkpoint and not here, and the other way round."""
        self.assert_existing_objects_matched()
        if self._restore is not None:
            for number, node in enumerate(self._restore.nodes):
                if number not in self._restore.matched:
                    name = next(iter(key for _, _, key in node[1]), f"object {number}")
                    fail(
                        "E1106",
                        f"`{name}` of the checkpoint went to nothing here",
                        f"the checkpoint is `{self._restore.prefix}`",
                    )
        return self

    def assert_existing_objects_matched(self) -> Status:
        """Refuses variables that the checkpoint has no value for."""
        restored = {} if self._restore is None else self._restore.matched
        known = {id(holder) for holder in restored.values()}
        for node in self._objects():
            if isinstance(node.holder, Variable) and id(node.holder) not in known:
                if node.holder is self._root._save_counter:
                    continue
                fail("E1106", f"the checkpoint has no value for `{node.path}`")
        return self

    def assert_nontrivial_match(self) -> Status:
        """Refuses a checkpoint of which nothing was used."""
        if self._restore is None or not any(
            isinstance(holder, Variable) for holder in self._restore.matched.values()
        ):
            fail("E1106", "nothing of the checkpoint went to an object here")
        return self

    def expect_partial(self) -> Status:
        """Says that it is meant if something does not match; nobody warns of it anyway."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Values are given back already."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """Values are given back already."""
