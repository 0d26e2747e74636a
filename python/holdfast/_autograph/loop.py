"""`while` and `for`: Python's own where Python can tell when they end, staged where it can't."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._tensors import registry
from .._tensors.dtypes import int32
from ..errors import unsupported
from .branch import decided, staged_if
from .carried import Carried
from .iterables import Staged, stageable
from .messages import refuse_endless, refuse_unrolling
from .sites import Site
from .state import Cells, as_bool, as_tensor, is_tensor
from .walking import iterated

__all__ = ["for_", "while_"]

_MOST_UNROLLED = 1000  # iterations after an exit that only the graph can decide about
_MOST_WRITTEN = 500_000  # ops that one loop may write into a graph, iteration after iteration


class _Unrolling:
    """Watches over a loop that Python runs while it is traced: each iteration writes its ops."""

    def __init__(self, site: Site) -> None:
        self._site, self._count, self._before = site, 0, _holdfast.trace_size()

    def next(self) -> None:
        """One more iteration is about to run."""
        self._count += 1
        written = _holdfast.trace_size() - self._before if self._count % 64 == 0 else 0
        if written > _MOST_WRITTEN:
            refuse_unrolling(self._site, self._count, written)


def while_(test: Callable[[], Any], body: Callable[[], None], site: Site) -> None:
    """The statement. A loop whose condition becomes symbolic goes on staged from there.

    One whose condition is a tensor is staged as well, whether its value is known or not: Python
    could not tell when it ends.
    """
    unrolling = _Unrolling(site)
    while True:
        asked = test()
        again = decided(asked)
        if again is False:
            return
        if again is not True or (is_tensor(asked) and _holdfast.is_tracing()):
            break
        unrolling.next()
        body()

    def holds() -> Any:
        again = decided(test())
        if again is True:  # whatever the iterations did: nothing that they carry is asked
            refuse_endless(site)
        return as_bool(as_tensor(again))

    Carried(site, Cells(test, body)).run(holds, body)


def for_(
    values: Any, body: Callable[[Any], None], go_on: Callable[[], Any] | None, site: Site
) -> None:
    """The statement. `go_on` tells whether no `break` or `return` was met."""
    staged = stageable(values)
    if staged is not None:
        _staged_for(staged, body, go_on, site)
        return
    hook = getattr(type(values), "__graph_for__", None)
    if hook is not None and _holdfast.is_tracing():
        _hooked_for(values, body, go_on, site)
        return
    elements, unrolling = iter(iterated(values)), _Unrolling(site)
    for element in elements:
        unrolling.next()
        body(element)
        if go_on is None:
            continue
        again = decided(go_on())
        if again is False:
            return
        if again is not True:
            _unrolled(elements, body, go_on, site)
            return


def _unrolled(
    elements: Any, body: Callable[[Any], None], go_on: Callable[[], Any], site: Site
) -> None:
    """The rest of a Python loop after a `break` that only the graph can decide about."""
    cells = Cells(body, go_on)
    step = Site("if", site.home, site.where, site.modified, site.carried, blocks=site.blocks)
    step.jumps = True
    for count, element in enumerate(elements):
        if count >= _MOST_UNROLLED:
            unsupported(
                f"a Python loop with a symbolic exit was unrolled {count} times and has not ended",
                "when it ends is known when the graph runs, so every iteration is written down.",
                fix="loop over `tf.range(...)`, or use `while`",
            )
        again = decided(go_on())
        if again is False:
            return
        if again is True:
            body(element)
        else:
            staged_if(again, functools.partial(body, element), lambda: None, step, cells)


def _staged_for(
    values: Staged, body: Callable[[Any], None], go_on: Callable[[], Any] | None, site: Site
) -> None:
    length = values.length()
    count = as_tensor(length, int32)
    if count.dtype != int32:
        count = registry.function("cast")(count, int32)
    cells = Cells(body, go_on)
    state = Carried(site, cells, counted=True)

    def test() -> Any:
        inside = state.counter < count
        if go_on is None:
            return inside
        again = decided(go_on())
        if isinstance(again, bool):
            return inside if again else as_tensor(False)
        return registry.function("logical_and")(inside, as_bool(again))

    state.run(test, lambda: body(values.element(state.counter)))


def _hooked_for(
    values: Any, body: Callable[[Any], None], go_on: Callable[[], Any] | None, site: Site
) -> None:
    """Something that walks through itself in a graph, such as a dataset.

    `__graph_for__(step, go_on, state)` gives the state after the last element. `step(element,
    *state)` gives the next state; `go_on(*state)` is a bool tensor, or None if nothing ends the
    loop early.
    """
    state = Carried(site, Cells(body, go_on))
    state.run_by(values.__graph_for__, body, go_on)
