"""`tf.keras.optimizers.schedules`: learning rates that change from step to step."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from .. import declared
from ..by_name import FromConfig
from ..configs import deserialize_keras_object, serialize_keras_object

_CLASSES = declared.export("optimizers.schedules", FromConfig, globals(), frozenset())


def serialize(learning_rate_schedule: Any) -> Any:
    """What it can be made from again."""
    return serialize_keras_object(learning_rate_schedule)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The schedule that a config describes."""
    if custom_objects:
        return deserialize_keras_object(config, custom_objects)
    return _holdfast.keras_object(config, "optimizers", "`config` of `schedules.deserialize`")


__all__ = [*_CLASSES, "deserialize", "serialize"]  # noqa: PLE0604
