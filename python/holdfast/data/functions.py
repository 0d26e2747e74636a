"""Functions of elements: traced once, for the spec of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _holdfast
from .._tensors.shape import TensorSpec
from .._tracing.converter import converter
from .._tracing.function import Function
from .._tracing.slots import Slot
from ..errors import fail, need_callable, unsupported
from .probing import on_symbols
from .structure import arguments, map_leaves, packed, spec_of

__all__ = ["Traced", "probed", "stage_function", "traced"]


class Traced(NamedTuple):
    """A function of elements, as C++ takes it."""

    concrete: Any
    captured: list[Any]
    gives: Any  # the structure of what it gives, with specs


def traced(function: Callable[..., Any], dataset: Any, stage: str) -> Traced:
    """Traces a function for the elements of a dataset."""
    need_callable(function, f"Dataset.{stage}")
    element = packed(dataset._template, spec_of(dataset))
    whole = function if isinstance(function, Function) else stage_function(function)
    trace = whole.get_concrete_function(*arguments(element))._trace
    if _needs_tensors(trace.result):
        again = stage_function(_of_tensors(function), whole.name)
        trace = again.get_concrete_function(*arguments(element))._trace
    types = trace.concrete.output_types()
    gives = map_leaves(lambda leaf: _spec(leaf, types, stage), trace.result)
    return Traced(trace.concrete, trace.captured, gives)


def stage_function(function: Callable[..., Any], name: str | None = None) -> Function:
    """A function of a stage's own: programs may well make their pipelines anew for each epoch."""
    made = Function(function, name)
    made._made = None
    return made


def probed(function: Callable[..., Any], dataset: Any, stage: str) -> Any:
    """The specs of what a function gives for elements of a dataset that is only a promise."""
    need_callable(function, f"Dataset.{stage}")
    code = function.python_function if isinstance(function, Function) else function

    def specs(symbols: Any) -> Any:
        given = converter().convert(code)(*arguments(packed(dataset._template, symbols)))
        return map_leaves(_spec_of_value, given)

    return on_symbols(specs, spec_of(dataset), stage)


def _spec_of_value(value: Any) -> TensorSpec:
    tensor = _as_tensor(value)
    return TensorSpec(tensor.shape, tensor.dtype)


def _needs_tensors(result: Any) -> bool:
    """Whether something in a result is no tensor yet: a list, which stands for one."""
    found = []
    map_leaves(lambda leaf: found.append(not isinstance(leaf, Slot)), result)
    return any(found)


def _of_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with lists in its result made tensors."""
    plain = function.python_function if isinstance(function, Function) else function
    code = converter().convert(plain)

    def of_tensors(*args: Any) -> Any:
        return map_leaves(_as_tensor, code(*args))

    return of_tensors


def _as_tensor(value: Any) -> Any:
    if isinstance(value, _holdfast.DatasetBase):
        unsupported(
            "a function of elements gives a dataset",
            "an element is a tensor, or tuples and dicts of them",
            fix="`flat_map` or `interleave` take the elements of such datasets",
        )
    return _holdfast.convert(value)


def _spec(leaf: Any, types: list[Any], stage: str) -> TensorSpec:
    if not isinstance(leaf, Slot):
        fail(
            "E1104",
            f"the function of `{stage}` gave {leaf!r}, expected tensors",
            "an element is a tensor, or tuples and dicts of them",
        )
    dtype, shape = types[leaf.index]
    return TensorSpec(shape, dtype)
