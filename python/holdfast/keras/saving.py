"""`tf.keras.saving`: objects as configs, and the registry of classes by name, which is C++'s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .. import _holdfast
from ..errors import fail

__all__ = [
    "deserialize_keras_object",
    "get_registered_name",
    "get_registered_object",
    "register_keras_serializable",
    "serialize_keras_object",
]

_T = TypeVar("_T", bound=type)

_classes: dict[str, type] = {}  # those of Python, for who asks for the class itself
_holders: dict[str, Any] = {}  # classes of ours whose configs hold configs of others


def holds_configs(kind: _T) -> _T:
    """Decorates a class whose `from_config` takes `custom_objects` for what is inside."""
    _holders[kind.__name__] = kind
    return kind


def register_keras_serializable(
    package: str = "Custom", name: str | None = None
) -> Callable[[_T], _T]:
    """Decorates a class so that configs can name it, as `package>name`."""

    def register(kind: _T) -> _T:
        if not isinstance(kind, type):
            fail(
                "E1104",
                f"`register_keras_serializable` got a {type(kind).__name__}, expected a class",
                "functions have no config; a class says its own with `get_config`",
            )
        if not hasattr(kind, "get_config"):
            fail(
                "E1104",
                f"`{kind.__name__}` has no `get_config`, so it can't be written to a config",
                fix="define `get_config(self)`, which gives the arguments of `__init__`",
            )
        full = f"{package}>{name or kind.__name__}"
        kind._registered_name = full  # type: ignore[attr-defined]
        _holdfast.register_class(full, kind)
        _classes[full] = kind
        return kind

    return register


def get_registered_name(obj: Any) -> str:
    """The name under which a class is registered, else its own."""
    kind = obj if isinstance(obj, type) else type(obj)
    return str(vars(kind).get("_registered_name", kind.__name__))


def get_registered_object(
    name: str, custom_objects: dict[str, Any] | None = None, module_objects: Any = None
) -> Any:
    """The class that is registered under a name; None where there is none."""
    for known in (custom_objects, _classes, module_objects):
        if known and name in known:
            return known[name]
    return None


def serialize_keras_object(obj: Any) -> Any:
    """An object as plain values: its class's name, and what it can be made from again."""
    return _holdfast.plain_config(obj)


def deserialize_keras_object(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The object that a config describes."""
    plain = _holdfast.plain_config(config)
    if not isinstance(plain, dict) or not {"class_name", "config"} <= plain.keys():
        fail(
            "E1104",
            f"the config is of type {type(config).__name__} and names no class",
            'expected a dict with "class_name" and "config"',
        )
    for name in (plain["registered_name"], plain["class_name"]):
        if custom_objects and name in custom_objects:
            return custom_objects[name].from_config(plain["config"])
    if custom_objects and plain["class_name"] in _holders:
        return _holders[plain["class_name"]].from_config(plain["config"], custom_objects)
    return _holdfast.make_object(plain)
