"""Checkpoints as files: which is the latest, what one holds."""

from __future__ import annotations

import os
import re
from typing import Any

from .. import _holdfast
from .._tensors.dtypes import as_dtype
from ..errors import fail

__all__ = [
    "CheckpointReader",
    "CheckpointState",
    "get_checkpoint_state",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
    "write_state",
]

_FIELD = re.compile(r'^\s*(\w+):\s*(?:"((?:[^"\\]|\\.)*)"|([-+.\w]+))\s*$')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def path_of(value: Any, name: str) -> str:
    """A path that was given as text, as the address of a file or as a path object."""
    try:
        return os.fsdecode(os.fspath(value)).removeprefix("file://")
    except TypeError:
        fail("E1104", f"`{name}` is of type {type(value).__name__}, expected a path")


class CheckpointState:
    """What the file `checkpoint` of a folder says: the latest one, and all that are kept."""

    def __init__(
        self,
        latest: str,
        everything: list[str],
        timestamps: list[float] | None = None,
        preserved: float = 0.0,
    ):
        self.model_checkpoint_path = latest
        self.all_model_checkpoint_paths = everything
        self.all_model_checkpoint_timestamps = timestamps or []
        self.last_preserved_timestamp = preserved


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text)


def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> CheckpointState | None:
    """What a folder says of its checkpoints; None where it says nothing."""
    folder = path_of(checkpoint_dir, "checkpoint_dir")
    try:
        with open(os.path.join(folder, latest_filename or "checkpoint"), encoding="utf-8") as f:
            lines = f.read().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return None
    latest, everything, stamps, preserved = "", [], [], 0.0
    for line in lines:
        field = _FIELD.match(line)
        if field is None:
            continue
        key, text, number = field.groups()
        path = os.path.join(folder, _unescaped(text)) if text is not None else ""
        if key == "model_checkpoint_path":
            latest = path
        elif key == "all_model_checkpoint_paths":
            everything.append(path)
        elif key == "all_model_checkpoint_timestamps" and number:
            stamps.append(float(number))
        elif key == "last_preserved_timestamp" and number:
            preserved = float(number)
    if not latest:
        return None
    return CheckpointState(latest, everything or [latest], stamps, preserved)


def write_state(
    folder: str,
    latest: str,
    everything: list[str],
    stamps: list[float],
    preserved: float | None = None,
    filename: str = "checkpoint",
) -> None:
    """Writes the file `checkpoint` of a folder: there whole, or not at all."""

    def quoted(path: str) -> str:
        relative = (
            os.path.relpath(path, folder) if os.path.isabs(path) == os.path.isabs(folder) else path
        )
        return '"' + relative.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    lines = [f"model_checkpoint_path: {quoted(latest)}"]
    lines += [f"all_model_checkpoint_paths: {quoted(path)}" for path in everything]
    lines += [f"all_model_checkpoint_timestamps: {stamp!r}" for stamp in stamps]
    if preserved is not None:
        lines.append(f"last_preserved_timestamp: {preserved!r}")
    _holdfast.write_text_file(os.path.join(folder, filename), "\n".join(lines) + "\n")


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The prefix of the latest checkpoint of a folder; None where there is none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not os.path.exists(f"{state.model_checkpoint_path}.index"):
        return None
    return state.model_checkpoint_path


class CheckpointReader:
    """A checkpoint's tensors by their keys."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._entries = {
            key: (dtype, shape) for key, dtype, shape in _holdfast.bundle_entries(prefix)
        }

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is one of that key."""
        return tensor_str in self._entries

    def get_tensor(self, tensor_str: str) -> Any:
        """Its value, as a NumPy array."""
        return _holdfast.bundle_read(self._prefix, [tensor_str])[0].numpy()

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes of all tensors by their keys."""
        return {key: list(shape) for key, (_, shape) in self._entries.items()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """The dtypes of all tensors by their keys."""
        return {key: as_dtype(dtype) for key, (dtype, _) in self._entries.items()}

    def debug_string(self) -> bytes:
        """What there is, one tensor a line."""
        dtypes = self.get_variable_to_dtype_map()
        lines = [f"{key} ({dtypes[key].name}) {shape}" for key, (_, shape) in self._entries.items()]
        return "\n".join(lines).encode()


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A checkpoint by its prefix, or the latest one of a folder."""
    path = path_of(ckpt_dir_or_file, "ckpt_dir_or_file")
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            fail("E1104", f"the folder `{path}` holds no checkpoint", "it has no file `checkpoint`")
        path = latest
    return CheckpointReader(path)


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The keys and shapes of a checkpoint's tensors, by key."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """The value of one tensor of a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
