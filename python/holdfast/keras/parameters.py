"""What functions and methods of the program take, asked once of each."""

from __future__ import annotations

import inspect
import weakref
from typing import Any, NamedTuple

__all__ = ["Parameters", "parameters_of"]


class Parameters(NamedTuple):
    """The names that a function takes, those with a default, and whether it takes any others."""

    names: frozenset[str] = frozenset()
    with_defaults: frozenset[str] = frozenset()
    any_name: bool = False


# Weakly, since a function may lead to the layer that it belongs to.
_known: weakref.WeakKeyDictionary[Any, Parameters] = weakref.WeakKeyDictionary()


def parameters_of(call: Any) -> Parameters:
    """The parameters of a function, or of the function that a method is."""
    function = getattr(call, "__func__", call)
    try:
        known = _known.get(function)
    except TypeError:  # it can't be a key
        return _asked(function)
    if known is None:
        known = _known[function] = _asked(function)
    return known


def _asked(function: Any) -> Parameters:
    try:
        every = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a callable that does not say what it takes
        return Parameters()
    return Parameters(
        frozenset(every),
        frozenset(name for name, p in every.items() if p.default is not p.empty),
        any(p.kind is p.VAR_KEYWORD for p in every.values()),
    )
