"""Copies and pickles of layers: another one of the same config, with the same weights."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .. import _holdfast
from .._graphs.name_scope import name_scope
from ..errors import unsupported
from .assets import give_assets, own_assets
from .own_arguments import NOTED, says

__all__ = ["parts_of"]

_BASE = ("name", "trainable", "dtype")  # what every config says
_Built = tuple[str, str, tuple[tuple[int | None, ...] | None, ...] | None]  # name, scope, shapes


def parts_of(layer: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What `copy` and `pickle` make a layer from again."""
    held = layer._held_layers()
    config = _config_of(layer, held is not None)
    built = [(each.name, _scope_of(each), each._built_for) for each in _layers_in(layer)]
    values = [np.array(weight.numpy()) for weight in layer.weights]
    files = [dict(own_assets(each) or ()) for each in _layers_in(layer)]
    parts = (type(layer), config, held, built, values, layer._training_parts(), files)
    return _made_again, parts


def _made_again(
    kind: type[Any],
    config: dict[str, Any],
    held: list[Any] | None,
    built: list[_Built],
    values: list[np.ndarray[Any, Any]],
    training: tuple[dict[str, Any], list[np.ndarray[Any, Any]]] | None = None,
    files: list[dict[str, bytes]] | None = None,
) -> Any:
    made = _made(kind, config, held)
    layers = _layers_in(made)
    if len(layers) != len(built):
        _refuse(kind, f"{len(built) - 1} layers inside, and its copy makes {len(layers) - 1}")
    for each, (name, scope, shape) in zip(layers, built, strict=True):
        each._name = name
        if shape is not None:
            with name_scope(scope) if scope else contextlib.nullcontext():
                _holdfast.build_layer(each, list(shape))
    weights = made.weights
    if [tuple(w.shape) for w in weights] != [value.shape for value in values]:
        _refuse(kind, f"{len(values)} weights, and its copy makes {len(weights)}")
    for weight, value in zip(weights, values, strict=True):
        weight.assign(value)
    for each, kept in zip(layers, files or (), strict=False):
        if kept and says(type(each), "load_assets"):
            give_assets(each, kept)
    if training is not None:
        compiled, slots = training
        made.compile_from_config(compiled)
        for variable, value in zip(made.optimizer.variables if slots else (), slots, strict=False):
            variable.assign(value)
    return made


def _made(kind: type[Any], config: dict[str, Any], held: list[Any] | None) -> Any:
    if held is not None:
        return kind(held, **config)
    return kind.from_config({k: v for k, v in config.items() if k in _taken(kind, config)})


def _taken(kind: type[Any], config: dict[str, Any]) -> set[str]:
    """The keys of a config that a class takes: all but the base's, where it has no use for them."""
    parameters = inspect.signature(kind).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()) or says(kind, "from_config"):
        return set(config)
    return {key for key in config if key not in _BASE or key in parameters}


def _config_of(layer: Any, held: bool) -> dict[str, Any]:
    """The config, if it says all that another one is made from."""
    kind = type(layer)
    config = dict(layer.get_config())
    if held:
        config.pop("layers", None)
        config.pop("build_input_shape", None)
    if not says(kind, "__init__") or says(kind, "from_config"):
        return config
    parameters = inspect.signature(kind).parameters.values()
    # Then what it leaves out is meant to be the default.
    spoken_for = says(kind, "get_config") or NOTED in layer.__dict__
    missing = [
        p.name
        for p in parameters
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY, p.POSITIONAL_ONLY)
        and p.name not in config
        and p.name not in _BASE
        and not (held and p.name == "layers")
        and (p.default is p.empty or not spoken_for)
    ]
    if missing:
        _refuse(kind, f"its config lacks `{missing[0]}`", layer.name)
    return config


def _layers_in(layer: Any) -> list[Any]:
    inside = [part for part in layer.submodules if isinstance(part, _holdfast.LayerBase)]
    return [layer, *inside]


def _scope_of(layer: Any) -> str:
    """The name scope in which a layer made its weights; empty where that is its own."""
    for weight in layer.weights:
        scope = weight._full_name.rpartition("/")[0] + "/"
        if scope.endswith(f"/{layer.name}/"):
            return str(scope)
    return ""


def _refuse(kind: type, what: str, name: str = "") -> NoReturn:
    subject = f"`{name}` ({kind.__name__})" if name else f"a `{kind.__name__}`"
    unsupported(
        f"{subject} can't be copied: {what}",
        "a copy is made from what `get_config` gives, and then given the same weights",
        fix=f"define `get_config(self)` in `{kind.__name__}`, with all arguments of `__init__`",
    )
