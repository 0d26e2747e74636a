"""Values that the program has already as tensors: in a graph by hand, nodes with a name."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .dtypes import as_dtype

__all__ = ["graph_outside", "node_of_constant", "plain_constant"]


class graph_outside:
    """Leaves the graph that is being written: what follows is computed at once."""

    def __enter__(self) -> None:
        self._entered = _holdfast.enter_eager()

    def __exit__(self, *_: object) -> None:
        self._entered.close()


def plain_constant(value: Any, dtype: Any = None, name: Any = "Const") -> Any:
    """A tensor that holds `value`, in the shape that it has."""
    kind = None if dtype is None else as_dtype(dtype)
    graph = _holdfast.current_graph()
    if graph is None:
        return _holdfast.constant(value, kind)
    with graph_outside():
        made = _holdfast.convert(value, kind)
    return node_of_constant(graph, made, name)


def node_of_constant(graph: Any, made: Any, name: Any) -> Any:
    """A tensor as a node of `graph`."""
    title = name.decode() if isinstance(name, bytes) else name
    return graph._constant(made, title or "Const")
