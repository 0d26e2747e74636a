"""One trace of a function, to look at and to call: what it takes, gives and captures; its graph."""

from __future__ import annotations

import inspect
import weakref
from typing import Any

from .. import nest
from .trace import Trace

__all__ = ["ConcreteFunction", "FunctionGraph", "concrete"]


def concrete(trace: Trace) -> ConcreteFunction:
    """The concrete function of a trace: the same for as long as somebody holds it."""
    known = trace.face() if trace.face is not None else None
    if known is None:
        known = ConcreteFunction(trace)
        trace.face = weakref.ref(known)
    return known


class ConcreteFunction:
    """One trace of a function: a graph with fixed kinds of arguments."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._trace.name

    @property
    def structured_input_signature(self) -> Any:
        """What it takes: specifications of positional arguments and of keywords."""
        return self._trace.input_specs()

    @property
    def structured_outputs(self) -> Any:
        """What it gives, as specifications."""
        return self._trace.output_specs()

    @property
    def inputs(self) -> list[Any]:
        """Its inputs as symbols: arguments, then captures."""
        return list(self._trace.concrete.symbols()[0])

    @property
    def outputs(self) -> list[Any]:
        """Its outputs as symbols."""
        return list(self._trace.concrete.symbols()[1][: self._trace.outputs])

    @property
    def function_type(self) -> inspect.Signature:
        """Its arguments and its result, with what is known of them."""
        return self._trace.function_type()

    @property
    def output_shapes(self) -> Any:
        """The shapes of what it gives."""
        return nest.map_structure(
            lambda spec: getattr(spec, "shape", spec), self.structured_outputs
        )

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of what it gives."""
        return nest.map_structure(
            lambda spec: getattr(spec, "dtype", spec), self.structured_outputs
        )

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """What it takes, gives and captures, line by line; not `verbose`: in one line."""
        kind = self.function_type
        if not verbose:
            return f"{self.name}{kind}"
        takes = [f"  {p.name} ({p.kind.name}): {p.annotation}" for p in kind.parameters.values()]
        captured = [f"  {tensor!r}" for tensor in self._trace.captured]
        lines = ["Input Parameters:", *(takes or ["  None"])]
        lines += ["Output Type:", f"  {kind.return_annotation}"]
        return "\n".join([*lines, "Captures:", *(captured or ["  None"])])

    @property
    def graph(self) -> Any:
        """The graph, to look at."""
        return FunctionGraph(self)

    def inference_fn(self, *tensors: Any) -> list[Any]:
        """Runs the graph on flat tensors; gives flat tensors."""
        given = self._trace.concrete.call([*tensors, *self._trace.captured])
        return list(given[: self._trace.outputs])

    @property
    def variables(self) -> tuple[Any, ...]:
        """The Variables it uses."""
        return tuple(self._trace.concrete.variables())

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those that tapes watch."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def captured_inputs(self) -> list[Any]:
        """Tensors that it uses and that are not arguments."""
        return list(self._trace.captured)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = self._trace.bind_concrete(args, kwargs)
        return self._trace.run(call)

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self._trace.signature_text(False)}>"


class FunctionGraph:
    """The graph of a traced function. It is finished: nothing can be added."""

    def __init__(self, function: ConcreteFunction) -> None:
        self._function = function

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._function.name

    @property
    def inputs(self) -> list[Any]:
        """Its inputs as symbols: arguments, then captures."""
        return self._function.inputs

    @property
    def outputs(self) -> list[Any]:
        """Its outputs as symbols."""
        return self._function.outputs

    def as_graph_def(self) -> Any:
        """The graph in TensorFlow's format."""
        from .._graphs.graph_def import GraphDef

        return GraphDef(self._function._trace.concrete.graph_def())

    def as_text(self) -> str:
        """The graph as text."""
        return str(self._function._trace.concrete.text())

    def __repr__(self) -> str:
        return f"<graph of {self.name}>"
