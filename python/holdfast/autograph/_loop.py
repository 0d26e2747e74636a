"""`while` and `for`: Python's own where Python can tell when they end, staged where it can't."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _holdfast, _registry
from .._dtypes import int32
from ..errors import unsupported
from ._branch import decided, staged_if
from ._carried import Carried
from ._iterables import Staged, stageable
from ._reads import iterated
from ._sites import Site
from ._state import Cells, as_bool, as_tensor

__all__ = ["for_", "while_"]

_MOST_UNROLLED = 1000


def while_(test: Callable[[], Any], body: Callable[[], None], site: Site) -> None:
    """The statement. A loop whose condition becomes symbolic goes on staged from there."""
    while True:
        again = decided(test())
        if again is False:
            return
        if again is not True:
            break
        body()
    cells = Cells(test, body)
    Carried(site, cells).run(lambda: as_bool(as_tensor(decided(test()))), body)


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
    elements = iter(iterated(values))
    for element in elements:
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
        count = _registry.function("cast")(count, int32)
    cells = Cells(body, go_on)
    state = Carried(site, cells, counted=True)

    def test() -> Any:
        inside = state.counter < count
        if go_on is None:
            return inside
        again = decided(go_on())
        if isinstance(again, bool):
            return inside if again else as_tensor(False)
        return _registry.function("logical_and")(inside, as_bool(again))

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
