"""Models in files: `save`, `save_weights`, `load_weights`, and `load_model`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from .. import _holdfast
from ..errors import fail, unsupported
from .configs import deserialize_keras_object
from .custom_objects import CustomObjectScope

__all__ = ["SavedModel", "load_model", "save_model"]


def _path(filepath: Any, name: str) -> str:
    try:
        path = os.fspath(filepath)
    except TypeError:
        fail("E1104", f"`{name}` is of type {type(filepath).__name__}, expected a path")
    return os.fsdecode(path)


def _may_write(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        fail(
            "E1104",
            "the file is there already, and `overwrite` is False",
            f"it is `{path}`",
            fix="give it another name, or `overwrite=True`",
        )


class SavedModel:
    """What models do with files."""

    def save(self, filepath: Any, overwrite: bool = True, zipped: bool | None = None) -> None:
        """Writes the whole model to a `.keras` file: there whole, or not at all."""
        path = _path(filepath, "filepath")
        if zipped is False:
            unsupported(
                "a model can't be saved to a folder",
                "`zipped=False` asks for one",
                fix="leave `zipped` out, and let the name end in `.keras`",
            )
        if path.endswith((".h5", ".hdf5")):
            unsupported(
                f"`{path}` would be a model in the format of before Keras 3",
                "HDF5 files hold weights here, and whole models are `.keras` files",
                fix="let the name end in `.keras`, or call `save_weights`",
            )
        _may_write(path, overwrite)
        _holdfast.keras_save_model(self, path)

    def save_weights(
        self, filepath: Any, overwrite: bool = True, max_shard_size: float | None = None
    ) -> None:
        """Writes the weights to a `.weights.h5` file."""
        path = _path(filepath, "filepath")
        if max_shard_size is not None:
            unsupported(
                "`save_weights` with `max_shard_size` is not supported",
                "weights go into one file",
            )
        _may_write(path, overwrite)
        _holdfast.keras_save_weights(self, path)

    def load_weights(self, filepath: Any, skip_mismatch: bool = False, **kwargs: Any) -> None:
        """Reads the weights of a `.weights.h5` or `.keras` file; all of them, or none."""
        for name, value in kwargs.items():
            if name not in ("by_name", "objects_to_skip"):
                fail("E1104", f"`load_weights` has no argument `{name}`")
            if value:
                unsupported(
                    f"`load_weights` with `{name}` is not supported",
                    "weights are found by their paths in the model",
                )
        _holdfast.keras_load_weights(self, _path(filepath, "filepath"), bool(skip_mismatch))


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, zipped: bool | None = None
) -> None:
    """Writes a model to a `.keras` file."""
    if not isinstance(model, SavedModel):
        fail("E1104", f"`model` is of type {type(model).__name__}, expected a model")
    model.save(filepath, overwrite, zipped)


def load_model(
    filepath: Any,
    custom_objects: dict[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool = True,
) -> Any:
    """The model of a `.keras` file. Reading runs no code of the file's."""
    path = _path(filepath, "filepath")
    if not safe_mode:
        unsupported(
            "`load_model` with `safe_mode=False` is not supported",
            "code that lies in files is never run",
        )
    if not path.endswith(".keras"):
        fail("E1104", f"`{path}` is no name of a model's file", "it ends in `.keras`")
    config = _holdfast.keras_archived_config(path)
    with _known(custom_objects or {}):
        model = deserialize_keras_object(config, custom_objects)
        _holdfast.keras_build_from(config, model)
        how = config.get("compile_config") if compile else None
        if how and hasattr(model, "compile_from_config"):
            with CustomObjectScope(custom_objects or {}):
                model.compile_from_config(how)
    _holdfast.keras_load_weights(model, path, False)
    return model


@contextlib.contextmanager
def _known(custom_objects: dict[str, Any]) -> Iterator[None]:
    """Makes classes known to the models inside a model, which C++ makes."""
    added = []
    try:
        for name, kind in custom_objects.items():
            if isinstance(kind, type) and not _holdfast.has_class(name):
                _holdfast.register_class(name, kind)
                added.append(name)
        yield
    finally:
        for name in added:
            _holdfast.unregister_class(name)


def _saved_parts(holder: Any) -> list[tuple[str, Any]]:
    """The attributes of an object that may hold weights; containers as lists."""
    skipped = getattr(type(holder), "_IGNORED", ())
    return [(name, _plain(v)) for name, v in holder.__dict__.items() if name not in skipped]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


_holdfast.set_saved_parts(_saved_parts)
