"""`tf.compat.v1.name_scope`: a prefix of names, and the graph in which what it names is made."""

from __future__ import annotations

import contextlib
from typing import Any

from .. import _holdfast
from .._graphs.name_scope import name_scope
from .._graphs.operation import Operation

__all__ = ["v1_name_scope"]


class v1_name_scope:
    """`tf.compat.v1.name_scope`: a scope that may have a default name, in the graph of `values`."""

    def __init__(
        self, name: str | None, default_name: str | None = None, values: Any = None
    ) -> None:
        for given in (name, default_name):
            if not isinstance(given, (str, type(None))):
                raise TypeError(f"a scope's name is of type {type(given).__name__}, expected str")
        if name is None and default_name is None and values is not None:
            raise ValueError("`name_scope` got `values` and no name: give `name` or `default_name`")
        self._name, self._values = (default_name if name is None else name) or "", values

    @property
    def name(self) -> str:
        """The name, as given."""
        return self._name

    def __enter__(self) -> str:
        with contextlib.ExitStack() as entered:
            graph = _graph_of(self._values or ())
            if graph is not None:
                entered.enter_context(graph.as_default())
            scope = entered.enter_context(name_scope(self._name))
            self._exits = entered.pop_all()
        return scope

    def __exit__(self, *error: object) -> None:
        self._exits.close()


def _graph_of(values: Any) -> Any:
    """The one graph that all of `values` belong to, None where none does."""
    found: Any = None
    for value in values:
        element = getattr(value, "_as_graph_element", None)
        value = element() if element is not None else value
        graph = value.graph if isinstance(value, Operation) else None
        if isinstance(value, _holdfast.Tensor):
            graph = _holdfast.graph_of(value)
        if graph is not None and found is not None and graph is not found:
            raise ValueError(f"`values` belong to several graphs; `{value.name}` to another one")
        found = graph if found is None else found
    return found
