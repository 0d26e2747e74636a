"""What runs before what in a graph: control dependencies, groups, ops that do nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .. import _holdfast, nest
from .._names import registry
from ..errors import fail
from .graph import Graph, Operation, operation_of

__all__ = ["after", "graph_for", "grouped", "is_value", "newest", "nodes_of", "ordered"]


def graph_for(values: Any) -> Graph | None:
    """The graph that is the default, else the one that some of `values` belong to."""
    current: Graph | None = _holdfast.current_graph()
    if current is not None or _holdfast.is_tracing():
        return current
    for value in values:
        found: Graph | None = None
        if isinstance(value, Operation):
            found = value._node.graph
        elif isinstance(value, _holdfast.Tensor):
            found = _holdfast.graph_of(value)
        if found is not None:
            return found
    return None


def nodes_of(values: Any) -> list[Any]:
    """The nodes of operations, tensors and variables. What has a value already needs none."""
    found = []
    for value in values:
        element = getattr(value, "_as_graph_element", None)
        value = element() if element is not None else value
        if isinstance(value, Operation):
            found.append(value._node)
        elif isinstance(value, _holdfast.Tensor):
            node = _holdfast.node_of(value)
            if node is not None:
                found.append(node)
        elif hasattr(value, "values") and hasattr(value, "indices"):
            found += nodes_of([value.values, value.indices])
        elif value is not None and not isinstance(value, _holdfast.VariableBase):
            fail(
                "E1104",
                f"a control input is of type {type(value).__name__}, which is nothing to run",
                "what has to run first is an operation, a tensor, a Variable or `IndexedSlices`",
            )
    # What a function does runs in the order of its code.
    return [node for node in found if node.graph is not None]


@contextlib.contextmanager
def ordered(graph: Graph, control_inputs: Any) -> Iterator[None]:
    """What is added to `graph` in here runs after `control_inputs`; None: after nothing."""
    inputs = [] if control_inputs is None else nest.flatten(control_inputs)
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
