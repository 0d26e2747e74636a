"""What runs before what in a graph: control dependencies, groups, ops that do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import _holdfast
from .._messages.contexts import contextmanager
from .._structures import nesting
from .._tensors import registry
from .operation import Operation, nodes_of, operation_of

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["after", "graph_for", "grouped", "is_value", "newest", "ordered"]


def graph_for(values: Any) -> Graph | None:
    """The graph that is the default, else the one that some of `values` belong to."""
    current: Graph | None = _holdfast.current_graph()
    if current is not None or _holdfast.is_tracing():
        return current
    for value in values:
        found: Graph | None = None
        if isinstance(value, Operation):
            found = value._node.graph
        elif isinstance(value, _holdfast.VariableBase):
            found = getattr(value, "_python_graph", None)
        elif isinstance(value, _holdfast.Tensor):
            found = _holdfast.graph_of(value)
        if found is not None:
            return found
    return None


@contextmanager
def ordered(graph: Graph, control_inputs: Any) -> Iterator[None]:
    """What is added to `graph` in here runs after `control_inputs`; None: after nothing."""
    inputs = [] if control_inputs is None else nesting.flatten(control_inputs)
    inputs = [part() if callable(part) and not is_value(part) else part for part in inputs]
    graph._push_control(nodes_of(inputs), control_inputs is None)
    try:
        yield
    finally:
        graph._pop_control()


def is_value(part: Any) -> bool:
    """Whether a control input is there already, and no function that makes one."""
    return isinstance(part, (_holdfast.Tensor, _holdfast.VariableBase, Operation))


def grouped(graph: Graph, inputs: Any, name: str) -> Operation:
    """An operation that has run when all of `inputs` have."""
    return operation_of(graph._group(nodes_of(inputs), name))


def newest(values: Any) -> Operation | None:
    """The operation added last to the graph of `values`; None where none is written by hand."""
    graph = graph_for(values)
    return None if graph is None else operation_of(graph._nodes()[-1])


def after(operation: Operation | None, tensor: Any) -> Any:
    """`tensor`, which in a graph by hand is there once `operation` has run."""
    if operation is None:
        return tensor
    with operation.graph.as_default(), ordered(operation.graph, [operation]):
        return registry.function("identity")(tensor)
