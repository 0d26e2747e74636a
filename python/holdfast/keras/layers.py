"""`tf.keras.layers`: the layers that C++ declares."""

from __future__ import annotations

from . import declared
from .inputs import Input, InputLayer
from .layer import Layer
from .saving import deserialize_keras_object as deserialize
from .saving import serialize_keras_object as serialize

# What `Layer` itself says of every layer.
_COMMON = frozenset({"trainable", "dtype", "name"})

__all__ = [
    "Input",
    "InputLayer",
    "Layer",
    "deserialize",
    "serialize",
    *declared.export("layers", Layer, globals(), _COMMON),
]
