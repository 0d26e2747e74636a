"""A `build` of a program's own: in the name scope of its layer, and once for the same shapes."""

from __future__ import annotations

import functools
import types
from typing import Any

from .. import _holdfast
from .._tensors.shape import TensorShape

__all__ = ["with_own_build"]


def with_own_build(cls: type) -> None:
    """Gives a class its `build` back as one that says what each build of Keras' says.

    Names of weights begin with the layer's, those of layers that it builds as well; afterwards it
    is built, for those shapes, whether or not the method says so itself.
    """
    own = vars(cls).get("build")
    if not isinstance(own, types.FunctionType):
        return

    @functools.wraps(own)
    def build(self: Any, *args: Any, **kwargs: Any) -> Any:
        kept = vars(self)
        if "_building" in kept:  # by a class that overrides this one's
            return own(self, *args, **kwargs)
        given = [*args, *kwargs.values()]
        shapes = given if all(_is_shapes(one) for one in given) else []
        if shapes and _holdfast.is_built_for(self, *shapes):
            return None
        around = _holdfast.get_name_scope()
        kept["_building"] = True
        _holdfast.set_name_scope(_scope(self, around))
        try:
            made = own(self, *args, **kwargs)
        finally:
            _holdfast.set_name_scope(around)
            del kept["_building"]
        _holdfast.note_built(self, *shapes)
        return made

    cls.build = build  # type: ignore[attr-defined]


def _scope(layer: Any, around: str) -> str:
    """The layer's scope in the one around it, if it is not open already."""
    name = f"{layer.name}/"
    if around == name or around.endswith(f"/{name}"):
        return around
    return around + name if around else str(layer._scope_name)


def _is_shapes(value: Any) -> bool:
    """Whether it is a shape, or several in a list, a tuple or a dict."""
    if isinstance(value, TensorShape):
        return True
    if isinstance(value, dict):
        return bool(value) and all(_is_shapes(one) for one in value.values())
    if not isinstance(value, (list, tuple)):
        return False
    return all(one is None or isinstance(one, int) for one in value) or all(
        _is_shapes(one) for one in value
    )
