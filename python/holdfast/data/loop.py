"""`for element in dataset` inside a function that is traced: a loop of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._flow import control
from .._structures import nesting
from .._tensors.composite import Composite
from .._tensors.shape import TensorSpec
from .._tracing.converter import converter
from ..errors import fail
from .probing import symbols_of
from .structure import map_leaves, packed, with_composites

__all__ = ["graph_for", "loop_from", "next_state", "probed_reduce", "staged_reduce", "state_of"]


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


def staged_reduce(dataset: Any, initial: Any, function: Callable[..., Any]) -> Any:
    """`Dataset.reduce` inside a function that is traced."""
    step = converter().convert(function)
    first = state_of(initial)

    def after(element: Any, *now: Any) -> list[Any]:
        state = nesting.pack_sequence_as(first, list(now))
        return nesting.flatten(next_state(first, step(state, element)))

    flat = graph_for(dataset, dataset, after, None, nesting.flatten(first))
    return nesting.pack_sequence_as(first, flat)


def probed_reduce(dataset: Any, initial: Any, function: Callable[..., Any]) -> Any:
    """The same on symbols: what a state is like after any number of elements."""
    first = state_of(initial)
    step = converter().convert(function)
    given = next_state(first, step(first, symbols_of(dataset.element_spec)))
    both = [
        TensorSpec(a.shape.most_specific_compatible_shape(b.shape), a.dtype)
        for a, b in zip(nesting.flatten(first), nesting.flatten(given), strict=True)
    ]
    return nesting.pack_sequence_as(first, [symbols_of(each) for each in both])


def state_of(given: Any) -> Any:
    """What `reduce` carries along: tensors, and values of several."""
    return map_leaves(_kept, with_composites(given))


def next_state(before: Any, given: Any) -> Any:
    """What a function of `reduce` gave, which is to be like the state that it got."""
    state = state_of(given)
    try:
        nesting.assert_same_structure(before, state)
        alike = [t.dtype for t in nesting.flatten(before)] == [
            t.dtype for t in nesting.flatten(state)
        ]
    except (TypeError, ValueError):
        alike = False
    if not alike:
        fail(
            "E1104",
            f"the function of `reduce` gave {_words(state)}, expected {_words(before)}",
            "the next state has the structure and the dtypes of `initial_state`",
        )
    return state


def _words(state: Any) -> Any:
    return map_leaves(
        lambda t: getattr(t, "_type_spec", None) or TensorSpec(t.shape, t.dtype), state
    )


def _kept(value: Any) -> Any:
    return value if isinstance(value, Composite) else _holdfast.convert(value)
