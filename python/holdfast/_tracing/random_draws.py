"""Random numbers of Python and NumPy drawn while a function is traced: its graph keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._messages.contexts import contextmanager
from .._messages.diagnostics import Mark, module_alias, warn
from ..errors import used_here
from .recorder import recording

__all__ = ["watch_random"]

_LONGEST = 100 - len("warning[W0604]: ")  # columns of a headline


class _Draws:
    """Python's and NumPy's random numbers, while a function is traced."""

    def __init__(self, function: str) -> None:
        self._function, self._recorder = function, recording()
        self._before = _python_state(), _numpy_state()
        self._moved = ""  # whose state did

    def look(self) -> None:
        """Notes whether a state has moved: the trace ends here."""
        if _python_state() != self._before[0]:
            self._moved = "random"
        elif _numpy_state() != self._before[1] or self._calls():
            self._moved = "numpy.random"

    def _calls(self) -> list[Mark]:
        return [] if self._recorder is None else self._recorder.random_calls

    def warn(self) -> None:
        """W0604 where a state has moved."""
        moved, self._moved = self._moved, ""
        if not moved:
            return
        calls, function = self._calls(), self._function
        label = {"role": "used", "text": "drawn here, once, while tracing", "primary": True}
        words = _drawn(calls[0]) if calls else ""
        drawn = f"`{words}()`" if words else f"a number of `{moved}`"
        headline = f"{drawn} was drawn while tracing `{function}`; all calls get that number"
        if len(headline) > _LONGEST:
            headline = f"{drawn} was drawn once, while tracing `{function}`"
        tf = module_alias()
        same = _same_draw(words.rpartition(".")[2])
        warn(
            "W0604",
            headline,
            why=f"Python ran `{function}` once, to trace it; later calls run its graph, in which "
            "the number is a constant",
            labels=[label | {"loc": calls[0].loc()}] if calls else used_here("traced here"),
            fixes=[
                {
                    "title": f"let the graph draw, at each call anew: `{tf}.random.{same}(...)`",
                    "applicability": "manual",
                    "edits": [],
                }
            ],
        )


@contextmanager
def watch_random(function: str, later: Callable[[], bool] = lambda: False) -> Iterator[_Draws]:
    """Warns with W0604 if Python's or NumPy's random numbers move while `function` is traced.

    Where `later` says so it is left to the caller: a trace may turn out void, and be made again.
    """
    draws = _Draws(function)
    yield draws
    draws.look()
    if not later():
        draws.warn()


def _drawn(call: Mark) -> str:
    names = call.names()
    return f"{names.receiver.text}.{names.function}" if names.receiver else names.function


def _same_draw(name: str) -> str:
    """Our function for one of Python's or NumPy's."""
    if name in ("normal", "randn", "gauss", "normalvariate", "standard_normal"):
        return "normal"
    if name in ("permutation", "permuted"):
        return "shuffle"
    return name if name in ("shuffle", "gamma", "poisson") else "uniform"


def _python_state() -> object:
    import random  # a program that draws none need not load it

    return random.getstate()


def _numpy_state() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state(legacy=True)
    return name, np.asarray(keys).tobytes(), *rest
