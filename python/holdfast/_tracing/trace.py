"""One trace of a function: made by running its Python code on symbols, then run without it."""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from .. import _holdfast
from .._graphs.collections import function_collections
from .._graphs.graph import get_default_graph
from .._messages import returns, traced_values, variables
from .._messages.diagnostics import born_loc
from .._messages.unbound import explain_unbound
from .._messages.user_code import is_user_code
from .._structures import nesting
from .._tensors.shape import TensorSpec
from ..errors import DiagnosticError, InaccessibleTensorError, fail
from . import escapes, keep
from .converter import converter
from .facts import changed_fact
from .journal import journal, put
from .keep import Kept
from .locations import MISSING, AttributeLocation, Location, called_with
from .made_objects import one_call
from .random_draws import watch_random
from .recorder import Recorder
from .restart import Restart
from .signature import Call, IdentityKey, is_plain, is_type
from .slots import Slot, filled, left_by, with_slots
from .stores import Store
from .substituted_code import Substitutions

__all__ = ["TENSOR", "Trace", "converted", "make", "output_of"]

Tensor = _holdfast.Tensor
_VariableBase = _holdfast.VariableBase


class Trace:
    """A graph with the Python around it: which calls it serves, what it reads and leaves behind."""

    def __init__(self, name: str, call: Call) -> None:
        self.name = name
        self.offered = False  # whether C was told of it
        self.key, self.types = call.key, list(call.types)
        self.names = call.names
        self.arguments = nesting.map_structure(_without_tensor, call.args)
        self.keywords = {
            name: nesting.map_structure(_without_tensor, call.kwargs[name])
            for name in sorted(call.kwargs)
        }
        self.concrete: Any = None
        self.leaked: list[Any] = []
        self.guards: Any = None
        self.facts: Any = None  # what it went by on objects of C++: options, weights
        self.captured: list[Any] = []  # tensors, or places that are read again at each call
        self.late: list[tuple[int, Any]] = []
        self.result: Any = None  # the structure that is returned, with slots for tensors
        self.outputs = 0
        self.stores: list[tuple[Any, Any, Any]] = []
        self.makes = False  # whether calls leave behind objects of their own
        self.concrete_ref: Any = None  # a weak reference to its ConcreteFunction
        self._ran = threading.Lock()  # taken for good by the first call

    def fits(self, call: Call) -> bool:
        """Whether a call may run this trace: same kinds of arguments, all it read as it was."""
        if not self.takes(call) or self.broken_guard(call) is not None:
            return False
        return all(_same_type(location.read(), self.captured[i]) for i, location in self.late)

    def takes(self, call: Call) -> bool:
        """Whether the arguments are of the kinds it was traced for."""
        return bool(call.key == self.key) or self._covers(call.key)

    def orphaned(self) -> bool:
        """Whether an object that it was traced for is gone: no call will be for it again."""
        return any(isinstance(e[-1], IdentityKey) and e[-1].get() is None for e in self.key)

    def broken_guard(self, call: Call | None = None) -> Any:
        """The first thing it read from around it that is not as it was; None if all is.

        With a call, what it read of containers among the arguments counts too.
        """
        given = contextlib.nullcontext() if call is None else called_with(call.args, call.kwargs)
        with given:
            broken = self.guards.check() if self.guards else None
        if broken is None and self.facts is not None and not self.facts.hold():
            return changed_fact(self.facts, self.guards)
        return broken

    def _covers(self, key: tuple[Any, ...]) -> bool:
        if len(key) != len(self.key):
            return False
        return all(a == b or _type_covers(a, b) for a, b in zip(self.key, key, strict=True))

    def _inputs(self, call: Call) -> list[Any]:
        captured = self.captured
        if self.late:
            captured = list(captured)
            for i, location in self.late:
                captured[i] = location.read()
        return [*call.tensors, *captured]

    def begins(self) -> bool:
        """Whether a call is the first to run this; true once."""
        return self._ran.acquire(blocking=False)

    def run(self, call: Call) -> Any:
        """Runs the graph, performs the stores, gives what the Python code would have returned."""
        outputs = self.concrete.call(self._inputs(call))
        with called_with(call.args, call.kwargs):
            return self.finish(outputs)

    def run_first(self, call: Call) -> Any:
        """The same for the first call: what left the trace gets its values."""
        leaked, self.leaked = self.leaked, []
        outputs = self.concrete.first_call(self._inputs(call), leaked)
        with called_with(call.args, call.kwargs), one_call():
            for store, shape, condition in self.stores:
                if condition is None or bool(outputs[condition]):
                    value = filled(shape, outputs)
                    traced_values.note(value, self.name)
                    store.settle(value)
            return filled(self.result, outputs)

    @functools.cached_property
    def finish(self) -> Callable[[list[Any]], Any]:
        """Performs the stores of a call but the first, and makes its result, out of its outputs."""
        performs = [
            (condition, self.performer(store, shape)) for store, shape, condition in self.stores
        ]
        result = self.result
        make = (
            operator.itemgetter(result.index)
            if type(result) is Slot
            else functools.partial(filled, result)
        )

        def finish(outputs: list[Any]) -> Any:
            for condition, perform in performs:
                if condition is None or bool(outputs[condition]):
                    perform(outputs)
            return make(outputs)

        def finish_as_one(outputs: list[Any]) -> Any:
            with one_call():
                return finish(outputs)

        return finish_as_one if self.makes else finish

    def performer(self, store: Store | Kept, shape: Any) -> Callable[[list[Any]], None]:
        """What performs a store given all outputs of a call, of which `shape` takes its own."""
        one = store.place_of_one(shape) if isinstance(store, Store) else None
        return (
            functools.partial(_perform, store, shape, self.name)
            if one is None
            else functools.partial(_put_tensor, *one, self.name)
        )

    def argument_names(self) -> list[str]:
        """By which names a concrete function takes its arguments, in order."""
        return [*self.names[: len(self.arguments)], *self.keywords]

    def stores_in_arguments(self) -> bool:
        """Whether calls change containers that the caller gave."""
        return any(store.on_argument for store, _, _ in self.stores)


def _perform(store: Store | Kept, shape: Any, function: str, outputs: list[Any]) -> None:
    value = filled(shape, outputs)
    traced_values.note(value, function)
    store.perform(value)


def _put_tensor(location: Location, index: int, function: str, outputs: list[Any]) -> None:
    tensor = outputs[index]
    traced_values.note_tensor(tensor, function)
    if type(location) is AttributeLocation and journal() is None:
        location.write(tensor)  # what `put` does, in fewer steps: most stores are such
    elif location.holder() is not MISSING:
        put(location, tensor)


class _Tensor:
    def __repr__(self) -> str:
        return "tensor"


TENSOR = _Tensor()  # stands for an argument that is a tensor


def _same_type(value: Any, like: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype == like.dtype and value.shape == like.shape


def _type_covers(a: Any, b: Any) -> bool:
    """Whether a trace for tensors of type `a`, with dimensions unknown or not, takes type `b`."""
    if not is_type(a) or not is_type(b) or a[0] != b[0]:
        return False
    if a[1] is None:
        return True
    if b[1] is None or len(a[1]) != len(b[1]):
        return False
    return all(x is None or x == y for x, y in zip(a[1], b[1], strict=True))


def converted(function: Any) -> Any:
    """The Python code of a function as it is traced."""
    if not function._autograph:
        return function.python_function
    return converter().convert(function.python_function)


def make(function: Any, call: Call, number: int) -> Trace:
    """Traces `function` for calls like `call`."""
    with Substitutions(function._substituted) as places:
        host = _Host(function, call, number, places)
        try:
            concrete, leaked, facts = _holdfast.make_trace(host, call.tensors)
        except RecursionError:
            _refuse_recursion(function)
    trace = host.trace
    trace.concrete, trace.leaked, trace.facts = concrete, leaked, facts
    return trace


def _refuse_recursion(function: Any) -> NoReturn:
    fail(
        "E1105",
        f"`{function.name}` calls itself without end while it is traced",
        "a call inside a trace is written out, and of a condition on a tensor both branches are "
        "written, so the recursion never comes to its end",
        fix="write it as a loop: `tf.while_loop`, or `while` on a tensor",
        op=function.name,
    )


class _Host:
    """Python's part in making a trace; when which happens is the library's (`trace_life.h`)."""

    trace: Trace
    _writer: Any
    _recorder: Recorder
    _silent: escapes.Containers | None

    def __init__(self, function: Any, call: Call, number: int, places: Substitutions) -> None:
        self._function, self._call, self._number = function, call, number
        self._places = places
        self._returned: list[Any] = []  # variables, until it is known that none was made here

    def begin(self) -> Any:
        """A graph to write into, for one attempt."""
        function = self._function
        self.trace = Trace(function.name, self._call)
        self._code = converted(function)
        plain = getattr(function.python_function, "__func__", function.python_function)
        written = getattr(plain, "__code__", None)
        if written is not None and not is_user_code(written):
            written = None  # arguments of a step of ours are the program's where it asks for it
        inside = function._inside and _holdfast.is_tracing()
        self._writer = _holdfast.Writer(function.name, "function", inside, self._number, written)
        self._around = get_default_graph()
        # Code that was not converted writes no appends down.
        unconverted = self._code is function.python_function
        self._silent = escapes.Containers(self._code) if unconverted else None
        return self._writer

    def run_body(self) -> list[Any] | None:
        """Runs the code; the outputs of the graph. None if it has to run again, converted."""
        try:
            return self._outputs()
        except Restart:
            self._places.begin_again()
            return None

    def _outputs(self) -> list[Any]:
        trace, function = self.trace, self._function
        with (
            Recorder() as recorder,
            function_collections(self._around),
            keep.keeping() as keeping,
            watch_random(function.name, _holdfast.created_any) as draws,
        ):
            self._recorder, self._draws = recorder, draws
            bound = function.python_function
            while isinstance(bound, functools.partial):
                for value in (*bound.args, *bound.keywords.values()):
                    recorder.note_bound(value)
                bound = bound.func
            given = self._run(recorder)
            recorder.check_left([given])
            at = functools.partial(returns.loc_of_return, function.python_function)
            result = recorder.result = left_by(given, recorder.left, recorder.journal, at)
            recorder.check_held([result])
            # One that is made here and returned outlives the call.
            self._returned = [x for x in nesting.flatten(result) if isinstance(x, _VariableBase)]
            effects: list[Store | Kept] = [*recorder.stores, *keeping.kept]
            outputs: list[Any] = []
            trace.result = with_slots(result, outputs, output_of, recorder.templates)
            trace.outputs, trace.makes = len(outputs), bool(recorder.templates)
            for store in effects:
                shape = with_slots(store.value, outputs, output_of)
                condition = None
                if store.condition is not None:
                    condition = len(outputs)
                    outputs.append(store.condition)
                trace.stores.append((store, shape, condition))
                store.value = store.condition = None
            try:
                self._writer.set_outputs(outputs)
            except InaccessibleTensorError as error:
                code = function.python_function
                returns.raise_at_return(error, code, result, self._writer)
        return outputs

    def _run(self, recorder: Recorder) -> Any:
        """What the Python code gives for symbols in place of the call's tensors."""
        args, kwargs = _symbolic(self._writer, self._call, recorder)
        if self._function._autograph:
            for leaf in nesting.flatten([args, kwargs]):
                converter().convert_operators(type(leaf))
        try:
            result = self._code(*args, **kwargs)
        except Exception as error:
            if not (recorder.restart or self._places.void):
                if isinstance(error, UnboundLocalError):
                    explain_unbound(error)
                if isinstance(error, DiagnosticError) and error.code == "E1101":
                    self._places.keep_numbers(_numbers_met(error, recorder))
                raise
        if recorder.restart or self._places.void:  # the program may have caught what told us
            raise Restart
        return result

    def ended(self, final: bool) -> None:
        """The graph is closed. Not `final`: it made variables, and is written once more."""
        trace, writer, recorder = self.trace, self._writer, self._recorder
        self._returned = []
        if self._silent is not None:
            self._silent.check(self._function.name)
        if not final:
            if recorder.undo is not None:
                recorder.undo()
            return
        self._draws.warn()  # what was drawn for variables is not drawn again
        late = {}
        for tensor, location in recorder.reads:
            if writer.baked(tensor) or not (location.anew or location.read() is tensor):
                recorder.guard_identity(location, tensor)
            elif writer.release(tensor):
                late[tensor._id] = location
            elif location.anew:  # it was born in a loop or a branch, which has it as a constant
                recorder.guard_identity(location, tensor)
        trace.captured = writer.captures()
        trace.late = [(i, late[t._id]) for i, t in enumerate(trace.captured) if t._id in late]
        trace.guards = recorder.finished_guards()

    def refuse(self, variable: Any) -> NoReturn:
        """E0401: it is made on each call, and kept."""
        function = self._function
        returned = any(variable is each for each in self._returned)
        holder = escapes.held_as(variable, function.python_function)
        variables.refuse(function.name, function.python_function, variable, holder, returned)


def _numbers_met(error: DiagnosticError, recorder: Recorder) -> set[Any]:
    """The choices between numbers that are operands of an op which wants one dtype."""
    said = error.diagnostic
    operands = [each for each in (said.subject, *said.others) if each is not None]
    met: set[Any] = set()
    for symbol, choices in recorder.numbers:
        born = born_loc(symbol) or {}
        place = [born.get(part) for part in ("file", "line", "col_begin", "col_end")]
        for each in operands:
            at = each.born
            same = [at.file, at.line, at.col_begin, at.col_end] == place
            if same and each.dtype == symbol.dtype.name:
                met |= choices
    return met


class _Arguments:
    """Puts symbols where a call has tensors."""

    def __init__(self, writer: Any, call: Call, recorder: Recorder) -> None:
        self._writer, self._recorder = writer, recorder
        self._types = iter(zip(call.types, call.labels, strict=True))

    def _given(self, name: str) -> Any:
        (dtype, dims), label = next(self._types)
        return self._writer.input(dtype, dims, label or name)

    def convert(self, value: Any, name: str, path: tuple[Any, ...] | None) -> Any:
        """`value`, which `path` leads to from (args, kwargs), with symbols."""
        kind = type(value)
        if kind is Tensor or isinstance(value, TensorSpec) or _is_array(value):
            return self._given(name)
        if kind is tuple or kind is list:
            parts = (
                self.convert(part, name, None if path is None else (*path, i))
                for i, part in enumerate(value)
            )
            return self._copied(kind(parts), path)
        if hasattr(value, "__tf_tracing_type__"):
            return value.__tf_tracing_type__(None).placeholder_value(None)
        if nesting.is_nested(value):
            held = list(nesting.children(value))
            steps: Iterable[Any] = itertools.repeat(None)  # objects of the user's own classes
            if isinstance(value, Mapping):
                steps = sorted(value)
            elif isinstance(value, (list, tuple)):
                steps = range(len(held))
            inside = [
                self.convert(part, name, None if path is None or step is None else (*path, step))
                for part, step in zip(held, steps, strict=False)
            ]
            return self._copied(nesting.rebuild(value, inside), path)
        self._recorder.note_bound(value)
        return value

    def _copied(self, copy: Any, path: tuple[Any, ...] | None) -> Any:
        if path is not None and isinstance(copy, (list, dict)):
            self._recorder.note_given(copy, path)
        return copy


def _symbolic(
    writer: Any, call: Call, recorder: Recorder
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with symbols for tensors."""
    arguments, names = _Arguments(writer, call, recorder), iter(call.names)
    args = tuple(
        arguments.convert(a, next(names, "argument"), (0, i)) for i, a in enumerate(call.args)
    )
    # Their tensors come in the order of flattening, whatever order the call was written in.
    keys = sorted(call.kwargs)
    kwargs = {key: arguments.convert(call.kwargs[key], key, (1, key)) for key in keys}
    return args, {key: kwargs[key] for key in call.kwargs}


def _without_tensor(leaf: Any) -> Any:
    if isinstance(leaf, (Tensor, TensorSpec)) or _is_array(leaf):
        return TENSOR
    return (
        leaf if is_plain(leaf) else IdentityKey(leaf)
    )  # a trace does not keep the user's objects alive


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def output_of(leaf: Any) -> Any:
    """The tensor that a result is as an output of a graph; None for what a graph can't hand out."""
    if isinstance(leaf, _holdfast.VariableBase):
        return leaf.read()
    if isinstance(leaf, Tensor):
        return leaf
    given = isinstance(leaf, (bool, int, float, complex, str, bytes)) or _is_array(leaf)
    return _holdfast.convert(leaf) if given else None
