"""Variables of a graph: each session has a value of its own, set when it is first needed."""

from __future__ import annotations

import contextlib
from typing import Any, NoReturn

from .. import _holdfast
from .._graphs.default_session import session_for
from .._graphs.eager import control_dependencies
from .._graphs.graph import Graph
from .._graphs.init_scope import init_scope
from .._graphs.operation import Operation, operation_of
from .._graphs.watch import watched
from .._tensors import registry
from .._tensors.shape import TensorShape
from .._tensors.tensor import convert_to_tensor
from ..errors import fail, unsupported
from .graph_changes import changed
from .variable import Variable, loose

__all__ = ["GraphVariable"]


def _in_a_part() -> bool:
    """Whether a branch, a loop's body or a function is being written, and not a graph itself."""
    return _holdfast.is_tracing() and _holdfast.current_graph() is None


class GraphVariable(Variable):
    """What `tf.Variable` makes while a graph is the default."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        *rest: Any,
        collections: Any = None,
        use_resource: bool | None = None,
        expected_shape: Any = None,
        shape: Any = None,
        **options: Any,
    ) -> None:
        if self._made:
            del self._made
            return
        shape = shape if shape is not None else expected_shape
        if not validate_shape and shape is None:
            shape = TensorShape(None)
        options |= {"shape": shape, "collections": collections}
        with init_scope() if _in_a_part() else contextlib.nullcontext():
            super().__init__(initial_value, trainable, validate_shape, *rest, **options)

    _caching_device: Any = None
    _cached: Any = None  # what a run reads once, on that device

    def _cache_on(self, device: Any) -> None:
        self._caching_device = device

    def _set_up(
        self, initial_value: Any, dtype: Any, shape: Any, trainable: bool, name: str
    ) -> None:
        self._python_graph: Graph = _holdfast.current_graph()
        graph = self._python_graph
        around = _holdfast.get_name_scope()
        computed: list[Any] = []  # by a function that gives the initial value
        graph._push_control([], True)
        try:
            # Numbers become a constant `name/initial_value`; a function's ops go below the name.
            from_function = callable(initial_value)
            if from_function:
                _holdfast.set_name_scope(f"{around}{name}/Initializer/")
                with watched(graph, computed.append):
                    initial_value = initial_value()
                _holdfast.set_name_scope(around)
            value = initial_value
            if not isinstance(value, (_holdfast.Tensor, _holdfast.VariableBase)):
                value = _holdfast.convert_value(value, dtype, False)
            elif isinstance(value, _holdfast.VariableBase):
                value = value.read()
            self._make(value, trainable, name, loose(shape), True)
            self._static_shape = self._shape
            _holdfast.set_name_scope(f"{self._full_name}/Read/")
            self._snapshot = self.read_value()
            if self._caching_device is not None:
                with graph.colocate_with(None, True), graph.device(self._caching_device):
                    self._cached = registry.function("identity")(self._snapshot)
        finally:
            _holdfast.set_name_scope(around)
            graph._pop_control()
        if from_function:  # what a function computes for it is computed where it is
            group = self.op.colocation_groups()
            computed.append(self.initial_value.op._node)
            graph._groups |= {node.id: group for node in computed}
        graph._collect_variable(self)
        for watch in graph._watchers.now:
            watch(self.op._node)

    # What it is.

    def _as_graph_element(self) -> Any:
        return self._snapshot

    @property
    def graph(self) -> Graph:  # type: ignore[override]
        """The graph it is part of."""
        return self._python_graph

    @property
    def handle(self) -> Any:
        """The tensor that raw ops take in its place."""
        return self._handle_op.outputs[0]

    @property
    def _handle_op(self) -> Operation:
        return operation_of(self.graph._handle_of(self._handle))

    @property
    def op(self) -> Operation:  # type: ignore[override]
        """The operation that stands for it."""
        return self._handle_op

    @property
    def device(self) -> str:
        """Where it was asked to be, "" if nobody asked."""
        return str(self._snapshot.op.device)

    @property
    def initializer(self) -> Operation:  # type: ignore[override]
        """The operation that gives it its initial value."""
        return operation_of(self.graph._initializer_of(self._handle))

    @property
    def initial_value(self) -> Any:
        """The tensor that it begins with."""
        return self.graph._initial_of(self._handle)

    def value(self) -> Any:
        """The value: the cached one where there is a `caching_device`."""
        return super().value() if self._cached is None else self._cached

    def initialized_value(self) -> Any:
        """Its value: reading it is enough to initialise it."""
        return self.read()

    def is_initialized(self, name: str | None = None) -> Any:
        """Whether it has a value; reading it gives it its initial one."""
        return registry.raw_op("VarIsInitializedOp", resource=self, name=name or "IsInitialized")

    def numpy(self) -> NoReturn:
        """Of eager variables only."""
        fail(
            "E0203",
            f"`{self._full_name}` is a variable of a graph, and has no value outside of a session",
            "each session that runs the graph has a value of its own",
            fix="ask a session: `sess.run(variable)`",
            subject={"name": self._full_name, "born": self._born()},
        )

    def eval(self, session: Any = None) -> Any:
        """The value in `session`, else in the default one."""
        return session_for(session, "eval", self.name).run(self)

    def load(self, value: Any, session: Any = None) -> None:
        """Gives it another value in `session`, else in the default one."""
        given = _holdfast.convert_value(value, self.dtype, False)
        if not self.shape.is_compatible_with(given.shape):
            shapes = f"shape {given.shape}, expected {self.shape}"
            fail("E1102", f"`{self._full_name}` is given {shapes}")
        session_for(session, "load", self.name)._load(self, given)

    # Changing it: ops of the graph.

    def _changed(
        self, change: Any, value: Any, name: str | None, read_value: bool, kind: str
    ) -> Any:
        """Adds an op that changes it; itself after that, or the op."""
        # What a run reads once, it reads before it writes.
        with control_dependencies(self._read_first()):
            if _in_a_part():
                change(self._fitting(value))
                return self  # a branch or a body runs in the order in which it is written
            with self.graph.as_default():
                done = changed(self.graph, change, self._fitting(value), name)
                return self._after(self, done, name or kind) if read_value else done

    def _read_first(self) -> list[Any]:
        return [] if self._cached is None else [self._cached]

    @classmethod
    def _after(cls, variable: Variable, done: Operation, name: str) -> Any:
        """`variable` as it is once `done` has run."""
        return AssignedVariable._made_after(variable, done, name)

    def _assign_part(self, key: Any, value: Any, name: str | None = None) -> Any:
        def change(part: Any) -> None:
            self._assign_index(key, part)

        return self._changed(change, value, name, True, "strided_slice")

    def _scatter_rows(self, how: str, indices: Any, updates: Any) -> Any:
        op = f"Scatter{how.capitalize()}"

        def change(rows: Any) -> None:
            registry.raw_op(f"Resource{op}", resource=self, indices=indices, updates=rows)

        return self._changed(change, updates, None, True, op)

    def _scatter_nd(self, how: str, indices: Any, updates: Any) -> Any:
        op = f"ScatterNd{how.capitalize()}"

        def change(parts: Any) -> None:
            where = convert_to_tensor(indices)
            registry.raw_op(f"Resource{op}", ref=self, indices=where, updates=parts)

        return self._changed(change, updates, None, True, op)

    def _scatter_batches(self, indices: Any, updates: Any) -> Any:
        def change(rows: Any) -> None:
            self._batch_scatter_update(indices, rows)

        return self._changed(change, updates, None, True, "BatchScatterUpdate")

    def count_up_to(self, limit: int) -> NoReturn:
        """Not supported."""
        unsupported(
            "`count_up_to` of a graph's Variable is not supported",
            "a run cannot end in the middle of a graph",
            fix="count in Python, and use `assign_add`",
        )

    # As a Python value: an identity, so that it can be a key.

    def __eq__(self, other: object) -> Any:
        return self is other

    def __ne__(self, other: object) -> Any:
        return self is not other

    def __hash__(self) -> int:
        return id(self)

    def __iter__(self) -> NoReturn:
        raise TypeError("a graph's Variable is not iterable: it has no rows before a session runs")

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        raise NotImplementedError("a graph's variable has its values in sessions: no deep copy")

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError("a graph's variable has its values in sessions: no pickle")


class AssignedVariable(GraphVariable):
    """A variable of a graph as it is after a change: what `assign` gives there.

    Reading it or changing it again waits for that change. It is the same variable otherwise.
    """

    _done: Operation

    @classmethod
    def _made_after(cls, variable: Variable, done: Operation, name: str) -> AssignedVariable:
        made: AssignedVariable = _holdfast.VariableBase.__new__(cls)
        made._make_beside(variable)
        made._python_graph, made._done = done.graph, done
        made._static_shape = variable.shape
        made._synchronization, made._aggregation = variable.synchronization, variable.aggregation
        around = _holdfast.get_name_scope()
        _holdfast.set_name_scope(f"{around}{name}/")
        try:
            made._snapshot = made.value()
        finally:
            _holdfast.set_name_scope(around)
        return made

    @property
    def name(self) -> str:
        """The name of the operation that changes it."""
        return self._done.name

    @property
    def op(self) -> Operation:  # type: ignore[override]
        """The operation that changes it."""
        return self._done

    def value(self) -> Any:
        """The value after the change."""
        with control_dependencies([self._done]):
            return super().read_value()

    read_value = value

    def _read_first(self) -> list[Any]:
        return [self._done]

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self._full_name}:0' after '{self.name}' shape={self.shape} "
            f"dtype={self.dtype.name}>"
        )
