"""`tf.keras.models`."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from ..errors import fail
from .cloning import clone_model
from .configs import deserialize_keras_object
from .model import Model
from .model_files import load_model, save_model
from .sequential import Sequential

__all__ = [
    "Model",
    "Sequential",
    "clone_model",
    "load_model",
    "model_from_json",
    "save_model",
]


def model_from_json(json_string: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """The model that `to_json` wrote, without its weights' values."""
    if not isinstance(json_string, str):
        fail("E1104", f"`json_string` is of type {type(json_string).__name__}, expected a string")
    config = _holdfast.config_from_json(json_string)
    if not isinstance(config, dict) or "class_name" not in config:
        fail("E1104", f"`json_string` is the JSON of a {type(config).__name__} and names no class")
    return deserialize_keras_object(config, custom_objects)
