"""Models in files: `save`, `save_weights`, `load_weights`, and `load_model`."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from .. import _holdfast, nest
from .._names.boundary import is_ours
from .._tensors.dtypes import bfloat16
from .._tensors.tensor import convert_to_tensor
from ..errors import fail, unsupported
from .assets import give_assets, own_assets
from .configs import (
    CustomObjectScope,
    deserialize_keras_object,
    get_registered_name,
    get_registered_object,
)
from .own_arguments import says

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

    def save(
        self, filepath: Any, overwrite: bool = True, zipped: bool | None = None, **kwargs: Any
    ) -> None:
        """Writes the whole model to a `.keras` file: there whole, or not at all."""
        path = _path(filepath, "filepath")
        _look_at_earlier(kwargs)
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
        more = {}
        compiled = self.get_compile_config()  # type: ignore[attr-defined]
        if compiled is not None:
            more["compile_config"] = compiled
        _holdfast.keras_save_model(self, path, more)

    def _training_parts(self) -> Any:
        """What a copy is compiled with, and where its optimizer stands.

        None where a config can't tell: a copy of what the program alone knows is not compiled.
        """
        own = says(type(self), "compile")
        config = None if own else self.get_compile_config()  # type: ignore[attr-defined]
        given = nest.flatten(self.__dict__.get("_compile_arguments", {}))
        if config is None or not _is_told_by(config) or not all(map(_is_known, given)):
            return None
        by = self.optimizer  # type: ignore[attr-defined]
        return config, [np.array(slot.numpy()) for slot in (() if by is None else by.variables)]

    def save_weights(
        self, filepath: Any, overwrite: bool = True, max_shard_size: float | None = None
    ) -> None:
        """Writes the weights to a `.weights.h5` file, or plainly to a `.safetensors` file."""
        path = _path(filepath, "filepath")
        if max_shard_size is not None:
            unsupported(
                "`save_weights` with `max_shard_size` is not supported",
                "weights go into one file",
            )
        _may_write(path, overwrite)
        _holdfast.keras_save_weights(self, path)

    def load_weights(self, filepath: Any, skip_mismatch: bool = False, **kwargs: Any) -> None:
        """Reads the weights of a `.weights.h5`, `.keras` or `.safetensors` file: all or none."""
        for name, value in kwargs.items():
            if name not in ("by_name", "objects_to_skip"):
                fail("E1104", f"`load_weights` has no argument `{name}`")
            if value:
                unsupported(
                    f"`load_weights` with `{name}` is not supported",
                    "weights are found by their paths in the model",
                )
        _holdfast.keras_load_weights(self, _path(filepath, "filepath"), bool(skip_mismatch))


def _look_at_earlier(kwargs: dict[str, Any]) -> None:
    """What `save` was told before Keras 3, when it wrote several kinds of files."""
    for name, value in kwargs.items():
        if name == "save_format":
            warnings.warn("`save_format` is not needed: the file's name says it", stacklevel=3)
        elif name != "include_optimizer":
            fail("E1104", f"`save` has no argument `{name}`")
        elif not value:
            warnings.warn(
                "a `.keras` file has the optimizer too: `load_model(..., compile=False)` leaves it",
                stacklevel=3,
            )


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, zipped: bool | None = None, **kwargs: Any
) -> None:
    """Writes a model to a `.keras` file."""
    if not isinstance(model, SavedModel):
        fail("E1104", f"`model` is of type {type(model).__name__}, expected a model")
    _look_at_earlier(kwargs)
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
    with CustomObjectScope(custom_objects or {}):
        model = deserialize_keras_object(config, custom_objects)
        _holdfast.keras_build_from(config, model)
        if compile and config.get("compile_config") and hasattr(model, "compile_from_config"):
            model.compile_from_config(config["compile_config"])
    _holdfast.keras_load_weights(model, path, False)
    return model


def _is_known(value: Any) -> bool:
    """Whether a name in a config is enough to find the class or function of a value."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return True
    kind = value if hasattr(value, "__name__") else type(value)
    return is_ours(kind) or get_registered_object(get_registered_name(kind)) is not None


def _is_told_by(value: Any) -> bool:
    """Whether all that a config describes is Keras' own or registered."""
    if isinstance(value, list):
        return all(map(_is_told_by, value))
    if not isinstance(value, dict):
        return True
    if "class_name" in value:
        ours = str(value.get("module")).partition(".")[0] == "keras"
        if not ours and get_registered_object(str(value.get("registered_name"))) is None:
            return False
    return all(map(_is_told_by, value.values()))


# What training keeps on a model; of it the optimizer is saved, under its own name.
_NO_PARTS = frozenset(["_compile_arguments", "_steps", "history"])


def _saved_parts(holder: Any) -> list[tuple[str, Any]]:
    """The attributes of an object that may hold weights; containers as lists."""
    skipped = _NO_PARTS.union(getattr(type(holder), "_IGNORED", ()))
    return [(name, _plain(v)) for name, v in holder.__dict__.items() if name not in skipped]


def _plain(value: Any, around: tuple[int, ...] = ()) -> Any:
    """The value with lists for containers; a list that holds itself is not in it again."""
    inside = (*around, id(value))
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [_plain(one, inside) for one in value if id(one) not in inside]
    return value


def _own_saved(holder: Any) -> list[tuple[str, Any]] | None:
    """What an object keeps by a method of its class; None where it has no such."""
    if not says(type(holder), "save_own_variables"):
        return None
    store: dict[str, Any] = {}
    holder.save_own_variables(store)
    return [(str(key), convert_to_tensor(value)) for key, value in store.items()]


def _takes_own(holder: Any) -> bool:
    return says(type(holder), "load_own_variables")


def _own_loaded(holder: Any, store: dict[str, Any]) -> None:
    # NumPy has no bfloat16 of its own.
    arrays = {key: v if v.dtype == bfloat16 else v.numpy() for key, v in store.items()}
    holder.load_own_variables(arrays)


def _takes_assets(holder: Any) -> bool:
    return says(type(holder), "load_assets")


_holdfast.set_saved_parts(_saved_parts)
_holdfast.set_own_assets(own_assets, _takes_assets, give_assets)
_holdfast.set_own_variables(_own_saved, _takes_own, _own_loaded)
