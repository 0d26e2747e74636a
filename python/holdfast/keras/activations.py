"""`tf.keras.activations`: C++'s functions, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from ..errors import fail
from .saving import serialize_keras_object


def _activation(name: str) -> Callable[..., Any]:
    def activation(x: Any) -> Any:
        return _holdfast.activate(name, x)

    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = f"The activation `{name}`."
    activation.__module__ = __name__
    return activation


_ACTIVATIONS = {name: _activation(name) for name in _holdfast.activation_names()}
globals().update(_ACTIVATIONS)


def _initialize(initializer: Any, shape: Any, dtype: Any) -> Any:
    """Calls an initializer for C++ code."""
    return initializer(shape, dtype=dtype)


_holdfast.set_function_hooks(_initialize, _ACTIVATIONS.__getitem__)


def get(identifier: Any) -> Any:
    """The activation of a name, or itself; None is `linear`."""
    if identifier is None:
        return _ACTIVATIONS["linear"]
    if callable(identifier):
        return identifier
    return _holdfast.keras_object(identifier, "activations", "`identifier` of `activations.get`")


def serialize(activation: Any) -> Any:
    """Its name, or its config."""
    name = getattr(activation, "__name__", None)
    if name in _ACTIVATIONS:
        return name
    if hasattr(activation, "get_config"):
        return serialize_keras_object(activation)
    return fail("E1104", f"{activation!r} is no activation that a config can name")


deserialize = get

__all__ = [*_ACTIVATIONS, "deserialize", "get", "serialize"]  # noqa: PLE0604
