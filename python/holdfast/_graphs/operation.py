"""`tf.Operation`: a node of a graph that is written by hand."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from ..errors import fail, unsupported
from .default_session import session_for

__all__ = ["Operation", "named", "nodes_of", "operation_of", "set_function_graphs"]


_function_graph_of: Callable[[int], Any]


def set_function_graphs(find: Callable[[int], Any]) -> None:
    """Says who knows the graph of a function by its scope; that file stands above this one."""
    global _function_graph_of
    _function_graph_of = find


def named(name: str | None, make: Callable[[], Any]) -> Any:
    """What `make` gives, whose next op has the name."""
    _holdfast.set_op_name(name or "")
    try:
        return make()
    finally:
        _holdfast.set_op_name("")


class Operation:
    """A node of a graph."""

    def __init__(self, node: Any) -> None:
        if not isinstance(node, _holdfast.Node):
            raise TypeError("an Operation is a node of a graph: call an op under `as_default`")
        self._node: Any = node
        self._keeper: Any = node.keeper  # of the Python code that its graph calls

    @property
    def name(self) -> str:
        """Its name, unique in the graph."""
        return str(self._node.name)

    @property
    def type(self) -> str:
        """The op it runs."""
        return str(self._node.type)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The tensors it takes."""
        return tuple(self._node.inputs())

    @property
    def outputs(self) -> list[Any]:
        """The tensors it gives."""
        return list(self._node.outputs())

    @property
    def control_inputs(self) -> list[Operation]:
        """Operations that run before it, though it takes nothing of theirs."""
        return [operation_of(node) for node in self._node.control_inputs()]

    @property
    def graph(self) -> Any:
        """The graph it is part of; None if that was a function's, of which nothing else is left."""
        if self._node.graph is not None:
            return self._node.graph
        return _function_graph_of(self._node.scope)

    @property
    def device(self) -> str:
        """Where it was asked to run, "" if nobody asked."""
        return str(self._node.device).removeprefix("/job:localhost/replica:0/task:0")

    def colocation_groups(self) -> list[bytes]:
        """The groups of ops that are to be in one place; each op is one of its own."""
        graph = self._node.graph
        groups: list[bytes] = [] if graph is None else graph._groups.get(self._node.id, [])
        return groups or [b"loc:@" + self.name.encode()]

    def _add_control_inputs(self, ops: Any) -> None:
        """Lets it run after these too."""
        self._need_open()
        before = [op._node for op in self.control_inputs]
        known = {node.id for node in before}
        self._node.set_after([*before, *(n for n in nodes_of(ops) if n.id not in known)])

    def _add_control_input(self, op: Any) -> None:
        """Lets it run after that too."""
        self._add_control_inputs([op])

    def _remove_all_control_inputs(self) -> None:
        """Lets it wait for nothing but its inputs."""
        self._need_open()
        self._node.set_after([])

    def _need_open(self) -> None:
        if self._node.graph is None:
            unsupported(
                f"`{self.name}` is part of a traced function, whose order can't be changed",
                "effects of a function run in the order of its code",
                fix="use `tf.control_dependencies`, or a graph of your own",
            )

    @property
    def op_def(self) -> Any:
        """What the op takes and gives, by name."""
        return OpDef(self)

    @property
    def node_def(self) -> Any:
        """The node as TensorFlow's format has it."""
        return next(n for n in self.graph.as_graph_def().node if n.name == self.name)

    def values(self) -> tuple[Any, ...]:
        """The tensors it gives."""
        return tuple(self.outputs)

    def get_attr(self, name: str) -> Any:
        """An attribute. Text is bytes, as in TensorFlow."""
        return self._node.attr(name)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs it in `session`, else in the default one."""
        session_for(session, "run", self.name).run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


class _Argument:
    """One tensor that an op takes or gives."""

    def __init__(self, name: str) -> None:
        self.name = name


class OpDef:
    """What an op takes and gives."""

    def __init__(self, op: Operation) -> None:
        record: dict[str, Any] | None = _holdfast.raw_op_record(op.type)
        takes = [f"input_{i}" for i, _ in enumerate(op.inputs)]
        gives = [f"output_{i}" for i, _ in enumerate(op.outputs)]
        if record is not None:
            takes, gives = [each["name"] for each in record["inputs"]], record["outputs"]
        self.name: str = op.type
        self.input_arg = [_Argument(name) for name in takes]
        self.output_arg = [_Argument(name) for name in gives]
        self.is_stateful: bool = record is None or bool(record["stateful"])


# Operations of functions, while somebody holds them: an operation keeps its node, so no other one
# has the same id meanwhile.
_of_functions: weakref.WeakValueDictionary[int, Operation] = weakref.WeakValueDictionary()


def operation_of(node: Any) -> Operation:
    """The Operation of a node, the same object every time."""
    known = _of_functions if node.graph is None else node.graph._operations
    found: Operation | None = known.get(node.id)
    if found is None:
        found = known[node.id] = Operation(node)
    return found


def nodes_of(values: Any) -> list[Any]:
    """The nodes of operations, tensors and variables. What has a value already needs none."""
    found = []
    for value in values:
        element = getattr(value, "_as_graph_element", None)
        if element is not None:
            # Waiting for a variable reads nothing: what changed it is what has to run.
            is_variable = isinstance(value, _holdfast.VariableBase)
            value = value.op if is_variable else element()
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
