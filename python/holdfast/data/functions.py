"""Functions of elements: traced once, for the spec of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _holdfast
from .._tensors.composite import Composite
from .._tensors.shape import TensorSpec
from .._tracing.converter import converter
from .._tracing.function import Function
from .._tracing.slots import Slot
from ..errors import fail, need_callable, unsupported
from .probing import NeedsValues, is_probing, on_symbols, tracing_stage
from .spec import DatasetSpec
from .structure import (
    arguments,
    holds_datasets,
    holds_values,
    map_leaves,
    packed,
    spec_of,
    with_composites,
)

__all__ = ["Traced", "probed", "stage_function", "traced", "traced_for"]


class Traced(NamedTuple):
    """A function of elements, as C++ takes it."""

    concrete: Any
    captured: list[Any]
    gives: Any  # the structure of what it gives, with specs


def traced(function: Callable[..., Any], dataset: Any, stage: str) -> Traced:
    """Traces a function for the elements of a dataset."""
    return traced_for(
        function, arguments(packed(dataset._template, spec_of(dataset))), stage, dataset._template
    )


def traced_for(
    function: Callable[..., Any], args: tuple[Any, ...], stage: str, template: Any = None
) -> Traced:
    """Traces a function for arguments of these specs, of which C++ makes one element.

    A function that takes or gives datasets is no graph: it is called with the values of each
    element.
    """
    need_callable(function, f"Dataset.{stage}")
    if isinstance(function, type):  # what a class makes of an element: a named tuple
        function = _made_by(function)
    if is_probing():
        return Traced(_promise, [], probed(function, args, stage))
    if holds_datasets(args):
        return _called(function, args, stage, template)
    whole = function if isinstance(function, Function) else stage_function(function)
    try:
        with tracing_stage():
            trace = whole.get_concrete_function(*args)._trace
            if _needs_tensors(trace.result):
                again = stage_function(_of_tensors(function), whole.name)
                trace = again.get_concrete_function(*args)._trace
    except NeedsValues:
        return _called(function, args, stage, template)
    if _holdfast.current_graph() is not None and trace.concrete.variables():
        unsupported(
            f"the function of `{stage}` uses a Variable of a graph",
            "each session has values of its own for it, and a pipeline does not know the session",
            fix="make the dataset in eager code, or give the value as an element",
        )
    types = trace.concrete.output_types()
    gives = map_leaves(lambda leaf: _spec(leaf, types, stage), _tuple_of(trace.result))
    return Traced(trace.concrete, trace.captured, gives)


def _called(
    function: Callable[..., Any], args: tuple[Any, ...], stage: str, template: Any
) -> Traced:
    """A function that is called with the values of each element."""
    gives = probed(function, args, stage)

    def with_values(element: Any) -> Any:
        return _element_of(function(*arguments(packed(template, element))))

    return Traced(with_values, [], gives)


def _made_by(kind: Callable[..., Any]) -> Callable[..., Any]:
    def make(*element: Any) -> Any:
        return kind(*element)

    return make


def _promise(_: Any) -> Any:
    """In place of the function of a stage that only tells what it would give."""
    raise AssertionError("a stage of a promised dataset runs")


def stage_function(function: Callable[..., Any], name: str | None = None) -> Function:
    """A function of a stage's own: programs may well make their pipelines anew for each epoch."""
    made = Function(function, name)
    made._made = None
    made._inside = True  # its trace may capture tensors of the graph that it is made in
    return made


def probed(function: Callable[..., Any], args: tuple[Any, ...], stage: str) -> Any:
    """The specs of what a function gives for arguments that are only promises."""
    code = function.python_function if isinstance(function, Function) else function

    def specs(symbols: Any) -> Any:
        given = _element_of(converter().convert(code)(*symbols))
        return map_leaves(_spec_of_value, given)

    return on_symbols(specs, args, stage)


def _spec_of_value(value: Any) -> Any:
    if isinstance(value, _holdfast.DatasetBase):
        return DatasetSpec.from_value(value)
    if isinstance(value, Composite):
        return value._type_spec
    tensor = _as_tensor(value)
    return TensorSpec(tensor.shape, tensor.dtype)


def _tuple_of(result: Any) -> Any:
    """What a function gave: a list of tensors is a tuple, as TensorFlow has it.

    Lists inside of it stand for tensors.
    """
    return tuple(result) if type(result) is list else result


def _element_of(result: Any) -> Any:
    """The same, with values of sparse and ragged tensors made such."""
    return with_composites(_tuple_of(result))


def _needs_tensors(result: Any) -> bool:
    """Whether something in a result is no tensor yet: a list, which stands for one."""
    if holds_values(result):
        return True
    found = []
    whole = _tuple_of(result)
    map_leaves(lambda leaf: found.append(not isinstance(leaf, (Slot, Composite))), whole)
    return any(found)


def _of_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with lists in its result made tensors."""
    plain = function.python_function if isinstance(function, Function) else function
    code = converter().convert(plain)

    def of_tensors(*args: Any) -> Any:
        return map_leaves(_as_tensor, _element_of(code(*args)))

    return of_tensors


def _as_tensor(value: Any) -> Any:
    if isinstance(value, _holdfast.DatasetBase):
        raise NeedsValues
    return value if isinstance(value, Composite) else _holdfast.convert(value)


def _spec(leaf: Any, types: list[Any], stage: str) -> Any:
    if isinstance(leaf, Composite):
        parts = tuple(_spec(part, types, stage) for part in leaf._tensors())
        return leaf._spec(leaf._facts(), parts)
    if not isinstance(leaf, Slot):
        fail(
            "E1104",
            f"the function of `{stage}` gave {leaf!r}, expected tensors",
            "an element is a tensor, or tuples and dicts of them",
        )
    dtype, shape = types[leaf.index]
    return TensorSpec(shape, dtype)
