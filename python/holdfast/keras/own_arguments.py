"""Configs of layers whose class says `__init__` and no `get_config`: what they were made with."""

from __future__ import annotations

import inspect
from typing import Any

from .. import _holdfast
from .._names.boundary import is_ours

__all__ = ["NOTED", "config_of_arguments", "gets_config", "note_arguments", "says"]

NOTED = "_auto_config"  # where a layer keeps them, as Keras calls it
_PLAIN = (str, int, float, bool, type(None))
_BASE = ("name", "trainable", "dtype")  # what a base takes, and not every class


def _plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_plain(one) for one in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(one) for key, one in value.items())
    return isinstance(value, _PLAIN)


def gets_config(kind: type) -> bool:
    """Whether a class of layers is given a `get_config` of arguments: it has none of its own."""
    found = inspect.getattr_static(kind, "get_config", None)
    of_base = not inspect.isfunction(found) and not isinstance(found, _holdfast.PublicFunction)
    return "__init__" in vars(kind) and of_base


def note_arguments(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Remembers what a layer is made with, if a file can hold it all."""
    try:
        bound = inspect.signature(type(layer)).bind(*args, **kwargs)
    except TypeError:
        return  # `__init__` refuses it in a moment
    bound.apply_defaults()
    given: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            if value:
                return
            continue
        given.update(value if kind is inspect.Parameter.VAR_KEYWORD else {name: value})
    given = {name: value for name, value in given.items() if name not in _BASE}
    if _plain(given):
        layer.__dict__[NOTED] = given


def config_of_arguments(self: Any) -> dict[str, Any]:
    """What the layer can be made from again: what it was made with."""
    base: dict[str, Any] = next(
        vars(each)["get_config"].__get__(self)()
        for each in type(self).__mro__
        if vars(each).get("get_config", config_of_arguments) is not config_of_arguments
        and is_ours(each)
    )
    given = self.__dict__.get(NOTED)
    if given is None or inspect.getattr_static(type(self), "get_config") is not config_of_arguments:
        return base  # a class that says more calls this one for the base's part
    parameters = inspect.signature(type(self)).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        base = {key: value for key, value in base.items() if key in parameters or key not in _BASE}
    return {**base, **given}


def says(kind: type, method: str) -> bool:
    """Whether a class of the program's own defines the method, and not one of ours."""
    owner = next((each for each in kind.__mro__ if method in vars(each)), None)
    if owner is None or is_ours(owner):
        return False
    return vars(owner)[method] is not config_of_arguments
