"""`for element in dataset` inside a function that is traced: a loop of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._flow import control
from .structure import packed

__all__ = ["graph_for", "loop_from"]


def graph_for(
    over: Any, dataset: Any, step: Callable[..., Any], go_on: Callable[..., Any] | None, state: Any
) -> list[Any]:
    """The state after a loop over a dataset, or over what an iterator of it has left.

    Each run of the graph begins an iteration of its own.
    """
    return loop_from(_holdfast.data_begin_loop(over), dataset, step, go_on, state)


def loop_from(
    position: Any,
    dataset: Any,
    step: Callable[..., Any],
    go_on: Callable[..., Any] | None,
    state: Any,
) -> list[Any]:
    """The same from a position in a dataset, of which the spec is asked alone."""

    def again(_: Any, *now: Any) -> Any:
        if go_on is None:
            return _holdfast.data_advance_loop(position)
        # After a `break` no further element is taken.
        return control.cond(
            go_on(*now),
            lambda: _holdfast.data_advance_loop(position),
            lambda: _holdfast.convert(False),
        )

    def body(count: Any, *now: Any) -> list[Any]:
        element = packed(dataset._template, _holdfast.data_loop_element(position, dataset))
        return [count + 1, *step(element, *now)]

    count = _holdfast.convert(0)
    return list(control.stage_while(again, body, [count, *state])[1:])
