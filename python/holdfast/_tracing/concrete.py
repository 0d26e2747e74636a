"""One trace of a function, to look at and to call: what it takes, gives and captures; its graph."""

from __future__ import annotations

import inspect
import weakref
from typing import Any

from .. import _holdfast
from .._graphs.function_graph import function_graph
from .._structures import nesting
from .dataset_arguments import holds_dataset, with_datasets
from .interface import Interface
from .records import record
from .trace import Trace

__all__ = ["ConcreteFunction", "concrete"]


def concrete(trace: Trace, labels: list[str | None] | None = None) -> ConcreteFunction:
    """The concrete function of a trace: the same for as long as somebody holds it.

    `labels` are other names for its tensors, which make another ConcreteFunction of the same trace.
    """
    known = trace.concrete_ref() if trace.concrete_ref is not None else None
    if known is None:
        known = ConcreteFunction(trace, [None] * len(trace.types))
        trace.concrete_ref = weakref.ref(known)
    own = known.input_names()
    if any(label and label != name for label, name in zip(labels or (), own, strict=False)):
        return ConcreteFunction(trace, labels or [])
    return known


@_holdfast.call_by_vector
class ConcreteFunction(_holdfast.ConcreteBase):
    """One trace of a function: a graph with fixed kinds of arguments."""

    def __init__(self, trace: Trace, labels: list[str | None]) -> None:
        self._trace = trace
        self._interface = Interface(trace, labels)
        self._graph = function_graph(trace.concrete, self._interface)
        self._offered = False

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._trace.name

    def input_names(self) -> list[str]:
        """Names of the arguments that are tensors."""
        return self._interface.input_names()

    @property
    def structured_input_signature(self) -> Any:
        """What it takes: specifications of positional arguments and of keywords."""
        return self._interface.input_specs()

    @property
    def structured_outputs(self) -> Any:
        """What it gives, with symbols for tensors."""
        return self._graph.structured_outputs

    @property
    def inputs(self) -> list[Any]:
        """Its inputs as symbols: arguments, then captures."""
        return self._graph.inputs

    @property
    def outputs(self) -> list[Any]:
        """Its outputs as symbols."""
        return self._graph.outputs

    @property
    def function_type(self) -> inspect.Signature:
        """Its arguments and its result, with what is known of them."""
        return self._interface.function_type()

    @property
    def output_shapes(self) -> Any:
        """The shapes of what it gives."""
        return nesting.map_structure(
            lambda spec: getattr(spec, "shape", spec), self._interface.output_specs()
        )

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of what it gives."""
        return nesting.map_structure(
            lambda spec: getattr(spec, "dtype", spec), self._interface.output_specs()
        )

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """What it takes, gives and captures, line by line; not `verbose`: in one line."""
        kind = self.function_type
        if not verbose:
            return str(kind)
        takes = [
            f"  {p.name} ({p.kind.name}): {inspect.formatannotation(p.annotation)}"
            for p in kind.parameters.values()
        ]
        captured = [f"  {tensor!r}" for tensor in self._trace.captured]
        lines = ["Input Parameters:", *(takes or ["  None"])]
        lines += ["Output Type:", f"  {kind.return_annotation}"]
        return "\n".join([*lines, "Captures:", *(captured or ["  None"])])

    @property
    def graph(self) -> Any:
        """The graph, to look at."""
        return self._graph

    def inference_fn(self, *tensors: Any) -> list[Any]:
        """Runs the graph on flat tensors; gives flat tensors."""
        given = self._trace.concrete.call([*tensors, *self._trace.captured])
        return list(given[: self._trace.outputs])

    @property
    def variables(self) -> tuple[Any, ...]:
        """The Variables it uses."""
        return self._graph.variables

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those that tapes watch."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def captured_inputs(self) -> list[Any]:
        """Tensors that it uses and that are not arguments."""
        return list(self._trace.captured)

    # The base's call runs the trace without Python; what it does not know comes here.
    def _slow_call(self, /, *args: Any, **kwargs: Any) -> Any:
        if not holds_dataset(self._trace.result):
            args, kwargs = with_datasets(args, kwargs)
        call = self._interface.bind(args, kwargs)
        if _holdfast.is_tracing() or call.symbolic:
            return self._trace.run(call)
        run = self._trace.run_first if self._trace.begins() else self._trace.run
        result = run(call)
        if not self._offered:
            self._offered = True
            self._offer()
        return result

    def _offer(self) -> None:
        """Lets the base call the trace by itself, if it can."""
        fast = None if self._trace.stores_in_arguments() else record(self._trace)
        if fast is not None:
            self._set_fast(fast, self._trace.argument_names())

    def signature_text(self, verbose: bool) -> str:
        """`f(x, y=2)`, and if `verbose` what each argument and the result is."""
        return self._interface.signature_text(verbose)

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.name}{self.function_type} at {id(self):#x}>"

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"
