"""Variables that are made while a function is traced: Python tells the library of them.

What becomes of them is decided there (`holdfast/exec/creations.h`).
"""

from __future__ import annotations

import contextlib
from typing import Any

from .. import _holdfast
from .._graphs.init_scope import init_scope
from .._tensors.symbols import is_symbol

__all__ = ["created", "lifting_graph", "scope", "starting_value"]


def lifting_graph() -> Any:
    """The graph that is written, if variables which are made in it are eager ones."""
    graph = _holdfast.root_graph()
    return graph if graph is not None and graph._lifts_variables else None


def scope() -> Any:
    """Where a callable initial value runs: outside of a trace, so that it has a value."""
    lifted = _holdfast.creates_in_trace() or lifting_graph() is not None
    return init_scope() if lifted else contextlib.nullcontext()


def starting_value(given: Any) -> Any:
    """The value of an initial value, which may be a symbol."""
    if not is_symbol(given):
        return given
    graph = lifting_graph()
    if graph is not None:
        return graph.value_of(given)
    return _holdfast.starting_value(given)


def created(variable: Any, given: Any) -> None:
    """Called for each new Variable."""
    graph = lifting_graph()
    if graph is not None:
        graph.variables.append(variable)
        graph._collect_variable(variable)
    else:
        _holdfast.note_created(variable, given)
