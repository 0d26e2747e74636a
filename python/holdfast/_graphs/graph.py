"""`tf.Graph`: ops written down by hand, for sessions to run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from .. import _holdfast
from .._devices.device import device
from .._messages.contexts import contextmanager
from .._messages.diagnostics import mark
from ..errors import fail, unsupported
from .collections import Collections, GraphKeys
from .control import ordered
from .graph_def import GraphDef
from .name_scope import name_scope
from .operation import Operation, operation_of
from .watch import colocated, gradients_replaced, placed_by

__all__ = [
    "Graph",
    "GraphKeys",
    "eager_outside_functions",
    "get_default_graph",
    "graph_around",
    "operation_called",
    "reset_default_graph",
    "set_eager_execution",
    "tensor_called",
    "variable_scope_prefix",
]


class _Prefix(threading.local):
    """What names of a graph begin with on this thread while it is not the default."""

    def __init__(self) -> None:
        self.now = ""


class _Watchers(threading.local):
    """What is called with each op that this thread adds, innermost first."""

    def __init__(self) -> None:
        self.now: list[Any] = []


class _Colocated(threading.local):
    """The groups that ops of this thread join."""

    def __init__(self) -> None:
        self.now: list[bytes] = []


def _identity(tensor: Any) -> Any:
    return tensor.name if tensor._symbolic else tensor._id


def _nothing_called(kind: str, name: str, known: list[str]) -> KeyError:
    import difflib

    close = difflib.get_close_matches(name, known, 1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    return KeyError(f"this graph has no {kind} called {name!r}{meant}")


def operation_called(graph: Any, name: str) -> Operation:
    """The operation of a graph called `name`; KeyError if there is none."""
    if not isinstance(name, str):
        fail("E1104", f"`name` is of type {type(name).__name__}, expected the name of an operation")
    node = graph._find(name)
    if node is None:
        raise _nothing_called("operation", name, [n.name for n in graph._nodes()])
    return operation_of(node)


def tensor_called(graph: Any, name: str) -> Any:
    """The tensor of a graph called `name`, such as "loss:0"; KeyError if there is none."""
    if not isinstance(name, str):
        fail("E1104", f"`name` is of type {type(name).__name__}, expected the name of a tensor")
    op, colon, output = name.rpartition(":")
    if not colon or not output.isdigit():
        raise ValueError(
            f"{name!r} names an operation; its tensors are '{name}:0' and so on, with the number "
            "of the output after a colon"
        )
    node = graph._find(op)
    if node is None:
        raise _nothing_called("tensor", name, [f"{n.name}:0" for n in graph._nodes()])
    outputs = node.outputs()
    if int(output) >= len(outputs):
        count = "1 output" if len(outputs) == 1 else f"{len(outputs)} outputs"
        raise KeyError(f"this graph has no tensor {name!r}: the operation {op!r} has {count}")
    return outputs[int(output)]


class Graph(Collections, _holdfast.GraphBase):
    """Ops written down. While it is the default, calling an op adds a node and runs nothing."""

    _lifts_variables = False  # whether variables that are made in it are eager ones
    _keeper: Any  # of the Python code that it calls

    def __init__(self) -> None:
        super().__init__()
        self._begin()
        at = mark()
        names = at.names().assigned_names if at else ()
        self._open(names[0] if names else "graph")

    def _begin(self) -> None:
        self._operations: dict[int, Operation] = {}
        self._store: Any = None  # what `get_variable` made
        self._made_before: set[str] = set()  # of it, by code that is now written down again
        self._scopes: Any = None  # the variable scopes in force, of each thread
        self._colocated = _Colocated()
        self._prefix = _Prefix()
        self._watchers = _Watchers()
        self._groups: dict[int, list[bytes]] = {}  # of ops that are to be where another one is
        self._closed: set[tuple[str, Any]] = set()  # what may not be fed or fetched

    @classmethod
    def _revived(cls) -> Graph:
        """One for a graph of which only tensors were left; its collections are gone."""
        made = cls.__new__(cls)
        _holdfast.GraphBase.__init__(made)
        made._begin()
        return made

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Makes it the graph that this thread's ops go to."""
        around: Graph | None = _holdfast.current_graph()
        if around is self:
            entered = self._enter()
            try:
                yield self
            finally:
                entered.close()
            return
        # Each graph has its own name scopes on each thread, which go on when it is entered again.
        before = ""
        if around is not None:
            before, around._prefix.now = around._prefix.now, _holdfast.get_name_scope()
        entered = self._enter()
        try:
            _holdfast.set_name_scope(self._prefix.now)
            yield self
        finally:
            entered.close()
            if around is not None:
                around._prefix.now = before

    def _stands_for(self, scope: int) -> bool:
        """Whether messages that speak of this scope speak of the graph."""
        return bool(self._scope == scope)

    @property
    def finalized(self) -> bool:
        """Whether it takes no more ops."""
        return bool(self._finalized)

    def finalize(self) -> None:
        """Lets nobody add an op any more."""
        self._finalize()

    def switch_to_thread_local(self) -> None:
        """Changes nothing: scopes of devices, names and control are each thread's own already."""

    @property
    def version(self) -> int:
        """Grows with each op."""
        return int(self._size())

    @property
    def building_function(self) -> bool:
        """False: functions have graphs of their own."""
        return False

    @property
    def seed(self) -> int | None:
        """The seed of random ops that name none; None: their numbers differ from run to run."""
        found: int | None = self._seed()
        return found

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._set_seed(seed)

    # Looking things up.

    def get_operations(self) -> list[Operation]:
        """Every operation, in the order they were added."""
        return [operation_of(node) for node in self._nodes()]

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation called `name`; KeyError if there is none."""
        return operation_called(self, name)

    def get_tensor_by_name(self, name: str) -> Any:
        """The tensor called `name`, such as "loss:0"; KeyError if there is none."""
        return tensor_called(self, name)

    # What sessions may do with it.

    def prevent_feeding(self, tensor: Any) -> None:
        """Lets no session feed a tensor."""
        self._closed.add(("feed", _identity(tensor)))

    def is_feedable(self, tensor: Any) -> bool:
        """Whether a session may feed it."""
        return ("feed", _identity(tensor)) not in self._closed

    def prevent_fetching(self, op: Any) -> None:
        """Lets no session fetch an operation or its tensors."""
        self._closed.add(("fetch", op.name))

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether a session may fetch it."""
        op = tensor_or_op if isinstance(tensor_or_op, Operation) else tensor_or_op.op
        return ("fetch", op.name) not in self._closed

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
        if element is not None:
            return self.as_graph_element(element(), allow_tensor, allow_operation)
        kinds = ((_holdfast.Tensor, allow_tensor), (Operation, allow_operation))
        if not any(allowed and isinstance(obj, kind) for kind, allowed in kinds):
            wanted = " or ".join(kind.__name__ for kind, allowed in kinds if allowed)
            fail("E1104", f"`obj` is of type {type(obj).__name__}, expected {wanted}")
        if obj.graph is not self:
            raise ValueError(f"`{obj.name}` belongs to another graph than this one")
        return obj

    # Scopes.

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """A context in which names of this graph begin with `name/`, on this thread."""
        if _holdfast.current_graph() is self:
            with name_scope(name or "") as scope:
                yield scope
            return
        with self.as_default(), name_scope(name or "") as scope:
            pass
        before, self._prefix.now = self._prefix.now, scope
        try:
            yield scope
        finally:
            self._prefix.now = before

    def control_dependencies(self, control_inputs: Any) -> Any:
        """A context in which each new op runs after `control_inputs`."""
        return ordered(self, control_inputs)

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """A context in which ops are placed on a device, or where `function(op)` says."""
        if callable(device_name_or_function):
            with placed_by(self, device_name_or_function):
                yield
            return
        with device(device_name_or_function):
            yield

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """A context in which variables share their names with those of the same container only."""
        if not isinstance(container_name, str):
            kind = type(container_name).__name__
            fail("E1104", f"`container_name` is of type {kind}, expected a string")
        before = self._set_container(container_name)
        try:
            yield container_name
        finally:
            self._set_container(before)

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """A context in which ops are placed where `op` is; None: wherever they want."""
        return colocated(self, op, ignore_existing)

    def gradient_override_map(self, op_type_map: Any) -> Any:
        """A context in which ops of some types have gradients of `tf.RegisterGradient`."""
        return gradients_replaced(self, op_type_map)

    def get_name_scope(self) -> str:
        """The prefix that names have now, without its last slash."""
        here = _holdfast.current_graph() is self
        return str(_holdfast.get_name_scope() if here else self._prefix.now).removesuffix("/")

    def create_op(
        self,
        op_type: str,
        inputs: Any,
        dtypes: Any = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: Any = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Adds an op of a type by hand. What it gives follows from what it takes."""
        from .create import created

        return created(self, op_type, list(inputs), dtypes, name, attrs or {})

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` below the scope in force, with a number if it is taken."""
        here = _holdfast.current_graph() is self
        whole = (_holdfast.get_name_scope() if here else self._prefix.now) + name
        return str(self._unique_name(whole) if mark_as_used else self._free_name(whole))

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
    current: Graph | None = _holdfast.root_graph()
    if current is not None:
        return current
    if _default is None:
        _default = _own_graph()
    return _default


def graph_around() -> Graph | None:
    """The graph of which a branch or a body is being written; None in the graph itself."""
    found: Graph | None = _holdfast.root_graph()
    return found if _holdfast.current_graph() is None else None


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


def variable_scope_prefix() -> str:
    """The variable scope that is open, with a slash: what is kept gets its name below it."""
    graph: Graph | None = _holdfast.current_graph()
    name = "" if graph is None or graph._scopes is None else graph._scopes.current().name
    return f"{name}/" if name else ""
