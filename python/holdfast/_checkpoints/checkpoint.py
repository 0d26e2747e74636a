"""`tf.train.Checkpoint`: writes the variables of objects, and gives them back by who holds whom."""

from __future__ import annotations

import os
from typing import Any

from .. import _holdfast
from .._graphs.init_scope import init_scope
from .._tensors.dtypes import int64
from .._tensors.tensor import convert_to_tensor
from .._variables.variable import Variable
from ..errors import fail, unsupported
from . import files
from .restore import GRAPH, NamedRestore, Restore, opened, settle
from .trackable import Node, children_of, graph_of, is_container, is_trackable

__all__ = ["Checkpoint"]


class Checkpoint:
    """Objects that are saved together: `Checkpoint(model=model, step=step)`."""

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._save_counter: Variable | None = None
        self._root = root
        for name, value in {**({} if root is None else {"root": root}), **kwargs}.items():
            if not is_trackable(value) and not is_container(value):
                fail(
                    "E1104",
                    f"`{name}` of a Checkpoint is of type {type(value).__name__}",
                    "expected variables, modules, layers, optimizers, iterators, or lists and"
                    " dicts of them",
                )
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not name.startswith("_"):
            settle(self)

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
            settle(self)
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
            values = node.values()
            tensors += [(key, tensor) for _, _, key, tensor in values]
            attributes = [(attribute, name, key) for attribute, name, key, _ in values]
            described.append((node.children, attributes, [], None, True))
        graph = _holdfast.object_graph_encode(described)
        _holdfast.bundle_write(prefix, [*tensors, (GRAPH, convert_to_tensor(graph))])
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
        restore = opened(files.path_of(save_path, "save_path"))
        restore.give(self)
        if self._root is not None:
            restore.give(self._root)  # which waits for itself
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


class Status:
    """What a restore came to, for those who want to be sure."""

    def __init__(self, root: Checkpoint, restore: Restore | NamedRestore | None) -> None:
        self._root, self._restore = root, restore

    def assert_consumed(self) -> Status:
        """Refuses what is in the checkpoint and not here, and the other way round."""
        if self._restore is None:
            fail("E1106", "no checkpoint was given, so nothing was restored", "`save_path` is None")
        self.assert_existing_objects_matched()
        left = self._restore.left_over()
        if left is not None:
            fail(
                "E1106",
                f"`{left}` of the checkpoint went to nothing here",
                f"the checkpoint is `{self._restore.prefix}`",
                fix="call `expect_partial` if that is meant",
            )
        return self

    def assert_existing_objects_matched(self) -> Status:
        """Refuses variables that the checkpoint has no value for."""
        if self._restore is None:
            fail("E1106", "no checkpoint was given, so nothing was restored", "`save_path` is None")
        known = {id(holder) for holder in self._restore.matched()}
        for node in self._objects():
            if isinstance(node.holder, Variable) and id(node.holder) not in known:
                if node.holder is self._root._save_counter:
                    continue
                fail(
                    "E1106",
                    f"the checkpoint has no value for `{node.path}`",
                    f"the checkpoint is `{self._restore.prefix}`",
                )
        return self

    def _objects(self) -> list[Node]:
        return graph_of(self._root)

    def assert_nontrivial_match(self) -> Status:
        """Refuses a checkpoint of which nothing was used."""
        if self._restore is None or not any(
            isinstance(holder, Variable) for holder in self._restore.matched()
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
