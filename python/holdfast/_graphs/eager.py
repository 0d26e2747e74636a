"""Names of graph programs that mean little or nothing in eager code, and do exactly that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from .. import _holdfast
from .._messages.contexts import contextmanager
from .._structures import nesting
from .._tensors import registry
from .._tensors.dtypes import float64
from .._tensors.symbols import is_symbol
from .._tensors.tensor import convert_to_tensor
from .control import graph_for, grouped, is_value, ordered
from .graph import graph_around
from .init_scope import init_scope
from .name_scope import named_ops, scoped
from .operation import Operation, nodes_of

__all__ = [
    "Operation",
    "control_dependencies",
    "done",
    "executing_eagerly",
    "get_current_name_scope",
    "group",
    "init_scope",
    "inside_function",
    "is_symbolic_tensor",
    "no_op",
    "timestamp",
    "tuple",
]


def executing_eagerly() -> bool:
    """Whether ops run as they are called: not while a function is traced or a graph is written."""
    return not _holdfast.is_tracing()


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether a tensor has no value yet."""
    return is_symbol(tensor)


def get_current_name_scope() -> str:
    """The prefix that names have now, without its last slash."""
    return scoped("").removesuffix("/")


@named_ops
def timestamp(name: str | None = None) -> Any:
    """Seconds since 1970, as float64."""
    return convert_to_tensor(time.time(), float64)


@named_ops
def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """The tensors as a list, each computed when all are: eager ones have been already."""
    graph = graph_for(t for t in tensors if t is not None)
    if graph is not None:
        identity = registry.function("identity")
        gate = [t for t in tensors if t is not None] + list(control_inputs or ())
        with graph.as_default(), ordered(graph, gate):
            return [None if t is None else identity(t) for t in tensors]
    return [None if t is None else convert_to_tensor(t) for t in tensors]


def inside_function() -> bool:
    """Whether a function is being traced."""
    return _holdfast.is_tracing() and _holdfast.current_graph() is None


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Orders ops of a graph; eager ops run in order. Callables among the inputs are called."""
    graph = graph_for(() if control_inputs is None else nesting.flatten(control_inputs))
    if graph is not None:
        with ordered(graph, control_inputs):
            yield
        return
    parts = [] if control_inputs is None else nesting.flatten(control_inputs)
    parts = [part() if callable(part) and not is_value(part) else part for part in parts]
    if _holdfast.is_tracing():  # a branch or a body, perhaps in a graph whose sessions choose
        _holdfast.wait_for(nodes_of(part for part in parts if is_value(part)))
    yield


def group(*inputs: Any, **kwargs: Any) -> Any:
    """Joins ops of a graph into one; eager ops have run already."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    flat = nesting.flatten(list(inputs))
    graph = graph_for(flat)
    if graph is None:
        return done(flat)
    return grouped(graph, flat, name or "group_deps")


class _Done:
    """What a branch or a body has for an operation: its ops run in order, so it has run."""

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return _holdfast.convert(True, dtype)


def done(waited_for: list[Any]) -> Any:
    """What stands for an operation where ops run in order; None in eager code."""
    if graph_around() is None:
        return None
    _holdfast.wait_for(nodes_of(part for part in waited_for if is_value(part)))
    return _Done()


def no_op(name: str | None = None) -> Any:
    """Does nothing; in a graph, an operation that does nothing."""
    graph = graph_for(())
    return done([]) if graph is None else grouped(graph, (), name or "NoOp")
