"""`tf.function`: Python code that is traced once per kind of arguments, then runs as a graph."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _holdfast
from .._messages.diagnostics import mark
from .._structures import nesting
from ..errors import fail, need_callable, unsupported
from . import plan_report
from . import trace as _trace
from .concrete import ConcreteFunction, concrete
from .converter import converter
from .dataset_arguments import holds_dataset, with_datasets
from .inline import inline, need_alive
from .methods import bound
from .records import record
from .retracing import History, recreated_functions
from .signature import Signature
from .substituted_code import Known
from .trace import Trace
from .traceable import check_traceable, inner_function

__all__ = [
    "ConcreteFunction",
    "Function",
    "function",
    "functions_run_eagerly",
    "run_functions_eagerly",
]

_eagerly = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Whether traced functions run as plain Python from now on; for debugging."""
    global _eagerly
    _eagerly = bool(run_eagerly)
    _holdfast.set_functions_eager(_eagerly)


def functions_run_eagerly() -> bool:
    """Whether traced functions run as plain Python."""
    return _eagerly


def _own_name(python_function: Any) -> str:
    """What the user calls the code that runs; a partial call is named like its function."""
    while isinstance(python_function, functools.partial):
        python_function = python_function.func
    return str(getattr(python_function, "__name__", type(python_function).__name__))


@_holdfast.call_by_vector
class Function(_holdfast.TracedBase):
    """A Python function that runs as a graph. Made by `tf.function`."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        input_signature: Any = None,
        autograph: bool = True,
        jit_compile: bool | None = None,
        reduce_retracing: bool = False,
        implements: str | None = None,
    ) -> None:
        need_callable(python_function, "tf.function")
        self._python_function = python_function
        self._name = str(name or _own_name(python_function))
        self._autograph = autograph
        self._jit_compile = jit_compile
        self._reduce_retracing = reduce_retracing
        self._implements = implements
        self._signature = Signature(python_function, input_signature, self._name)
        self._set_parameters(*self._signature.parameters())
        self._traced = 0
        self._lock = threading.RLock()
        self._substituted: list[Known] = []  # functions that its traces need converted
        self._history = History(self._name, reduce_retracing)
        self._gives_datasets = False  # made of datasets that it takes
        self._inside = False  # whether traces are part of the graph that is written around them
        self._made = mark()  # None: another stage makes it, which may be made again and again
        with contextlib.suppress(AttributeError):
            functools.update_wrapper(self, python_function)

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function as it was written."""
        return self._python_function

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def input_signature(self) -> Any:
        """The specifications of the arguments, None if none were given."""
        return self._signature.specs

    # The base's `__get__` knows what was bound before; what it does not know comes here.
    def _bound_to(self, instance: Any, owner: type[Any] | None) -> Any:
        return bound(
            self, instance, lambda: self._like(self._python_function.__get__(instance, owner))
        )

    def _stands_for(self, scope: int) -> bool:
        """Whether messages that speak of this scope speak of one of its traces."""
        return any(
            trace.concrete is not None and trace.concrete._scope == scope for trace in self._traces
        )

    def _like(self, python_function: Callable[..., Any]) -> Function:
        """The same for another Python function: it has no traces yet."""
        return Function(python_function, *self._options())

    def _options(self) -> tuple[Any, ...]:
        given = self._name, self._signature.given, self._autograph
        return *given, self._jit_compile, self._reduce_retracing, self._implements

    # Traces belong to objects of this process, which a copy has not: it traces anew.

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        plain = self._python_function
        copied = copy.deepcopy(plain, memo)
        return self if copied is plain else self._like(copied)

    def __copy__(self) -> Function:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        if _named(self) is self:
            return str(self.__qualname__)  # a function of a module is found there again
        return Function, (self._python_function, *self._options())

    # The base's call runs traces that need no Python; what it does not know comes here.
    def _slow_call(self, /, *args: Any, **kwargs: Any) -> Any:
        if _eagerly:
            return self._python_function(*args, **kwargs)
        if self._implements is not None:
            args, kwargs = nesting.map_structure(_as_tensor, (args, kwargs))
        if _holdfast.is_tracing():
            return inline(self, self._signature.bind(args, kwargs))
        call, trace = self._trace_for(args, kwargs)
        if trace is None:
            need_alive(call.tensors)
            return inline(self, call)
        # Other calls need not wait for the first one.
        result = trace.run_first(call) if trace.begins() else trace.run(call)
        if not trace.offered:
            trace.offered = True
            fast = record(trace)
            if fast is not None:
                self._offer(trace, fast)  # the base calls it by itself from now on
        return result

    def _trace_for(self, args: Any, kwargs: Any, symbolic: bool = False) -> tuple[Any, Any]:
        """A call with these arguments, and the trace for it; none where it has symbols."""
        plain = self._gives_datasets or self._signature.specs is not None
        given = (args, kwargs) if plain else with_datasets(args, kwargs)
        call = self._signature.bind(*given)
        if call.symbolic and not symbolic:
            return self._signature.bind(args, kwargs), None
        with self._lock:
            trace = self._find(call)
            if trace is None:
                trace = self._make(call)
            elif trace.facts is not None:
                trace.facts.join()  # a trace around this call goes by what this one went by
        if given[1] is kwargs or not holds_dataset(trace.result):
            return call, trace
        # What it gives is made of its argument: one trace for each dataset.
        self._gives_datasets = True
        return self._trace_for(args, kwargs, symbolic)

    def _make(self, call: Any) -> Trace:
        traces = self._traces
        before = [t.key for t in traces]
        guard = next((t.broken_guard(call) for t in traces if t.takes(call)), None)
        if not before and self._made is not None:
            inner = inner_function(self._python_function)
            recreated_functions.note(
                self, inner.__code__ if inner is not None else None, self._made
            )
        seen = call.key
        relaxed = self._history.relax(call, before) if guard is None else ()
        self._traced += 1
        begun = time.perf_counter()
        trace = _trace.make(self, call, self._traced)
        if self._implements is not None:
            self._need_pure(trace)
        self._history.note(call, seen, before, guard, time.perf_counter() - begun, relaxed)
        self._history.note_runs(sum(t.concrete.runs for t in traces))
        self._add(trace)
        return trace

    def _need_pure(self, trace: Trace) -> None:
        """Who may put another function in its place goes by its arguments alone."""
        if trace.captured or trace.concrete.variables():
            fail(
                "E1105",
                f"`{self._name}` implements {self._implements!r} and uses tensors or Variables "
                "that are no arguments",
                "what stands for a known function is a function of its arguments alone",
                fix=f"give them to `{self._name}` as arguments",
                op=self._name,
            )

    def trace_report(self) -> str:
        """Why it was traced, each time: which part of the arguments was new, and the cost."""
        return self._history.report()

    def get_concrete_function(self, /, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments, which may be `TensorSpec`s.

        What is left out is as the input signature says, if there is one.
        """
        args, kwargs = self._signature.completed(args, kwargs)
        if self._implements is not None:
            args, kwargs = nesting.map_structure(_as_tensor, (args, kwargs))
        call, trace = self._trace_for(args, kwargs, symbolic=True)
        return concrete(trace, call.labels)

    def experimental_get_tracing_count(self) -> int:
        """How often it was traced."""
        return self._traced

    def memory_plan(self, /, *args: Any, **kwargs: Any) -> str:
        """Where the values of a call lie in memory: each buffer, its bytes, steps, and line.

        Of the trace for these arguments; of the one used last where none are given.
        """
        return plan_report.memory_plan(self, args, kwargs)

    def explain(self, /, *args: Any, **kwargs: Any) -> str:
        """What a call does: kernel per step, why others refused, bytes, what was fused.

        With the share of the time, if calls were made after `time_steps()`.
        """
        return plan_report.explain(self, args, kwargs)

    def time_steps(self, on: bool = True) -> None:
        """Whether calls from now on note the time of each step for `explain`."""
        plan_report.time_steps(self, on)

    @property
    def function_type(self) -> inspect.Signature:
        """Its parameters, as far as the Python function says."""
        return inspect.signature(self._python_function)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures it was traced for, one a paragraph."""
        return "\n\n".join(concrete(t).signature_text(verbose) for t in reversed(self._traces))

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        return [concrete(t) for t in reversed(self._traces)]

    def __repr__(self) -> str:
        return f"<tf.function {self._name}>"


def _as_tensor(value: Any) -> Any:
    """What a function that implements a known one sees of an argument: its value."""
    numbers = isinstance(value, (bool, int, float, complex, np.ndarray, np.generic))
    if numbers or isinstance(value, _holdfast.VariableBase):
        return _holdfast.convert(value)
    return value


def _named(function: Any) -> Any:
    """What its module knows under the name of a function."""
    found: Any = sys.modules.get(getattr(function, "__module__", ""))
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Turns a Python function into one that runs as a graph; also a decorator.

    One that implements a known function (`experimental_implements`) is a function of tensors alone:
    numbers and Variables among its arguments are given as tensors, and it may use no others.

    `jit_compile` is accepted and changes nothing: what is traced is always compiled. The parts of
    AutoGraph that `experimental_autograph_options` may ask for are always on.
    """
    for option, given in (
        ("experimental_attributes", experimental_attributes),
        ("experimental_follow_type_hints", experimental_follow_type_hints),
    ):
        if given:
            unsupported(
                f"`tf.function` with `{option}` is not supported",
                "a function is known by its Python code and its arguments alone",
                fix=f"leave `{option}` out",
            )

    if experimental_autograph_options is not None:
        converter().check_features("experimental_autograph_options", experimental_autograph_options)

    def decorate(f: Callable[..., Any]) -> Any:
        check_traceable(f)
        return Function(
            f,
            None,
            input_signature,
            autograph,
            jit_compile if jit_compile is not None else experimental_compile,
            bool(reduce_retracing or experimental_relax_shapes),
            experimental_implements,
        )

    return _holdfast.PublicFunction(decorate) if func is None else decorate(func)
