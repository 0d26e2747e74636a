"""The graph of a traced function, to look at: while it is traced, and when it is finished."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

from .. import _holdfast
from .._messages.contexts import contextmanager
from ..errors import unsupported
from .graph import Graph, get_default_graph, operation_called, tensor_called
from .graph_def import GraphDef
from .operation import Operation, operation_of

__all__ = ["FunctionGraph", "default_graph", "function_graph", "function_graph_of", "set_capture"]

_capture: Callable[..., Any]


def set_capture(capture: Callable[..., Any]) -> None:
    """Hands in how a trace writes down what its calls ask for."""
    global _capture
    _capture = capture


# Found by the scope that stands for the graph, while somebody holds it.
_known: weakref.WeakValueDictionary[int, FunctionGraph] = weakref.WeakValueDictionary()


class FunctionGraph:
    """The graph of a traced function. Ops join it only by being called while it is traced."""

    def __init__(self, traced: Any) -> None:
        self._interfaced = traced
        self._around = weakref.ref(get_default_graph())
        self._interface: Any = None  # what it takes and gives, once it is finished
        self._concrete: Any = None

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(self._interfaced.name)

    @property
    def building_function(self) -> bool:
        """True: it is a function's."""
        return True

    @property
    def finalized(self) -> bool:
        """Whether it takes no more ops: it is no longer traced."""
        return not self._interfaced.open

    @property
    def outer_graph(self) -> Graph:
        """The graph that was the default where it was traced; if that is gone, the present one."""
        return self._around() or get_default_graph()

    @property
    def inputs(self) -> list[Any]:
        """Its inputs as symbols: arguments, then captures."""
        return [*self._interfaced.inputs(), *(inner for _, inner in self._interfaced.captures())]

    @property
    def outputs(self) -> list[Any]:
        """Its outputs as symbols; none while it is traced."""
        return [] if self._interface is None else self._interface.output_symbols()

    @property
    def captures(self) -> list[tuple[Any, Any]]:
        """What it uses that is no argument: pairs of a tensor and the symbol that stands for it."""
        return list(self._interfaced.captures())

    @property
    def external_captures(self) -> list[Any]:
        """What it uses that is no argument."""
        return [outer for outer, _ in self._interfaced.captures()]

    @property
    def internal_captures(self) -> list[Any]:
        """The symbols that stand for what it uses and is no argument."""
        return [inner for _, inner in self._interfaced.captures()]

    @property
    def variables(self) -> tuple[Any, ...]:
        """The Variables it uses."""
        return () if self._concrete is None else tuple(self._concrete.variables())

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those that tapes watch."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def control_outputs(self) -> list[Operation]:
        """What runs at each call, whether or not somebody takes its results."""
        return [operation_of(node) for node in self._interfaced.effects()]

    @property
    def structured_outputs(self) -> Any:
        """What it gives, with symbols for tensors; None while it is traced."""
        return None if self._interface is None else self._interface.structured(self.outputs)

    @property
    def structured_input_signature(self) -> Any:
        """What it takes: specifications of positional arguments and of keywords."""
        return None if self._interface is None else self._interface.input_specs()

    def _nodes(self) -> list[Any]:
        return list(self._interfaced.nodes())

    def _find(self, name: str) -> Any:
        return next((node for node in self._interfaced.nodes() if node.name == name), None)

    def get_operations(self) -> list[Operation]:
        """Every operation, in the order they were added."""
        return [operation_of(node) for node in self._nodes()]

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation called `name`; KeyError if there is none."""
        return operation_called(self, name)

    def get_tensor_by_name(self, name: str) -> Any:
        """The tensor called `name`, such as "add:0"; KeyError if there is none."""
        return tensor_called(self, name)

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> GraphDef:
        """The graph in TensorFlow's format. Shapes are always part of it."""
        if from_version is not None:
            unsupported(
                "`as_graph_def(from_version=...)` is not supported",
                "the whole graph is written",
                fix="leave `from_version` out",
            )
        return GraphDef(self._interfaced.graph_def())

    def capture_call_time_value(
        self,
        closure: Callable[[], Any],
        spec: Any,
        key: Any = None,
        default_value: Any = None,
        placeholder: Any = None,
    ) -> Any:
        """A tensor that each call of the function gets from `closure()`.

        While the function is traced. With a `key`, a second one with it is the first one's.
        """
        for option, given in (("default_value", default_value), ("placeholder", placeholder)):
            if given is not None:
                unsupported(
                    f"`capture_call_time_value` with `{option}` is not supported",
                    "a call always asks the closure, and its value needs no symbol made before",
                    fix=f"leave `{option}` out",
                )
        return _capture(self, closure, spec, key)

    def as_text(self) -> str:
        """The graph as text."""
        return str(self._interfaced.text())

    @contextmanager
    def as_default(self) -> Iterator[FunctionGraph]:
        """While it is traced: nothing more, for its ops come here anyway."""
        if default_graph() is not self:
            unsupported(
                f"`as_default` of the graph of `{self.name}` outside of its trace is not supported",
                "ops join the graph of a function by being called while that is traced",
                fix=f"write what is to be added in `{self.name}` itself",
            )
        yield self

    # What a function shares with the graph around it.

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Appends to a collection, as the function sees it."""
        self.outer_graph.add_to_collection(name, value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Appends to several."""
        self.outer_graph.add_to_collections(names, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """What a collection holds."""
        return self.outer_graph.get_collection(name, scope)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection itself."""
        return self.outer_graph.get_collection_ref(name)

    def get_all_collection_keys(self) -> list[Any]:
        """The names of collections that hold something."""
        return self.outer_graph.get_all_collection_keys()

    def clear_collection(self, name: Any) -> None:
        """Empties a collection."""
        self.outer_graph.clear_collection(name)

    def get_name_scope(self) -> str:
        """The prefix that names have now, without its last slash."""
        return str(_holdfast.get_name_scope()).removesuffix("/") if self._interfaced.open else ""

    def __repr__(self) -> str:
        return f"<graph of {self.name}>"


def _of(traced: Any) -> FunctionGraph:
    found = _known.get(traced.scope)
    if found is None:
        found = _known[traced.scope] = FunctionGraph(traced)
    return found


def function_graph(concrete: Any, interface: Any) -> FunctionGraph:
    """The graph of a finished trace, the same for as long as somebody holds it."""
    found = _of(_holdfast.traced_graph_of(concrete))
    if found._interface is None:
        found._concrete, found._interface = concrete, interface
    return found


def function_graph_of(scope: int) -> FunctionGraph | None:
    """The graph that a scope stands for; None if nobody holds it."""
    now = _holdfast.traced_graph()
    return _of(now) if now is not None and now.scope == scope else _known.get(scope)


def default_graph() -> Graph | FunctionGraph:
    """What this thread's ops go to: a function that is traced, or a graph."""
    traced = _holdfast.traced_graph()
    return get_default_graph() if traced is None else _of(traced)
