"""`tf.keras.dtype_policies`: policies by name and by config."""

from __future__ import annotations

from typing import Any

from ..errors import fail
from .configs import serializer
from .mixed_precision import DTypePolicy, FloatDTypePolicy

__all__ = ["DTypePolicy", "FloatDTypePolicy", "deserialize", "get", "serialize"]

serialize = serializer("dtype_policy")


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> DTypePolicy:
    """The policy that a config describes."""
    kinds = {"DTypePolicy": DTypePolicy, "FloatDTypePolicy": DTypePolicy, **(custom_objects or {})}
    name = config.get("class_name") if isinstance(config, dict) else None
    if name not in kinds:
        fail(
            "E1104",
            f"{config!r} describes no policy",
            'expected a dict with the "class_name" `DTypePolicy` and a "config"',
        )
    return kinds[name].from_config(config["config"])  # type: ignore[no-any-return]


def get(identifier: Any) -> DTypePolicy:
    """The policy of a name, of a dtype or of a config, or itself; None is that of all layers."""
    if isinstance(identifier, DTypePolicy):
        return identifier
    return deserialize(identifier) if isinstance(identifier, dict) else DTypePolicy(identifier)
