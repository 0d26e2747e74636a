"""`wrap_function`: code of TensorFlow 1 as a function that eager code can call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._gradients.tape import recording_tapes
from .._graphs.graph import Graph
from .._graphs.init_scope import init_scope
from .._graphs.operation import Operation
from .._structures import nesting
from .._tensors.shape import TensorSpec
from .._tensors.tensor import convert_to_tensor
from .._tracing.function import Function
from ..errors import fail

__all__ = ["WrappedFunction", "WrappedGraph", "wrap_function"]

Tensor = _holdfast.Tensor


class WrappedGraph(Graph):
    """A graph whose variables are eager ones, so that functions of it can be called."""

    _lifts_variables = True

    def __init__(self) -> None:
        super().__init__()
        self.variables: list[Any] = []

    @property
    def building_function(self) -> bool:
        """True: it is written to be called."""
        return True

    def value_of(self, tensor: Any) -> Any:
        """What a tensor of the graph is, computed now."""
        with init_scope():
            return _holdfast.graph_function(self, [], [tensor], []).call([])[0]


class WrappedFunction:
    """Part of a graph as a function: what it takes, what it gives, and nothing else runs."""

    def __init__(
        self, graph: WrappedGraph, inputs: list[Any], fetches: Any, name: str = "wrapped"
    ) -> None:
        self._graph, self._inputs, self._name = graph, inputs, name
        self._fetches = nesting.map_structure(lambda f: _element(graph, f), fetches)
        self._fetched: list[Any] = []
        self._rebuild: list[Callable[[list[Any]], Any]] = []
        nodes = []
        for leaf in nesting.flatten(self._fetches):
            if isinstance(leaf, Operation):
                nodes.append(leaf._node)
            self._rebuild.append(self._part(leaf))
        outside = [t if _in(graph, t) else None for t in self._fetched]
        self._concrete = _holdfast.graph_function(
            graph, inputs, [t for t in outside if t is not None], nodes
        )
        # Traced as any function is: a graph that stays open has no gradient of its own.
        kinds = [TensorSpec(t.shape, t.dtype) for t in inputs]
        self._function = Function(self._run, name, kinds, autograph=False)

    def _run(self, *given: Any) -> list[Any]:
        return list(self._concrete.call(list(given)))

    def _part(self, leaf: Any) -> Callable[[list[Any]], Any]:
        if isinstance(leaf, Operation) or leaf is None:
            return lambda values: None
        if not _in(self._graph, leaf):
            return lambda values: leaf  # it had its value before
        at = sum(_in(self._graph, t) for t in self._fetched)
        self._fetched.append(leaf)
        return lambda values: values[at]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._name

    @property
    def graph(self) -> WrappedGraph:
        """The whole graph."""
        return self._graph

    @property
    def inputs(self) -> list[Any]:
        """The tensors of the graph that a call is given."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[Any]:
        """The tensors of the graph that a call gives."""
        return list(self._fetched)

    @property
    def structured_outputs(self) -> Any:
        """What it gives, as specifications."""
        return nesting.map_structure(_spec, self._fetches)

    @property
    def output_shapes(self) -> Any:
        """The shapes of what it gives."""
        return nesting.map_structure(lambda t: getattr(t, "shape", None), self._fetches)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of what it gives."""
        return nesting.map_structure(lambda t: getattr(t, "dtype", None), self._fetches)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables it uses."""
        return tuple(self._concrete.variables())

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those that tapes watch."""
        return tuple(v for v in self.variables if v.trainable)

    def prune(self, feeds: Any, fetches: Any, name: str | None = None) -> WrappedFunction:
        """Another function of the same graph, from `feeds`, in their order, to `fetches`."""
        given = [_element(self._graph, feed) for feed in nesting.flatten(feeds)]
        for feed in given:
            if not isinstance(feed, Tensor):
                kind = type(feed).__name__
                fail("E1104", f"`feeds` has what is of type {kind}, expected tensors of the graph")
        return WrappedFunction(self._graph, given, fetches, name or "pruned")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result for these arguments, one tensor for each of `inputs`."""
        flat = [leaf for leaf in nesting.flatten(list(args)) if leaf is not None]
        names = [t.op.name for t in self._inputs]
        for key, value in kwargs.items():
            if key not in names:
                raise TypeError(f"`{self._name}` has no argument {key!r}: its inputs are {names}")
            flat.insert(names.index(key), value)
        if len(flat) != len(self._inputs):
            counts = f"{len(flat)} tensors, expected {len(self._inputs)}"
            raise TypeError(f"`{self._name}` got {counts}: {', '.join(names) or 'none'}")
        given = [convert_to_tensor(v, t.dtype) for v, t in zip(flat, self._inputs, strict=True)]
        for value, symbol in zip(given, self._inputs, strict=True):
            if not symbol.shape.is_compatible_with(value.shape):
                fail(
                    "E1102",
                    f"`{self._name}`: `{symbol.op.name}` got shape {value.shape}, expected "
                    f"{symbol.shape}",
                )
        seen = _holdfast.is_tracing() or recording_tapes()
        values = self._function(*given) if seen else self._run(*given)
        parts = [rebuild(values) for rebuild in self._rebuild]
        return nesting.pack_sequence_as(self._fetches, parts)

    def __repr__(self) -> str:
        return f"<WrappedFunction {self._name} of {len(self._inputs)} inputs>"


def _in(graph: Graph, value: Any) -> bool:
    return isinstance(value, Tensor) and bool(value._symbolic) and value.graph is graph


def _spec(leaf: Any) -> Any:
    return TensorSpec(leaf.shape, leaf.dtype) if isinstance(leaf, Tensor) else None


def _element(graph: WrappedGraph, value: Any) -> Any:
    """What a fetch or a feed stands for: a tensor or an operation, or the name of one."""
    name = getattr(value, "name", None)
    if not isinstance(value, (str, Tensor, Operation)) and not hasattr(value, "_as_graph_element"):
        if isinstance(value, _holdfast.VariableBase):
            with graph.as_default():
                return value.read()
        if isinstance(name, str):
            value = name  # a TensorInfo
    if isinstance(value, str):
        return graph.as_graph_element(value)
    if isinstance(value, (Tensor, Operation)) or value is None:
        return value
    with graph.as_default():
        return convert_to_tensor(value)


def wrap_function(
    fn: Callable[..., Any], signature: Any, name: str | None = None
) -> WrappedFunction:
    """Runs `fn` once, as a graph of TensorFlow 1 is written, and gives it as a function.

    `signature`: what its arguments are. A `TensorSpec` becomes an input of the function, all else
    is handed to `fn` as it is. Variables that it makes are made once. As in a session, what the
    result does not need is not run.
    """
    graph = WrappedGraph()
    inputs: list[Any] = []

    def argument(spec: Any) -> Any:
        if not isinstance(spec, TensorSpec):
            return spec
        shape = spec.shape
        dims = None if shape.rank is None else tuple(shape.as_list())
        made = graph._placeholder(spec.dtype, dims, spec.name or "Placeholder")
        inputs.append(made)
        return made

    with graph.as_default():
        if isinstance(signature, dict):
            kwargs = {key: nesting.map_structure(argument, spec) for key, spec in signature.items()}
            result = fn(**kwargs)
        else:
            result = fn(*(nesting.map_structure(argument, spec) for spec in signature))
    title = str(name or getattr(fn, "__name__", "wrapped"))
    return WrappedFunction(graph, inputs, result, title)
