"""`tf.keras.layers`."""

from __future__ import annotations

from .dense import Dense
from .layer import Layer
from .saving import deserialize_keras_object as deserialize
from .saving import serialize_keras_object as serialize

__all__ = ["Dense", "Layer", "deserialize", "serialize"]
