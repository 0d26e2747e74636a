"""`tf.keras.activations`: C++'s functions, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from ..errors import fail
from .configs import holds_functions, named_or_made, serialize_keras_object


def _activation(name: str, doc: str, options: list[tuple[str, Any, bool]]) -> Callable[..., Any]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [
            inspect.Parameter("x", kind),
            *(
                inspect.Parameter(
                    option, kind, default=inspect.Parameter.empty if required else default
                )
                for option, default, required in options
            ),
        ]
    )

    def plain(x: Any) -> Any:
        return _holdfast.activate(name, x, {})

    def with_options(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        return _holdfast.activate(name, given.pop("x"), given)

    activation: Any = with_options if options else plain
    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = doc
    activation.__module__ = __name__
    activation.__signature__ = signature
    return _holdfast.PublicFunction(activation)


_ACTIVATIONS = {name: _activation(name, *rest) for name, *rest in _holdfast.activations()}
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


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The activation that a name or a config describes."""
    return named_or_made(config, custom_objects, get)


__all__ = [*_ACTIVATIONS, "deserialize", "get", "serialize"]  # noqa: PLE0604

holds_functions(globals())
