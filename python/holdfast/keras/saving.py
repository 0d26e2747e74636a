"""`tf.keras.saving`: objects as configs, models and weights as files."""

from __future__ import annotations

from typing import Any

from .configs import (
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from .model_files import load_model, save_model

__all__ = [
    "CustomObjectScope",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_custom_objects",
    "get_registered_name",
    "get_registered_object",
    "load_model",
    "load_weights",
    "register_keras_serializable",
    "save_model",
    "save_weights",
    "serialize_keras_object",
]


def save_weights(
    model: Any, filepath: Any, overwrite: bool = True, max_shard_size: Any = None, **kwargs: Any
) -> None:
    """Writes the weights of a model to a file."""
    model.save_weights(filepath, overwrite=overwrite, max_shard_size=max_shard_size, **kwargs)


def load_weights(model: Any, filepath: Any, skip_mismatch: bool = False, **kwargs: Any) -> None:
    """Reads the weights of a model from a file."""
    model.load_weights(filepath, skip_mismatch=skip_mismatch, **kwargs)
