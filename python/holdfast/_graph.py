"""`tf.Graph`: ops written down by hand, for sessions to run."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from . import _holdfast
from ._diagnostics import mark
from ._graph_def import GraphDef
from .errors import fail, unsupported

__all__ = [
    "Graph",
    "GraphKeys",
    "Operation",
    "eager_outside_functions",
    "get_default_graph",
    "operation_of",
    "reset_default_graph",
    "set_eager_execution",
]


class GraphKeys:
    """The names of the collections that functions fill by themselves."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


class Operation:
    """A node of a graph."""

    def __init__(self, node: Any) -> None:
        if not isinstance(node, _holdfast.Node):
            raise TypeError("an Operation is a node of a graph: call an op under `as_default`")
        self._node = node

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
    def graph(self) -> Graph:
        """The graph it is part of."""
        graph: Graph = self._node.graph
        return graph

    @property
    def device(self) -> str:
        """Where it was asked to run, "" if nobody asked."""
        return str(self._node.device)

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
        from ._session import session_for

        session_for(session, "run", self.name).run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


def operation_of(node: Any) -> Operation:
    """The Operation of a node, the same object every time."""
    known = node.graph._operations
    found: Operation | None = known.get(node.id)
    if found is None:
        found = known[node.id] = Operation(node)
    return found


def _nothing_called(kind: str, name: str, known: list[str]) -> KeyError:
    import difflib

    close = difflib.get_close_matches(name, known, 1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    return KeyError(f"this graph has no {kind} called {name!r}{meant}")


class Graph(_holdfast.GraphBase):
    """Ops written down. While it is the default, calling an op adds a node and runs nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._begin()
        at = mark()
        names = at.names().assigned_names if at else ()
        self._open(names[0] if names else "graph")

    def _begin(self) -> None:
        self._collections: dict[Any, list[Any]] = {}
        self._operations: dict[int, Operation] = {}
        self._variables: dict[str, Any] = {}  # what `get_variable` made
        self._made_before: set[str] = set()  # of it, by code that is now written down again
        self._variable_scope: Any = None
        self._used_scopes: dict[str, int] = {}
        self.seed: int | None = None

    @classmethod
    def _revived(cls) -> Graph:
        """One for a graph of which only tensors were left; its collections are gone."""
        made = cls.__new__(cls)
        _holdfast.GraphBase.__init__(made)
        made._begin()
        return made

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Makes it the graph that this thread's ops go to."""
        entered = self._enter()
        try:
            yield self
        finally:
            entered.close()

    @property
    def finalized(self) -> bool:
        """Whether it takes no more ops."""
        return bool(self._finalized)

    def finalize(self) -> None:
        """Lets nobody add an op any more."""
        self._finalize()

    @property
    def version(self) -> int:
        """Grows with each op."""
        return int(self._size())

    @property
    def building_function(self) -> bool:
        """False: functions have graphs of their own."""
        return False

    # Looking things up.

    def get_operations(self) -> list[Operation]:
        """Every operation, in the order they were added."""
        return [operation_of(node) for node in self._nodes()]

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation called `name`; KeyError if there is none."""
        if not isinstance(name, str):
            fail(
                "E1104",
                f"`name` is of type {type(name).__name__}, expected the name of an operation",
            )
        node = self._find(name)
        if node is None:
            raise _nothing_called("operation", name, [n.name for n in self._nodes()])
        return operation_of(node)

    def get_tensor_by_name(self, name: str) -> Any:
        """The tensor called `name`, such as "loss:0"; KeyError if there is none."""
        if not isinstance(name, str):
            fail("E1104", f"`name` is of type {type(name).__name__}, expected the name of a tensor")
        op, colon, output = name.rpartition(":")
        if not colon or not output.isdigit():
            raise ValueError(
                f"{name!r} names an operation; its tensors are '{name}:0' and so on, with the "
                "number of the output after a colon"
            )
        node = self._find(op)
        if node is None:
            known = [f"{n.name}:0" for n in self._nodes()]
            raise _nothing_called("tensor", name, known)
        outputs = node.outputs()
        if int(output) >= len(outputs):
            count = "1 output" if len(outputs) == 1 else f"{len(outputs)} outputs"
            raise KeyError(f"this graph has no tensor {name!r}: the operation {op!r} has {count}")
        return outputs[int(output)]

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """A tensor or an operation of this graph, given as itself or by its name."""
        if isinstance(obj, str):
            if ":" in obj and allow_tensor:
                return self.get_tensor_by_name(obj)
            if allow_operation:
                return self.get_operation_by_name(obj)
            raise ValueError(f"{obj!r} names an operation, expected a tensor such as '{obj}:0'")
        element = getattr(obj, "_as_graph_element", None)
        obj = element() if element is not None else obj
        kinds = ((_holdfast.Tensor, allow_tensor), (Operation, allow_operation))
        if not any(allowed and isinstance(obj, kind) for kind, allowed in kinds):
            wanted = " or ".join(kind.__name__ for kind, allowed in kinds if allowed)
            fail("E1104", f"`obj` is of type {type(obj).__name__}, expected {wanted}")
        if obj.graph is not self:
            raise ValueError(f"`{obj.name}` belongs to another graph than this one")
        return obj

    # Collections.

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Appends to a collection."""
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Appends to several."""
        for name in dict.fromkeys([names] if isinstance(names, str) else names):
            self.add_to_collection(name, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """What a collection holds; `scope`: only what has a name that begins like this."""
        found = list(self._collections.get(name, ()))
        if scope is None:
            return found
        fits = re.compile(scope).match
        return [value for value in found if hasattr(value, "name") and fits(value.name)]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection itself: changing the list changes it."""
        return self._collections.setdefault(name, [])

    def get_all_collection_keys(self) -> list[Any]:
        """The names of collections that hold something."""
        return [name for name, held in self._collections.items() if held]

    @property
    def collections(self) -> list[Any]:
        """The names of collections."""
        return list(self._collections)

    def clear_collection(self, name: Any) -> None:
        """Empties a collection."""
        self._collections.pop(name, None)

    # Scopes.

    def name_scope(self, name: str | None) -> Any:
        """A context in which names of this graph begin with `name/`."""
        from ._name_scope import name_scope

        return name_scope(name or "")

    def control_dependencies(self, control_inputs: Any) -> Any:
        """A context in which each new op runs after `control_inputs`."""
        from ._graph_control import ordered

        return ordered(self, control_inputs)

    @contextlib.contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """A context in which ops are placed on a device."""
        from ._device import device

        with device(device_name_or_function):
            yield

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` below the scope in force, with a number if it is taken."""
        if not mark_as_used:
            unsupported(
                "`Graph.unique_name(mark_as_used=False)` is not supported",
                "a name that was given out is taken",
                fix="leave `mark_as_used` out",
            )
        return str(self._unique_name(_holdfast.get_name_scope() + name))

    # Other forms.

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> GraphDef:
        """The graph in TensorFlow's format. Shapes are always part of it."""
        if from_version is not None:
            unsupported(
                "`as_graph_def(from_version=...)` is not supported",
                "the whole graph is written",
                fix="leave `from_version` out",
            )
        return GraphDef(self._graph_def())

    def as_text(self) -> str:
        """The graph as text that `from_text` reads; values of variables are no part of it."""
        return str(self._text())

    @classmethod
    def from_text(cls, text: str) -> Graph:
        """The graph that a text of `as_text` describes. Its collections are empty."""
        made = cls._revived()
        made._read(text, "")
        return made

    def __repr__(self) -> str:
        return f"<tf.Graph {self._scope_name}: {self._size()} operations>"


_holdfast.set_graph_class(Graph)

_default: Graph | None = None  # the graph of programs that make none
_installed = False  # whether ops go there by themselves: eager execution is off


def get_default_graph() -> Graph:
    """The graph that this thread's ops go to; in eager code the program's own one."""
    global _default
    current: Graph | None = _holdfast.current_graph()
    if current is None:
        current = _holdfast.graph_around()
    if current is not None:
        return current
    if _default is None:
        _default = _own_graph()
    return _default


def _own_graph() -> Graph:
    """A graph that nobody made by hand, and that no line of the program names."""
    made = Graph._revived()
    made._open("default graph")
    return made


def reset_default_graph() -> None:
    """Begins a new graph as the program's own one."""
    global _default
    current = _holdfast.current_graph()
    if current is not None and current is not _default:
        raise AssertionError(
            "`reset_default_graph` begins the program's own graph again, and here another is the "
            "default: leave its `with` first"
        )
    fresh = _own_graph()
    if _installed:
        fresh._install(True)
    _default = fresh


def set_eager_execution(on: bool) -> None:
    """Whether ops run at once, or go to the program's own graph."""
    global _installed
    if on == (not _installed):
        return
    if on:
        if _default is not None:
            _default._install(False)
    else:
        get_default_graph()._install(True)
    _installed = not on


def eager_outside_functions() -> bool:
    """Whether ops run at once where no function is traced and no graph is the default."""
    return not _installed and _holdfast.current_graph() is None
