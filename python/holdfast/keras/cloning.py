"""`tf.keras.models.clone_model`: a model made again with other layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from ..errors import fail
from .model import Model

__all__ = ["clone_model"]


def clone_model(
    model: Any,
    input_tensors: Any = None,
    clone_function: Callable[[Any], Any] | None = None,
    call_function: Callable[..., Any] | None = None,
    recursive: bool = False,
    **kwargs: Any,
) -> Any:
    """A model of the same calls with new layers, and so with new weights.

    Arguments:
        model: a Sequential or a functional model; one of a class of its own is made from its
            config.
        input_tensors: what the new model is given; else new Inputs.
        clone_function: gives the new layer for an old one; else it is made from its config.
        call_function: `call_function(layer, *args, **kwargs)` calls a new layer. For functional
            models.
        recursive: whether models inside are cloned by the same rules.
    """
    if kwargs:
        fail("E1104", f"`clone_model` has no argument `{next(iter(kwargs))}`")
    if not isinstance(model, Model):
        fail("E1104", f"`model` is of type {type(model).__name__}, expected a model")
    for name, function in (("clone_function", clone_function), ("call_function", call_function)):
        if function is not None and not callable(function):
            fail("E1104", f"`{name}` is {function!r}, expected a function")
    if _holdfast.model_inputs(model) is None and not _is_sequential(model):
        if clone_function or call_function or input_tensors is not None:
            fail(
                "E1104",
                f"`clone_model` with functions or `input_tensors` takes a Sequential or a "
                f"functional model, and `{model.name}` has a `call` of its own",
            )
        return type(model).from_config(model.get_config())
    if isinstance(model.input, dict) and isinstance(input_tensors, (list, tuple)):
        fail(
            "E1104",
            f"`input_tensors` is a {type(input_tensors).__name__}, expected a dict",
            f"the inputs of `{model.name}` are known by the names {', '.join(model.input)}",
        )
    made = _holdfast.clone_model(
        model, input_tensors, clone_function or _again, call_function, bool(recursive)
    )
    how = model.get_compile_config() if model.compiled else None
    if how:
        made.compile_from_config(how)
    return made


def _again(layer: Any) -> Any:
    """A layer of the same class and options."""
    return type(layer).from_config(layer.get_config())


def _is_sequential(model: Any) -> bool:
    from .sequential import Sequential

    return isinstance(model, Sequential)
