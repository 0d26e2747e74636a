"""What a graph does with each op as it is added: places it, and gives it another gradient."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _holdfast
from .._devices.device import parse_device
from .._devices.spec import DeviceSpec
from .._messages.contexts import contextmanager
from ..errors import fail
from .operation import Operation, operation_of

if TYPE_CHECKING:
    from .graph import Graph

__all__ = [
    "NAMES",
    "RegisterGradient",
    "colocate_with",
    "colocated",
    "container",
    "gradients_replaced",
    "no_gradient",
    "placed_by",
    "watched",
]


@contextmanager
def watched(graph: Graph, watch: Callable[[Any], None]) -> Iterator[None]:
    """What is added to `graph` in here is shown to `watch`, each op as it is added."""
    graph._push_watcher(watch)
    graph._watchers.now.insert(0, watch)
    try:
        yield
    finally:
        graph._watchers.now.pop(0)
        graph._pop_watcher()


# Where ops run.


@contextmanager
def placed_by(graph: Graph, function: Callable[[Any], Any]) -> Iterator[None]:
    """What is added to `graph` in here runs where `function(op)` says."""

    def place(node: Any) -> None:
        wanted = function(operation_of(node))
        if isinstance(wanted, DeviceSpec):
            wanted = wanted.to_string()
        if wanted is not None and not isinstance(wanted, str):
            kind = type(wanted).__name__
            fail("E1104", f"a device function gave a {kind}, expected the name of a device")
        if wanted:
            there = {(d["kind"], d["index"]) for d in _holdfast.devices()}
            place = parse_device(wanted)
            node.set_device(*(place if place in there else ("CPU", 0)))

    with watched(graph, place):
        yield


@contextmanager
def colocated(graph: Graph, op: Any, ignore_existing: bool = False) -> Iterator[None]:
    """What is added to `graph` in here runs where `op` does; None: wherever it wants."""
    if op is None and not ignore_existing:
        raise ValueError("`colocate_with` of None begins anew: give `ignore_existing=True`")
    before = graph._colocated.now
    target = None if op is None else _operation(graph, op)
    groups = [] if ignore_existing else list(before)
    if target is not None:
        groups += [g for g in target.colocation_groups() if g not in groups]

    def note(node: Any) -> None:
        if groups and graph._colocated.now is groups:
            graph._groups[node.id] = sorted(groups)

    device = None if target is None else target._node
    graph._colocated.now = groups
    try:
        with _placed_as(graph, device), watched(graph, note):
            yield
    finally:
        graph._colocated.now = before


@contextmanager
def _placed_as(graph: Graph, node: Any) -> Iterator[None]:
    name = node.device if node is not None else ""
    with graph.device(name or None) if name or node is None else contextlib.nullcontext():
        yield


def _operation(graph: Graph, op: Any) -> Operation:
    element = getattr(op, "_as_graph_element", None)
    if isinstance(op, _holdfast.Tensor) or (element is not None and hasattr(op, "op")):
        op = op.op
    if not isinstance(op, Operation):
        kind = type(op).__name__
        fail("E1104", f"`colocate_with` got a {kind}, expected an operation or a tensor")
    return op


# Gradients of the program's own.

_gradients: dict[str, Callable[..., Any] | None] = {}


class RegisterGradient:
    """Decorates `function(op, *grads)` as the gradient `op_type`, for `gradient_override_map`."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            fail("E1104", f"`op_type` is of type {type(op_type).__name__}, expected a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Registers it."""
        if self._op_type in _gradients or _holdfast.raw_op_record(self._op_type) is not None:
            raise KeyError(f"there is a gradient `{self._op_type}` already: choose another name")
        _gradients[self._op_type] = f
        return f


def no_gradient(op_type: str) -> None:
    """Registers `op_type` as a gradient that there is none of."""
    if not isinstance(op_type, str):
        fail("E1104", f"`op_type` is of type {type(op_type).__name__}, expected a string")
    _gradients[op_type] = None


@contextmanager
def gradients_replaced(graph: Graph, op_type_map: Mapping[str, str]) -> Iterator[None]:
    """Ops of these types that are added to `graph` in here have the gradients of those names."""
    if not isinstance(op_type_map, dict):
        kind = type(op_type_map).__name__
        fail("E1104", f"`op_type_map` is of type {kind}, expected a dict from ops to gradients")
    for op_type, name in op_type_map.items():
        if not isinstance(op_type, str) or not isinstance(name, str):
            fail("E1104", "`op_type_map` has what is no string, expected names")

    def replace(node: Any) -> None:
        name = op_type_map.get(node.type)
        if name is None or not node.outputs():
            return
        if name not in _gradients:
            raise LookupError(
                f"`gradient_override_map` names the gradient `{name}`, and nobody registered one "
                "with `tf.RegisterGradient`"
            )
        _record(operation_of(node), name)

    with watched(graph, replace):
        yield


def _record(op: Operation, name: str) -> None:
    function = _gradients[name]

    def backward(upstream: Sequence[Any]) -> list[Any]:
        if function is None:
            return [None] * len(op.inputs)
        found = function(op, *upstream)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    _holdfast.record_custom(name, list(op.inputs), op.outputs, backward)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """A context in which ops of the default graph are placed where `op` is."""
    graph = _holdfast.current_graph()
    if graph is None:
        return contextlib.nullcontext()  # what runs at once is where its values are
    return graph.colocate_with(op, ignore_existing)


def container(container_name: str) -> Any:
    """A context in which variables of the default graph belong to a container."""
    graph = _holdfast.current_graph()
    if graph is None:
        return contextlib.nullcontext(container_name)  # eager variables share nothing by name
    return graph.container(container_name)


NAMES: dict[str, Any] = {
    "RegisterGradient": RegisterGradient,
    "no_gradient": no_gradient,
}
