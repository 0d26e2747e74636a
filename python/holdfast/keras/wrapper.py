"""`tf.keras.layers.Wrapper`: base of layers that are made around another."""

from __future__ import annotations

from typing import Any, Self

from .. import _holdfast
from ..errors import fail
from .configs import deserialize_keras_object, serialize_keras_object
from .layer import Layer

__all__ = ["Wrapper"]


class Wrapper(Layer):
    """A layer around another one, `layer`; what it does with that is its `call`."""

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        if not isinstance(layer, _holdfast.LayerBase):
            fail(
                "E1104",
                f"`layer` of `{type(self).__name__}` is of type {type(layer).__name__}, "
                "expected a layer",
                fix="give it an instance, such as `tf.keras.layers.Dense(64)`",
            )
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape: Any = None) -> None:
        """Builds the layer inside."""
        if not self.layer.built:
            _holdfast.build_layer(self.layer, [tuple(input_shape)])

    def get_config(self) -> dict[str, Any]:
        """What it can be made from again."""
        return {**super().get_config(), "layer": serialize_keras_object(self.layer)}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """One made with what `get_config` gave."""
        options = dict(config)
        inside = deserialize_keras_object(options.pop("layer"), custom_objects)
        return cls(inside, **options)
