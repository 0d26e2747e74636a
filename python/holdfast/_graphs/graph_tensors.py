"""What tensors of a graph have and eager ones have not: a name, an operation, consumers, `eval`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._tensors.tensor import Tensor, Undefined
from .default_session import value_of
from .operation import operation_of

__all__ = ["attach"]


class _OfGraphs(Undefined):
    """An attribute that only tensors of graphs have: what `find` finds there."""

    def __init__(self, name: str, find: Callable[[Any], Any]) -> None:
        super().__init__(name)
        self.find = find

    def __get__(self, tensor: Any, kind: Any = None) -> Any:
        if tensor is None or not tensor._symbolic:
            return super().__get__(tensor, kind)
        found = self.find(tensor)
        return super().__get__(tensor, kind) if found is None else found


def _name(tensor: Any) -> str:
    node, output = _place(tensor, "node"), _place(tensor, "output")
    # Symbols of models go by their layers' names, as in Keras.
    if output == 0 and _holdfast.is_model_symbol(tensor):
        return str(node)
    return f"{node}:{output}"


def _op(tensor: Any) -> Any:
    node = _holdfast.node_of(tensor)
    return None if node is None else operation_of(node)


def _graph(tensor: Any) -> Any:
    return _op(tensor).graph


def _consumers(self: Any) -> list[Any]:
    """The operations that take it."""
    op = _op(self)
    if op is None:
        raise NotImplementedError("an eager tensor has no `consumers`: only those of a graph do")
    return [other for other in op.graph.get_operations() if any(t == self for t in other.inputs)]


def _place(tensor: Any, part: str) -> Any:
    return _holdfast.scope_of(tensor)[part]


def _eval(self: Any, feed_dict: Any = None, session: Any = None) -> Any:
    """The value in `session`, else in the default one. Not for eager tensors."""
    if self._symbolic:
        return value_of(self, feed_dict, session)
    raise NotImplementedError(
        "`eval` asks a session for the value of a graph's tensor; an eager one has its value: "
        "`.numpy()`"
    )


def attach() -> None:
    """Puts all of this onto the Tensor type."""
    setattr(Tensor, "eval", _eval)  # noqa: B010
    setattr(Tensor, "consumers", _consumers)  # noqa: B010
    for name, find in {
        "name": _name,
        "op": _op,
        "graph": _graph,
        "value_index": lambda t: _place(t, "output"),
    }.items():
        setattr(Tensor, name, _OfGraphs(name, find))
