"""Checks as ops: here is found what the program calls its operands; the library says the rest."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from .. import _holdfast
from .._graphs.control import graph_for, grouped, newest, ordered
from .._graphs.name_scope import named_ops
from .._messages.diagnostics import argument_name
from .._structures import nesting
from .._tensors import registry
from .._tensors.tensor import convert_to_tensor
from ..errors import DiagnosticError, unsupported
from .staging import is_staged

__all__ = [
    "Assert",
    "name_of",
    "note_check",
    "passed",
    "refuse_data",
    "require",
    "with_checks",
]


def require(
    check: str,
    operands: Sequence[tuple[Any, str, Any]],
    message: str | None,
    summarize: int | None,
    rtol: Any = None,
    atol: Any = None,
) -> Any:
    """Runs a check of elements; the library knows what it asks for.

    `operands` are what the user gave, with the names of the arguments, and as tensors.
    """
    tensors = [tensor for _, _, tensor in operands]
    op, condition, shown = _holdfast.element_check(check, tensors, rtol, atol)
    inputs = {"xy"[i]: tensor for i, tensor in enumerate(tensors)}
    given = [(value, keyword) for value, keyword, _ in operands]
    summarize = shown if summarize is None else summarize
    return _run(
        op, condition, given, check=check, message=message or "", summarize=summarize, **inputs
    )


def _run(op: str, condition: Any, operands: Sequence[tuple[Any, str]], **arguments: Any) -> Any:
    """Runs a check's op where `condition` does not hold; in a graph, each time that runs.

    An eager check that passes has no need to know what the user calls things. In a graph by hand
    the operation is returned.
    """
    if not is_staged([condition]) and bool(condition.numpy().all()):
        return passed()
    words = [name_of(value, i, keyword) for i, (value, keyword) in enumerate(operands)]
    known = _known(arguments) if _holdfast.current_graph() is not None else None
    now = None if known is None else _computed(condition)
    if known is not None and now is not None:  # of a graph's constants: nothing to wait for
        if bool(now.numpy().all()):
            return passed()
        entered = _holdfast.enter_eager()
        try:
            registry.raw_op(op, condition=now, words=words, **(arguments | known))
        finally:
            entered.close()
    registry.raw_op(op, condition=condition, words=words, **arguments)
    return newest([condition])


def _computed(condition: Any) -> Any:
    """A condition that only constants decide; None if something is fed that it depends on."""
    try:
        return _holdfast.peek(condition, [])
    except DiagnosticError as error:
        if error.code != "E0801":
            raise
    return None


def _known(arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The values of the tensors that are compared, if all are constants."""
    given = {n: v for n, v in arguments.items() if isinstance(v, _holdfast.Tensor)}
    found = {name: _holdfast.known_value(tensor) for name, tensor in given.items()}
    return found if found and None not in found.values() else None


def passed() -> Any:
    """What a check gives that holds for sure: in a graph by hand, an operation without a task."""
    graph = graph_for(())
    return None if graph is None else grouped(graph, (), "static_checks_determined_all_ok")


def name_of(value: Any, position: int, keyword: str) -> str:
    """What the user typed for an argument of the executing check; else what the check calls it."""
    return argument_name(value, position, keyword, longest=40) or keyword


@named_ops
def Assert(
    condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> Any:
    """Stops, showing `data`, unless `condition` is true."""
    holds = convert_to_tensor(condition)
    return _run(
        "Assert",
        holds if holds.dtype.name == "bool" else registry.function("cast")(holds, "bool"),
        [(condition, "condition")],
        data=[convert_to_tensor(part) for part in data],
        summarize=-1 if summarize is None else summarize,
    )


def refuse_data(function: str, data: Any) -> None:
    """What else a failed check is to show is not shown: it is refused."""
    if data is not None:
        unsupported(
            f"`tf.{function}` with `data` is not supported",
            "a failed check says the operands by itself",
            fix="leave `data` out, and print what else is of interest with `tf.print`",
        )


# What functions of several ops check: in a graph by hand nobody fetches a check.

_made = threading.local()


def note_check(condition: Any) -> None:
    """Tells the function around that its results wait for the check that was made last."""
    operation = newest([condition])
    open_list = getattr(_made, "checks", None)
    if operation is not None and open_list is not None:
        open_list.append(operation)


def with_checks(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose results in a graph by hand are there once its checks have passed."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        around, _made.checks = getattr(_made, "checks", None), []
        try:
            result = function(*args, **kwargs)
            checks = _made.checks
        finally:
            _made.checks = around
        if not checks:
            return result

        def guarded(value: Any) -> Any:
            if not isinstance(value, _holdfast.Tensor):
                return value
            return registry.function("identity")(value)

        with checks[0].graph.as_default(), ordered(checks[0].graph, checks):
            return nesting.map_structure(guarded, result)

    return call
