"""Models as drawings."""

from __future__ import annotations

import os
from typing import Any

from ... import _holdfast
from ...errors import fail

__all__ = ["Dot", "model_to_dot", "plot_model"]


class Dot:
    """A drawing as Graphviz reads it."""

    def __init__(self, source: str) -> None:
        self._source = source

    def to_string(self) -> str:
        """The text."""
        return self._source

    __str__ = to_string

    def write(self, path: Any) -> None:
        """Writes the text to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._source)


class _Shown:
    """A drawing that a notebook shows."""

    def __init__(self, svg: str) -> None:
        self._svg = svg

    def _repr_svg_(self) -> str:
        return self._svg


def _checked(model: Any, options: dict[str, Any]) -> dict[str, Any]:
    from ..model import Model

    if not isinstance(model, Model):
        fail("E1104", f"`model` is of type {type(model).__name__}, expected a model")
    for name in ("rankdir", "splines"):
        if not isinstance(options[name], str):
            fail("E1104", f"`{name}` is {options[name]!r}, expected a text")
    flags = {name: bool(value) for name, value in options.items() if name.startswith("show_")}
    return {
        **options,
        **flags,
        "expand_nested": bool(options["expand_nested"]),
        "dpi": int(options["dpi"]),
    }


def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 200,
    subgraph: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
    splines: str = "ortho",
    **kwargs: Any,
) -> Dot:
    """A model as text for Graphviz; `str` of what it gives is that text."""
    if kwargs:
        fail("E1104", f"`model_to_dot` has no argument `{next(iter(kwargs))}`")
    options = {
        "show_shapes": show_shapes,
        "show_dtype": show_dtype,
        "show_layer_names": show_layer_names,
        "rankdir": rankdir,
        "expand_nested": expand_nested,
        "dpi": dpi,
        "show_layer_activations": show_layer_activations,
        "show_trainable": show_trainable,
        "splines": splines,
    }
    text = _holdfast.model_dot(model, _checked(model, options))
    if subgraph:  # to be put into another drawing
        text = text.replace("digraph ", "subgraph cluster_", 1)
        text = text.replace('cluster_"', '"cluster_', 1)
    return Dot(text)


def plot_model(
    model: Any,
    to_file: Any = "model.svg",
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = False,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 200,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
    splines: str = "ortho",
    **kwargs: Any,
) -> Any:
    """Draws a model into a file: `.svg`, `.html` or `.dot`. Notebooks show what it gives."""
    if kwargs:
        fail("E1104", f"`plot_model` has no argument `{next(iter(kwargs))}`")
    options = _checked(
        model,
        {
            "show_shapes": show_shapes,
            "show_dtype": show_dtype,
            "show_layer_names": show_layer_names,
            "rankdir": rankdir,
            "expand_nested": expand_nested,
            "dpi": dpi,
            "show_layer_activations": show_layer_activations,
            "show_trainable": show_trainable,
            "splines": splines,
        },
    )
    if to_file is not None:
        _holdfast.plot_model(model, os.fsdecode(os.fspath(to_file)), options)
    return _Shown(_holdfast.model_svg(model, options))
