"""`tf.compat.v1.train.Saver`: variables by their names, in TensorFlow's checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from .. import _holdfast
from .._checkpoints import files
from .._checkpoints.kept import Kept, delete
from .._graphs.eager import executing_eagerly
from .._graphs.graph import GraphKeys, get_default_graph
from .._variables.graph_variable import GraphVariable
from .._variables.variable import Variable
from ..errors import NotFoundError, fail, unsupported
from .partition import PartitionedVariable

__all__ = ["Saver", "checkpoint_exists", "new_checkpoint_reader", "remove_checkpoint"]


def _name_of(variable: Any) -> str:
    return str(variable.name).removesuffix(":0")


def _some(names: Iterable[str], most: int = 5) -> str:
    listed = sorted(names)
    more = ["..."] if len(listed) > most else []
    return ", ".join([f"`{name}`" for name in listed[:most]] + more) or "nothing"


def _parts(given: Any) -> list[Any]:
    """The variables that are saved under one name: one, or the parts of a whole."""
    listed = list(given) if isinstance(given, (list, tuple, PartitionedVariable)) else [given]
    for part in listed:
        if not isinstance(part, Variable):
            fail(
                "E1104",
                f"a Saver was given a {type(part).__name__}, expected variables",
                fix="give it the variables themselves, in a list or by name in a dict",
            )
    return listed


def _by_name(variables: Any) -> dict[str, list[Any]]:
    """The variables to save under each name."""
    if isinstance(variables, dict):
        return {name: _parts(given) for name, given in variables.items()}
    if not isinstance(variables, Iterable):
        fail(
            "E1104",
            f"`var_list` of a Saver is of type {type(variables).__name__}, expected a list or dict",
            fix="write `[variable]`, or `{name: variable}`",
        )
    found: dict[str, list[Any]] = {}
    for given in variables:
        for variable in _parts(given):
            part = variable._get_save_slice_info()
            held = found.setdefault(_name_of(variable) if part is None else part.full_name, [])
            if any(variable is known for known in held):
                continue
            if held and part is None:
                raise ValueError(
                    f"a Saver was given two variables that are called `{_name_of(variable)}`: give "
                    "it a dict, with a name of its own for each"
                )
            held.append(variable)
    return found


class _Entry:
    """A tensor of a checkpoint, and the variables that hold it."""

    def __init__(self, name: str, variables: list[Any]) -> None:
        self.name, self.variables = name, variables
        self._slices = [variable._get_save_slice_info() for variable in variables]
        if len(variables) > 1 and None in self._slices:
            raise ValueError(
                f"a Saver was given several variables as `{name}`, which are no parts of one: give "
                "each a name of its own"
            )

    @property
    def _full_shape(self) -> tuple[int, ...]:
        return tuple(int(size) for size in self._slices[0].full_shape)

    def whole(self, values: list[Any]) -> Any:
        """The tensor, from the values of the variables."""
        dtype = self.variables[0].dtype
        if self._slices[0] is None:
            return _holdfast.convert_value(values[0], dtype, False)
        self._need_all_parts()
        whole = np.zeros(self._full_shape, np.asarray(values[0]).dtype)
        for part, value in zip(self._slices, values, strict=True):
            whole[self._window(part)] = value
        return _holdfast.convert_value(whole, dtype, False)

    def _need_all_parts(self) -> None:
        held = np.zeros(self._full_shape, bool)
        for part in self._slices:
            window = self._window(part)
            if tuple(part.full_shape) != self._full_shape or held[window].any():
                raise ValueError(
                    f"a Saver was given several variables as the same part of `{self.name}`: give "
                    "it a dict, with a name of its own for each"
                )
            held[window] = True
        if not held.all():
            unsupported(
                f"Saver: parts of `{self.name}` are missing, of which the whole is "
                f"{self._full_shape}",
                "a checkpoint holds whole tensors here, and what the other parts hold is not known",
                fix="give the Saver all parts, or the variable that they are parts of",
            )

    def split(self, tensor: Any, reshape: bool) -> list[Any]:
        """The value of each variable."""
        first = self.variables[0]
        if tensor.dtype != first.dtype:
            fail(
                "E1101",
                f"Saver: `{self.name}` is {tensor.dtype.name} in the checkpoint, expected "
                f"{first.dtype.name}",
                fix=f"make the variable of dtype {tensor.dtype.name}, or leave it out of "
                "`var_list`",
            )
        array = tensor.numpy()
        if self._slices[0] is not None:
            if tuple(array.shape) != self._full_shape:
                self._misfit(array.shape, self._full_shape, reshape)
            return [array[self._window(part)] for part in self._slices]
        if reshape and first.shape.is_fully_defined():
            if array.size != first.shape.num_elements():
                self._misfit(array.shape, first.shape, reshape)
            array = array.reshape(first.shape.as_list())
        if not first.shape.is_compatible_with(array.shape):
            self._misfit(array.shape, first.shape, reshape)
        return [array]

    def _misfit(self, found: Any, expected: Any, reshape: bool) -> NoReturn:
        said = str(expected)
        if reshape and self._slices[0] is None:
            said = f"{expected.num_elements()} elements"
        fail(
            "E1102",
            f"Saver: `{self.name}` is of shape {tuple(found)} in the checkpoint, expected {said}",
            fix=f"make the variable of shape {tuple(found)}, or leave it out of `var_list`",
        )

    @staticmethod
    def _window(part: Any) -> tuple[slice, ...]:
        pairs = zip(part.var_offset, part.var_shape, strict=True)
        return tuple(slice(at, at + size) for at, size in pairs)


class Saver:
    """Saves variables to checkpoints under numbered names, and gives them their values back.

    Beside a checkpoint there is no `.meta` file: the program makes its graph. All values lie in one
    file, `sharded` or not, and the file `checkpoint` names checkpoints by paths relative to itself,
    with `save_relative_paths` or without. `name` and `restore_sequentially` are about nodes of a
    graph, of which a Saver has none.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = 2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        for given, what in ((saver_def, "saver_def"), (builder, "builder"), (filename, "filename")):
            if given is not None:
                unsupported(
                    f"`{what}` of a Saver is not supported",
                    "a Saver is no part of a graph",
                    fix=f"leave `{what}` out; `save` and `restore` take the path",
                )
        if write_version != 2:
            unsupported(
                f"`write_version` {write_version} of a Saver is not supported",
                "checkpoints are of version 2",
                fix="leave `write_version` out",
            )
        if defer_build and var_list is not None:
            raise ValueError(
                "a Saver with `defer_build` finds its variables when it is built: leave `var_list` "
                "or `defer_build` out"
            )
        self._given, self._reshape, self._allow_empty = var_list, reshape, allow_empty
        self._pad = pad_step_number
        self._kept = Kept(max_to_keep or None, keep_checkpoint_every_n_hours)
        self._entries: list[_Entry] | None = None
        if not defer_build:
            self.build()

    def build(self) -> None:
        """Finds the variables, where `defer_build` left that for later."""
        given = self._given
        if given is None:
            if executing_eagerly():
                raise RuntimeError(
                    "a Saver needs `var_list` in eager code, where no graph knows the variables: "
                    "write `Saver([variable])`"
                )
            graph = get_default_graph()
            given = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
            given += graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)
        found = _by_name(given)
        if not found and not self._allow_empty:
            raise ValueError(
                "a Saver found no variables to save: make it after them, or say `allow_empty=True`"
            )
        self._entries = [_Entry(name, parts) for name, parts in sorted(found.items())]

    def _need_entries(self) -> list[_Entry]:
        if self._entries is None:
            raise RuntimeError("this Saver was made with `defer_build`: call `build()` first")
        return self._entries

    def save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Writes the variables' values in the session; gives the prefix of the files."""
        entries = self._need_entries()
        if not entries:
            return None
        path = files.path_of(save_path, "save_path")
        if not os.path.basename(path):
            raise ValueError(
                f"`save_path` of `Saver.save` is {path!r}, a folder: add the beginning of a file's "
                f"name, as in {path + 'model'!r}"
            )
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise ValueError(
                f"the folder of `save_path` of `Saver.save`, {folder!r}, is not there: make it "
                "first, by `tf.io.gfile.makedirs`"
            )
        if global_step is not None:
            path = f"{path}-{self._step(sess, global_step)}"
        values = self._values(sess, [v for entry in entries for v in entry.variables])
        tensors = []
        for entry in entries:
            own, values = values[: len(entry.variables)], values[len(entry.variables) :]
            tensors.append((entry.name, entry.whole(own)))
        _holdfast.bundle_write(path, tensors)
        self._kept.add(path, folder, latest_filename or "checkpoint", write_state)
        return path

    def _step(self, sess: Any, global_step: Any) -> str:
        number = global_step
        if not isinstance(global_step, (int, np.integer)):
            number = sess.run(global_step) if sess is not None else global_step.numpy()
        return f"{int(number):08d}" if self._pad else str(int(number))

    @staticmethod
    def _values(sess: Any, variables: list[Any]) -> list[Any]:
        if not any(isinstance(variable, GraphVariable) for variable in variables):
            return [variable.numpy() for variable in variables]
        if sess is None:
            fail(
                "E1104",
                "`sess` of `Saver.save` is None, expected a session",
                "variables of a graph have values in a session only",
                fix="give it the session",
            )
        found: list[Any] = sess.run(variables)
        return found

    def restore(self, sess: Any, save_path: Any) -> None:
        """Gives the variables the values of a checkpoint, in the session."""
        if save_path is None:
            raise ValueError(
                "`save_path` of `Saver.restore` is None, expected the prefix of a checkpoint: "
                "`tf.train.latest_checkpoint` gives None where a folder has none"
            )
        path = files.path_of(save_path, "save_path")
        entries = self._need_entries()
        if not entries:
            return
        if not checkpoint_exists(path):
            raise ValueError(
                f"`save_path` of `Saver.restore` is {path!r}, and there is no checkpoint of that "
                "name: give the prefix that `save` gave, without `.index`"
            )
        there = {key for key, _, _ in _holdfast.bundle_entries(path)}
        missing = [entry.name for entry in entries if entry.name not in there]
        if missing:
            raise NotFoundError(
                None,
                None,
                f"`Saver.restore`: the checkpoint {path!r} has no `{missing[0]}`; it has "
                f"{_some(there)}. Leave the variable out of `var_list`, or give a dict with the "
                "name that it has there",
            )
        read = _holdfast.bundle_read(path, [entry.name for entry in entries])
        # All are looked at before one is changed.
        whole = [
            entry.split(tensor, self._reshape) for entry, tensor in zip(entries, read, strict=True)
        ]
        for entry, values in zip(entries, whole, strict=True):
            for variable, value in zip(entry.variables, values, strict=True):
                if isinstance(variable, GraphVariable):
                    variable.load(value, sess)
                else:
                    variable.assign(value)

    @property
    def last_checkpoints(self) -> list[str]:
        """The prefixes of those that are kept, the latest last."""
        return list(self._kept.paths)

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Any) -> None:
        """Says which ones are kept, and when they were saved."""
        self._kept.paths = [path for path, _ in last_checkpoints_with_time]
        self._kept.stamps = [stamp for _, stamp in last_checkpoints_with_time]

    def set_last_checkpoints(self, last_checkpoints: Any) -> None:
        """Says which ones are kept."""
        self.set_last_checkpoints_with_time([(path, float("inf")) for path in last_checkpoints])

    def recover_last_checkpoints(self, checkpoint_paths: Any) -> None:
        """Says which ones are kept, of those that are there."""
        there = [path for path in checkpoint_paths if checkpoint_exists(path)]
        stamps = [os.path.getmtime(f"{path}.index") for path in there]
        self.set_last_checkpoints_with_time(list(zip(there, stamps, strict=True)))


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint of that prefix."""
    return os.path.exists(files.path_of(checkpoint_prefix, "checkpoint_prefix") + ".index")


def remove_checkpoint(
    checkpoint_prefix: Any, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Deletes the files of a checkpoint, and its graph where another program wrote one beside."""
    if checkpoint_format_version != 2:
        unsupported(
            f"`checkpoint_format_version` {checkpoint_format_version} is not supported",
            "checkpoints are of version 2",
            fix="leave `checkpoint_format_version` out",
        )
    prefix = files.path_of(checkpoint_prefix, "checkpoint_prefix")
    delete(prefix)
    graph = f"{prefix}.{meta_graph_suffix}"
    if os.path.exists(graph):
        os.remove(graph)


def new_checkpoint_reader(filepattern: Any) -> files.CheckpointReader:
    """A checkpoint's tensors by their names."""
    return files.load_checkpoint(filepattern)
