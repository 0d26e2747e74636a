"""`tf.cond` and `tf.while_loop` whose functions store in Python objects: done as the statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._messages.diagnostics import mark
from .._tensors import registry
from .branch import decided, staged_if
from .carried import Carried
from .sites import Home, Site, Spot
from .state import Cells, as_bool, as_tensor

__all__ = ["cond", "while_loop"]


def _here() -> tuple[Home, Spot]:
    """The line that calls, as if it was a statement."""
    here = mark()
    if here is None:
        return Home("", "", {}), Spot(0, 0, -1)
    loc = here.loc()
    home = Home(here.code.co_filename, here.code.co_qualname, {})
    return home, Spot(loc["line"], loc["col_begin"], loc["col_end"])


def cond(
    pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], names: tuple[str, str]
) -> Any:
    """What one of two functions gives. What they store is stored where its side is taken."""
    result: Any

    def body() -> None:
        nonlocal result
        result = true_fn()

    def orelse() -> None:
        nonlocal result
        result = false_fn()

    staged_if(pred, body, orelse, Site("if", *_here(), ("result",), ("result",), sides=names))
    return result


def while_loop(
    condition: Callable[..., Any],
    body: Callable[..., Sequence[Any]],
    variables: Sequence[Any],
    most: int | None,
) -> list[Any]:
    """Flat variables after a loop. What `body` stores is left as the last iteration leaves it."""
    state, count = tuple(variables), as_tensor(0)

    def test() -> Any:
        more = as_bool(as_tensor(decided(condition(*state))))
        return more if most is None else registry.function("logical_and")(count < most, more)

    def step() -> None:
        nonlocal state, count
        state, count = tuple(body(*state)), count + 1

    carried = ("count", "state")
    site = Site("while", *_here(), carried, (), carried, carried)
    Carried(site, Cells(test, step)).run(test, step)
    return list(state)
