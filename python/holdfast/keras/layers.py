"""`tf.keras.layers`: the layers that C++ declares."""

from __future__ import annotations

from typing import Any

from . import declared, features
from .inputs import Input, InputLayer
from .lambda_layer import Lambda
from .layer import Layer
from .saving import deserialize_keras_object as deserialize
from .saving import serialize_keras_object as serialize

# What `Layer` itself says of every layer.
_COMMON = frozenset({"trainable", "dtype", "name"})

__all__ = [  # noqa: PLE0604
    "Input",
    "InputLayer",
    "Lambda",
    "Layer",
    "deserialize",
    "serialize",
    *declared.export("layers", Layer, globals(), _COMMON),
]

features.complete(globals()["Normalization"])


def _merged(class_name: str, name: str) -> Any:
    """The function of a layer that merges: `add([a, b])` is `Add()([a, b])`."""
    cls = globals()[class_name]

    def call(inputs: Any, **options: Any) -> Any:
        return cls(**options)(inputs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`{class_name}(**options)(inputs)`. {cls.__doc__.splitlines()[0]}"
    return call


add = _merged("Add", "add")
subtract = _merged("Subtract", "subtract")
multiply = _merged("Multiply", "multiply")
average = _merged("Average", "average")
maximum = _merged("Maximum", "maximum")
minimum = _merged("Minimum", "minimum")


def concatenate(inputs: Any, axis: int = -1, **options: Any) -> Any:
    """`Concatenate(axis, **options)(inputs)`: one after another along `axis`."""
    return globals()["Concatenate"](axis=axis, **options)(inputs)


def dot(inputs: Any, axes: Any = -1, **options: Any) -> Any:
    """`Dot(axes, **options)(inputs)`: sums of products along `axes`, for each example."""
    return globals()["Dot"](axes=axes, **options)(inputs)


__all__ += [
    "add",
    "average",
    "concatenate",
    "dot",
    "maximum",
    "minimum",
    "multiply",
    "subtract",
]
