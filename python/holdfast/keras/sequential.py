"""`tf.keras.Sequential`: the C++ class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from .. import _holdfast
from ..errors import fail
from .layer import Layer
from .saving import deserialize_keras_object, holds_configs

__all__ = ["Sequential"]


@holds_configs
class Sequential(_holdfast.SequentialBase, Layer):
    """Layers one after the other. C++ holds them, and calls them."""

    def __init__(
        self,
        layers: Iterable[Layer] | None = None,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(trainable=trainable, name=name, dtype=dtype)
        for layer in layers or ():
            self.add(layer)

    def add(self, layer: Layer) -> None:
        """Puts a layer at the end."""
        if not isinstance(layer, _holdfast.LayerBase):
            fail(
                "E1104",
                f"Sequential `{self.name}` got a {type(layer).__name__}, expected a layer",
                fix="give it an instance, such as `tf.keras.layers.Dense(64)`",
            )
        _holdfast.sequential_add(self, layer)

    @property
    def layers(self) -> list[Layer]:
        """The layers, in their order."""
        return _holdfast.sequential_layers(self)

    def _held_layers(self) -> list[Layer]:
        return self.layers

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """A model made with what `get_config` gave."""
        given = dict(config)
        described = given.pop("layers", [])
        inside = [deserialize_keras_object(layer, custom_objects) for layer in described]
        return cls(inside, **given)

    def to_json(self, **kwargs: Any) -> str:
        """Its config as JSON."""
        if kwargs.keys() - {"indent"}:
            fail("E1104", f"`to_json` has no option `{min(kwargs.keys() - {'indent'})}`")
        return _holdfast.config_to_json(self, kwargs.get("indent", -1))


_holdfast.set_class("Sequential", Sequential)
