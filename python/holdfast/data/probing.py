"""What a function that makes datasets makes: found out once, on symbols."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .. import _holdfast
from .._tensors.composite import CompositeSpec
from .._tensors.symbols import is_symbol, only_types
from .._tracing.inline import need_alive
from .._tracing.journal import Journal
from .spec import DatasetSpec
from .structure import map_leaves, spec_of, template_of

__all__ = [
    "NeedsValues",
    "in_stage",
    "is_probing",
    "made_spec",
    "need_values",
    "number",
    "on_symbols",
    "symbols_of",
    "tracing_stage",
]

_here = threading.local()


def is_probing() -> bool:
    """Whether a function runs to tell what it makes, and not to make it."""
    return bool(getattr(_here, "depth", 0))


class NeedsValues(Exception):
    """A function of elements does with a dataset what no graph does: it is called with values."""


@contextlib.contextmanager
def tracing_stage() -> Iterator[None]:
    """While the function of a stage is traced."""
    around = getattr(_here, "stage", False)
    _here.stage = True
    try:
        yield
    finally:
        _here.stage = around


def in_stage() -> bool:
    """Whether the function of a stage is traced."""
    return bool(getattr(_here, "stage", False))


def need_values(*values: Any) -> None:
    """Stops the trace of a stage's function where a dataset is made of tensors of its graph."""
    need_alive(values)
    if in_stage() and not is_probing() and any(map(is_symbol, values)):
        raise NeedsValues


def number(value: Any) -> Any:
    """A number of elements, which no spec tells: while probing any will do."""
    need_values(value)
    return 1 if is_probing() and is_symbol(value) else value


def symbols_of(specs: Any) -> Any:
    """Symbols of these specs, in the graph of the function that runs; a dataset is a promise."""
    writer = _here.writer

    def symbol(spec: Any) -> Any:
        if isinstance(spec, DatasetSpec):
            promised: Any = _holdfast.data_promised(spec.element_spec)
            promised._template = template_of(spec.element_spec)
            return promised
        if isinstance(spec, CompositeSpec):
            return spec._from_components(map(symbol, spec._component_specs))
        sizes = None if spec.shape.rank is None else spec.shape.as_list()
        return writer.input(spec.dtype, sizes, "element")

    return map_leaves(symbol, specs)


def on_symbols(function: Callable[[Any], Any], specs: Any, stage: str) -> Any:
    """What a function gives for symbols of these specs, on a graph that is thrown away."""
    writer = _holdfast.Writer(stage, "dataset", True)
    writer.enter(True)
    journal = Journal()
    around = getattr(_here, "writer", None)
    _here.depth, _here.writer = getattr(_here, "depth", 0) + 1, writer
    types_alone, only_types.on = only_types.on, True
    try:
        symbols = symbols_of(specs)
        with journal:
            return function(symbols)
    finally:
        _here.depth, _here.writer = _here.depth - 1, around
        only_types.on = types_alone
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
