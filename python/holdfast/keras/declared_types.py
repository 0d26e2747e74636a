"""What a program's layer says itself of what its call gives, so that a model need not run it."""

from __future__ import annotations

import types
from typing import Any

from .. import _holdfast, nest

__all__ = ["declared_types", "is_ours_or_native"]


def is_ours_or_native(method: Any) -> bool:
    """Whether a method is none that a program's class has written."""
    return not isinstance(method, types.FunctionType) or method.__module__.startswith("holdfast.")


def declared_types(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Symbols as a call gives them, if its class has `compute_output_spec` or `_shape`; else None.

    Masks, and layers inside that are not built, need a run of the call.
    """
    cls = type(layer)
    tensors = [t for t in nest.flatten((args, kwargs)) if isinstance(t, _holdfast.Tensor)]
    first = [t for t in nest.flatten(args[:1]) if isinstance(t, _holdfast.Tensor)]
    own_spec = not is_ours_or_native(cls.compute_output_spec)
    own_shape = not is_ours_or_native(cls.compute_output_shape) and len(first) == len(tensors)
    if not (own_spec or own_shape):
        return None
    if any(_holdfast.keras_mask(t) is not None for t in tensors):
        return None
    if any(isinstance(m, _holdfast.LayerBase) and not m.built for m in layer.submodules):
        return None
    return layer.compute_output_spec(*args, **kwargs)
