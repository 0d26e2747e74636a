"""Objects as configs, and the registry of classes by name, which is C++'s."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import _holdfast
from .._tensors.tensor import convert_to_tensor
from ..errors import fail, unsupported
from .custom_objects import (
    CustomObjectScope,
    custom_object_scope,
    get_custom_objects,
    register,
)
from .own_arguments import says

__all__ = [
    "CustomObjectScope",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_custom_objects",
    "get_registered_name",
    "get_registered_object",
    "register_keras_serializable",
    "serialize_keras_object",
]

_T = TypeVar("_T")
_Kind = TypeVar("_Kind", bound=type)

_classes: dict[str, Any] = {}  # those of Python, for who asks for the class itself
_functions: list[dict[str, Any]] = []  # the namespaces of modules whose functions configs name
_of_python: dict[str, Any] = {}  # classes of ours that C++ does not make
# How configs say what an array is, and what it is made into.
_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "__numpy__": lambda values: values,
    "__tensor__": convert_to_tensor,
}
# A loss and a metric may share a name: the module of a config tells them apart.
_FOLDERS = frozenset(
    ["constraints", "initializers", "losses", "metrics", "optimizers", "regularizers"]
)


def made_by_python(kind: _Kind) -> _Kind:
    """Decorates a class of ours that is Python's alone, so that configs can name it."""
    _of_python[kind.__name__] = kind
    return kind


def register_keras_serializable(
    package: str = "Custom", name: str | None = None
) -> Callable[[_T], _T]:
    """Decorates a class, or a function, so that configs can name it, as `package>name`."""

    def decorate(value: _T) -> _T:
        if not callable(value):
            fail(
                "E1104",
                f"`register_keras_serializable` got a {type(value).__name__}, expected a class "
                "or a function",
            )
        if isinstance(value, type) and not hasattr(value, "get_config"):
            fail(
                "E1104",
                f"`{value.__name__}` has no `get_config`, so it can't be written to a config",
                fix="define `get_config(self)`, which gives the arguments of `__init__`",
            )
        known: Any = value
        full = f"{package}>{name or known.__name__}"
        known._registered_name = full
        register(full, value)
        _classes[full] = known
        return value

    return decorate


def get_registered_name(obj: Any) -> str:
    """The name under which a class is registered, else its own."""
    plain = isinstance(obj, type) or hasattr(obj, "__name__")
    named = obj if plain else type(obj)
    return str(vars(named).get("_registered_name") or named.__name__)


def get_registered_object(
    name: str, custom_objects: dict[str, Any] | None = None, module_objects: Any = None
) -> Any:
    """The class that is registered under a name; None where there is none."""
    for known in (custom_objects, get_custom_objects(), _classes, module_objects):
        if known and name in known:
            return known[name]
    return None


def serialize_keras_object(obj: Any) -> Any:
    """An object as plain values: its class's name, and what it can be made from again."""
    return _holdfast.plain_config(obj)


def holds_functions(namespace: dict[str, Any]) -> None:
    """Says that configs may name the functions of a module: activations, losses."""
    _functions.append(namespace)


def function_of(name: str) -> Any:
    """The function that a config names: a registered one, or one of Keras'."""
    found = get_registered_object(name) or next(
        (space[name] for space in _functions if callable(space.get(name))), None
    )
    if found is None:
        fail(
            "E1104",
            f"a config names the function `{name}`, which is not known here",
            "a config holds a function's name alone",
            fix=f"give it in `custom_objects={{'{name}': ...}}`",
        )
    return found


def serializer(parameter: str) -> Callable[..., Any]:
    """`serialize` of a module, whose one parameter has the name that it has in Keras."""
    signature = inspect.Signature(
        [inspect.Parameter(parameter, inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    )

    def serialize(*args: Any, **kwargs: Any) -> Any:
        """What it can be made from again."""
        return serialize_keras_object(signature.bind(*args, **kwargs).arguments[parameter])

    serialize.__signature__ = signature  # type: ignore[attr-defined]
    return serialize


def deserialize_keras_object(
    config: Any, custom_objects: dict[str, Any] | None = None, safe_mode: bool = True
) -> Any:
    """The object that a config describes; no code that stands in a config is ever run."""
    if not safe_mode:
        unsupported(
            "`deserialize_keras_object` with `safe_mode=False` is not supported",
            "code in a config is never run",
            fix="give the class or the function in `custom_objects`",
        )
    if isinstance(config, dict) and config.get("class_name") == "function":
        with CustomObjectScope(custom_objects or {}):
            return function_of(str(config["config"]))
    if config is None or isinstance(config, (bool, int, float, str)):
        return config
    if isinstance(config, (list, tuple)):
        return [deserialize_keras_object(one, custom_objects) for one in config]
    if isinstance(config, dict) and "class_name" not in config and "config" not in config:
        return {k: deserialize_keras_object(one, custom_objects) for k, one in config.items()}
    plain = _holdfast.plain_config(config)
    if not isinstance(plain, dict) or not isinstance(plain.get("config"), dict):
        fail(
            "E1104",
            f"the config is of type {type(config).__name__} and names no class",
            'expected a dict with "class_name" and "config"',
        )
    if plain["class_name"] in _ARRAYS:
        values = np.asarray(plain["config"]["value"], dtype=plain["config"]["dtype"])
        return _ARRAYS[plain["class_name"]](values)
    made = _made(plain, {**get_custom_objects(), **(custom_objects or {})})
    if "build_config" in plain:
        build_again(made, plain["build_config"])
    return made


def _made(plain: dict[str, Any], own: dict[str, Any]) -> Any:
    for name in (plain["registered_name"], plain["class_name"]):
        if name in own:
            if not hasattr(own[name], "from_config"):
                fail(
                    "E1104",
                    f"`{name}` can't be made from its config: it has no `from_config`",
                    fix="define `from_config(cls, config)` as a class method",
                )
            return own[name].from_config(plain["config"])
    ours = str(plain.get("module")).partition(".")[0] == "keras" and not plain["registered_name"]
    folder = str(plain.get("module")).partition(".")[2].partition(".")[0]
    if plain["class_name"] in _of_python:
        return _of_python[plain["class_name"]].from_config(plain["config"])
    with CustomObjectScope(own):  # what it holds may be of the program's classes
        if ours and folder in _FOLDERS:
            return _holdfast.keras_object(plain, folder, "`config`")
        return _holdfast.make_object(plain)


def build_again(made: Any, config: Any) -> None:
    """Has a layer built whose class says itself what it is built from."""
    if config and any(says(type(made), m) for m in ("get_build_config", "build_from_config")):
        made.build_from_config(config)


_holdfast.set_build_again(build_again)


def named_or_made(
    given: Any, custom_objects: dict[str, Any] | None, get: Callable[[Any], Any]
) -> Any:
    """What a name or a config means: among `custom_objects`, or what `get` knows."""
    if custom_objects and isinstance(given, str) and given in custom_objects:
        return custom_objects[given]
    if custom_objects and isinstance(given, dict):
        return deserialize_keras_object(given, custom_objects)
    return get(given)
