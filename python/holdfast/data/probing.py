"""What a function that makes datasets makes: found out once, on symbols."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._tensors.symbols import is_symbol
from .._tracing.journal import Journal
from .structure import map_leaves, spec_of

__all__ = ["is_probing", "made_spec", "number", "on_symbols"]

_here = threading.local()


def is_probing() -> bool:
    """Whether a function runs to tell what it makes, and not to make it."""
    return bool(getattr(_here, "depth", 0))


def number(value: Any) -> Any:
    """A number of elements, which no spec tells: while probing any will do."""
    return 1 if is_probing() and is_symbol(value) else value


def on_symbols(function: Callable[[Any], Any], specs: Any, stage: str) -> Any:
    """What a function gives for symbols of these specs, on a graph that is thrown away."""
    writer = _holdfast.Writer(stage, "dataset", True)
    writer.enter(True)
    journal = Journal()
    _here.depth = getattr(_here, "depth", 0) + 1
    try:
        symbols = map_leaves(
            lambda spec: writer.input(
                spec.dtype, None if spec.shape.rank is None else spec.shape.as_list(), "element"
            ),
            specs,
        )
        with journal:
            return function(symbols)
    finally:
        _here.depth -= 1
        journal.undo()
        writer.exit()
        writer.close()


def made_spec(make: Callable[[Any], Any], dataset: Any, stage: str) -> tuple[Any, Any]:
    """The spec of the dataset that `make` makes of an element, and its named tuples."""

    def spec(symbols: Any) -> tuple[Any, Any]:
        made = make(symbols)
        return spec_of(made), made._template

    found: tuple[Any, Any] = on_symbols(spec, spec_of(dataset), stage)
    return found
