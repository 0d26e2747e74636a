"""What checkpoints call the parts of layers and models."""

from __future__ import annotations

import re
from typing import Any

from .. import _holdfast
from .._checkpoints.trackable import names_of
from .own_arguments import NOTED

__all__ = ["held_by", "model_child", "numbered", "operations_of"]

# Weights that Keras holds under names that are not theirs.
_ATTRIBUTES = {"Normalization": {"mean": "adapt_mean", "variance": "adapt_variance"}}

_LAYER = re.compile(r"layer(_with_weights)?-([0-9]+)")


class Place:
    """An Input, which holds nothing and has a number among the layers."""

    def _checkpoint_children(self) -> dict[str, Any]:
        return {}


def held_by(layer: Any) -> dict[str, Any]:
    """What a layer holds: its weights, its layers, and its attributes."""
    inside = {id(v) for part in layer.submodules for v in part.variables}
    out = names_of(weight for weight in layer.weights if id(weight) not in inside)
    for kind in type(layer).__mro__:
        for name, attribute in _ATTRIBUTES.get(kind.__name__, {}).items():
            if name in out:
                out[attribute] = out[name]
    for name, part in _holdfast.keras_parts(layer):
        out[name] = out[f"_{name}"] = part
    out.update((k, v) for k, v in layer.__dict__.items() if k not in ("_wanted_input", NOTED))
    return out


def numbered(parts: list[Any]) -> dict[str, Any]:
    """Layers by their numbers. An Input has one too, and so has an op, which holds nothing."""
    return {
        str(i): Place() if isinstance(part, str) else part
        for i, part in enumerate(parts)
        if part is not None
    }


def operations_of(model: Any) -> dict[str, Any]:
    """The layers of a functional model by their numbers."""
    return numbered(_holdfast.model_operations(model))


def model_child(layers: dict[str, Any], name: str) -> Any:
    """A layer of a model by the names that Keras 2 had: `layer-1`, `layer_with_weights-0`."""
    said = _LAYER.fullmatch(name)
    if said is None:
        return None
    if said[1] is None:
        return layers.get(said[2])
    known = [layer for layer in layers.values() if not isinstance(layer, Place)]
    number, seen = int(said[2]), 0
    for layer in known:
        if not layer.built:
            return None  # whether it has weights is not known
        seen += bool(layer.weights)
        if seen == number + 1:
            return layer
    return None
