"""`tf.keras.Sequential`: the C++ class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from .. import _holdfast
from ..errors import fail, unsupported
from . import checkpoint_names, declared
from .configs import deserialize_keras_object
from .input_layer import InputLayer
from .layer import Layer
from .model import Model

__all__ = ["Sequential"]


class Sequential(declared.base_type("models.Sequential"), Model):  # type: ignore[misc]
    """Layers one after the other. C++ holds them, and calls them."""

    def __init__(
        self,
        layers: Iterable[Layer] | None = None,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        Layer.__init__(self, trainable=trainable, name=name, dtype=dtype)
        self._note_strategy()
        for layer in layers or ():
            self.add(layer)

    def add(self, layer: Any, rebuild: bool = True) -> None:
        """Puts a layer at the end; an `Input` comes first."""
        _always_rebuilt("add", rebuild)
        if isinstance(layer, InputLayer):
            layer = layer.output
        if isinstance(layer, _holdfast.Tensor) and _holdfast.is_model_symbol(layer):
            _holdfast.sequential_input(self, layer)
            return
        if not isinstance(layer, _holdfast.LayerBase):
            if isinstance(layer, type) and issubclass(layer, _holdfast.LayerBase):
                fail(
                    "E1104",
                    f"Sequential `{self.name}` got the class `{layer.__name__}`, expected a layer",
                    "a class makes layers, and each has weights of its own",
                    fix=f"make one: `{layer.__name__}(...)`",
                )
            fail(
                "E1104",
                f"Sequential `{self.name}` got a {type(layer).__name__}, expected a layer",
                fix="give it an instance, such as `tf.keras.layers.Dense(64)`",
            )
        wanted = layer.__dict__.get("_wanted_input")
        if wanted is not None and not self.layers and _holdfast.model_inputs(self) is None:
            _holdfast.sequential_input(
                self, _holdfast.keras_input(None, wanted, None, layer.compute_dtype, "")
            )
        _holdfast.sequential_add(self, layer)

    def pop(self, rebuild: bool = True) -> Any:
        """Takes the last layer away, and gives it."""
        _always_rebuilt("pop", rebuild)
        return _holdfast.sequential_pop(self)

    def _held_layers(self) -> list[Layer]:
        return self.layers

    def _checkpoint_children(self) -> dict[str, Any]:
        # Keras keeps a functional model inside, which begins with the Input.
        layers = checkpoint_names.numbered(["input", *self.layers])
        parts = {**checkpoint_names.held_by(self), "_functional": {"_operations": layers}}
        return self._with_optimizer(parts)

    def _checkpoint_child(self, name: str) -> Any:
        return checkpoint_names.model_child(checkpoint_names.numbered(self.layers), name)

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """A model made with what `get_config` gave."""
        given = dict(config)
        described, shape = given.pop("layers", []), given.pop("build_input_shape", None)
        inside: list[Any] = [
            InputLayer(**layer["config"])
            if layer["class_name"] == "InputLayer"
            else deserialize_keras_object(layer, custom_objects)
            for layer in described
        ]
        made = cls(inside, **given)
        if shape is not None:
            _holdfast.build_layer(made, [tuple(shape)])
        return made


def _always_rebuilt(method: str, rebuild: bool) -> None:
    if not rebuild:
        unsupported(
            f"`Sequential.{method}` with `rebuild=False` is not supported",
            "a model makes its weights as soon as the shape of its inputs is known",
            fix="leave `rebuild` out",
        )


declared.register({"path": "models.Sequential"}, Sequential)
