"""`tf.keras.layers`: the layers that C++ declares."""

from __future__ import annotations

from typing import Any

from . import declared, embedding, features
from .configs import deserialize_keras_object, serializer
from .input_layer import InputLayer
from .input_spec import InputSpec
from .inputs import Input
from .lambda_layer import Lambda
from .layer import Layer
from .wrapper import Wrapper

# What `Layer` itself says of every layer.
_COMMON = frozenset({"trainable", "dtype", "name"})

__all__ = [  # noqa: PLE0604
    "Input",
    "InputLayer",
    "InputSpec",
    "Lambda",
    "Layer",
    "Wrapper",
    "deserialize",
    "serialize",
    *declared.export("layers", Layer, globals(), _COMMON),
]

features.complete(globals()["Normalization"])
embedding.complete(globals()["Embedding"])
for _kept in ("Embedding", "GroupNormalization", "LayerNormalization"):
    globals()[_kept]._autocast = False  # takes its inputs as they come
serialize = serializer("layer")


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The layer that a config describes."""
    return deserialize_keras_object(config, custom_objects)


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
