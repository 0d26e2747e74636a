"""Variables that are made while a function is traced.

One that dies with the trace is a local value: each call makes it anew, so its first assignment is
part of the graph. One that outlives it was meant to be made once: it has its value already, and the
graph only uses it.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import Any, Self

from .. import _holdfast
from .._graphs.init_scope import init_scope
from .._tensors.symbols import is_symbol
from ..errors import fail

__all__ = ["Creations", "created", "lifting_graph", "scope", "starting_value"]


class _Now(threading.local):
    def __init__(self) -> None:
        self.making: list[Creations] = []


_now = _Now()


class Creations:
    """What one trace creates. `inputs`: the arguments of the call that is traced."""

    def __init__(self, writer: Any, inputs: list[Any]) -> None:
        self._writer, self._inputs = writer, inputs
        self._made: list[tuple[weakref.ref[Any], int, dict[str, Any] | None]] = []

    def __enter__(self) -> Self:
        _now.making.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _now.making.pop()

    def value(self, tensor: Any) -> Any:
        """The value that a symbol has in the call that is traced."""
        with init_scope():
            found = self._writer.evaluate(
                tensor, [t if _is_tensor(t) else None for t in self._inputs]
            )
        if found is None:
            fail(
                "E0401",
                "a Variable's initial value depends on an argument that has no value",
                "the function is traced for specifications only, so nothing can compute it",
                fix="make the Variable outside of the function, or call the function with tensors",
            )
        return found

    def note(self, variable: Any, given: Any) -> None:
        """Lets each call begin with the initial value, for the time being."""
        at = self._writer.node_count()
        variable._assign(given)
        for index in range(at, self._writer.node_count()):
            self._made.append((weakref.ref(variable), index, variable._born()))

    def locals(self) -> bool:
        """Whether some variable went with the trace: state that belongs to each call."""
        return any(not _holdfast.outlives_handles(ref) for ref, _, _ in self._made)

    def made_any(self) -> bool:
        """Whether there are variables at all."""
        return bool(self._made)

    def survivors(self) -> list[Any]:
        """Variables that something still holds; the graph forgets their first assignment."""
        alive = []
        for ref, index, _ in reversed(self._made):
            if not _holdfast.outlives_handles(ref):  # the graph alone holds it
                continue
            alive.append(ref())
            self._writer.remove_assignment(index)
        return alive[::-1]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _holdfast.Tensor)


def lifting_graph() -> Any:
    """The graph that is written, if variables which are made in it are eager ones."""
    graph = _holdfast.root_graph()
    return graph if graph is not None and graph._lifts_variables else None


def scope() -> Any:
    """Where a callable initial value runs: outside of a trace, so that it has a value."""
    lifted = _now.making or lifting_graph() is not None
    return init_scope() if lifted else contextlib.nullcontext()


def starting_value(given: Any) -> Any:
    """The value of an initial value, which may be a symbol."""
    if not is_symbol(given):
        return given
    graph = lifting_graph()
    if graph is not None:
        return graph.value_of(given)
    return _now.making[-1].value(given) if _now.making else given


def created(variable: Any, given: Any) -> None:
    """Called for each new Variable."""
    graph = lifting_graph()
    if graph is not None:
        graph.variables.append(variable)
        graph._collect_variable(variable)
    elif _now.making and _holdfast.is_tracing():
        _now.making[-1].note(variable, given)
