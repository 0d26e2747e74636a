"""`tf.keras.layers.Lambda`: a function of the program's own as a layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import fail, unsupported
from .configs import function_of, serialize_keras_object
from .custom_objects import register
from .layer import Layer, takes, takes_training

__all__ = ["Lambda"]


class Lambda(Layer):
    """Calls a function. Variables that it uses from outside are read in each call."""

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not callable(function):
            fail("E1104", f"`function` of Lambda is {function!r}, expected a function")
        self.function = function
        self.arguments = dict(arguments or {})
        self._output_shape = output_shape
        self._mask = mask
        self.supports_masking = mask is not None

    def call(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        """What the function gives."""
        given = dict(self.arguments)
        if takes(self.function, "mask"):
            given["mask"] = mask
        if takes_training(self.function) and takes(self.function, "training"):
            given["training"] = training
        return self.function(inputs, **given)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """What `mask` says, or what that function gives."""
        return self._mask(inputs, previous_mask) if callable(self._mask) else self._mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """What `output_shape` says; else it is found by a call on symbols."""
        if self._output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._output_shape):
            return self._output_shape(input_shape)
        return (input_shape[0], *self._output_shape)

    def get_config(self) -> dict[str, Any]:
        """What the layer can be made from again: functions are written by their names."""
        config = {**super().get_config(), "function": self._named(self.function)}
        if self._output_shape is not None:
            config["output_shape"] = self._named(self._output_shape)
        if self._mask is not None:
            config["mask"] = self._named(self._mask)
        return {**config, "arguments": serialize_keras_object(self.arguments)}

    def _named(self, value: Any) -> Any:
        if getattr(value, "__name__", None) == "<lambda>":
            unsupported(
                f"layer `{self.name}` (Lambda) has no config",
                "it holds a lambda, which has no name, and a file holds no code",
                fix="define the function by `def`, or derive a class from `tf.keras.layers.Layer`",
            )
        return serialize_keras_object(value)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """One made with what `get_config` gave. Code that stands in a config is refused."""
        return cls(**{key: _meant(value, key) for key, value in config.items()})


def _meant(value: Any, key: str) -> Any:
    """The function that a config names."""
    if not isinstance(value, dict) or "class_name" not in value or key == "dtype":
        return value
    if value["class_name"] != "function":
        unsupported(
            f"`{key}` of a Lambda is a `{value['class_name']}` in its config",
            "code that lies in files is never run",
            fix="load the weights into a model whose Lambda is made by the program",
        )
    return function_of(str(value["config"]))


register("Lambda", Lambda)
