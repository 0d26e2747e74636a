"""`sum(x for x in rows if x > 0)`: whether an element counts may be for the graph to say.

Python's own code gets the elements that count, and has to know which ones those are. What joins
them into one value takes the conditions too, and chooses in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .branch import and_, decided, if_expression, not_, or_, truth
from .state import as_tensor, is_number, is_tensor

__all__ = ["Chosen", "quantified", "sum_of"]


class Chosen:
    """A generator with a condition: pairs of the condition and what gives the element."""

    def __init__(self, pairs: Iterator[tuple[Any, Callable[[], Any]]]) -> None:
        self.pairs = pairs

    def __iter__(self) -> Chosen:
        return self

    def __next__(self) -> Any:
        while True:
            counts, element = next(self.pairs)
            if truth(counts):
                return element()


def sum_of(values: Chosen, start: Any) -> Any:
    """`sum`: each element is added where it counts."""
    for counts, element in values.pairs:
        taken = decided(counts)
        if taken is True:
            start = start + element()
        elif taken is not False:
            start = _longer(taken, start, element)
    return start


def _longer(taken: Any, start: Any, element: Callable[[], Any]) -> Any:
    made: list[Any] = []  # the last one tells the dtype that a number goes with

    def more() -> Any:
        made.append(start + element())
        return made[-1]

    def same() -> Any:
        follows = is_number(start) and is_tensor(made[-1])
        return as_tensor(start, made[-1].dtype) if follows else start

    return if_expression(taken, more, same)


def quantified(values: Chosen, every: bool) -> Any:
    """`all` and `any`: an element that does not count decides nothing."""
    found: Any = every
    for counts, element in values.pairs:
        if every:
            found = and_(found, _either(not_(counts), element))
        else:
            found = or_(found, _both(counts, element))
        if found is not every and isinstance(found, bool):
            return found  # Python asks no further
    return found


def _either(first: Any, second: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: or_(first, second)


def _both(first: Any, second: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: and_(first, second)
