"""What a traced function does when it runs, as text: its steps, and where values lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import fail

if TYPE_CHECKING:
    from .function import Function


def memory_plan(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Each buffer of the memory that a call needs, with the user's line that fills it."""
    text: str = _concrete(function, args, kwargs, "memory_plan").memory_plan()
    return text


def explain(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The steps of a call: kernels, why others refused, bytes, what was fused, times if taken."""
    text: str = _concrete(function, args, kwargs, "explain").explain()
    return text


def time_steps(function: Function, on: bool) -> None:
    """Whether calls of the traces there are note the time of each step from now on."""
    for trace in function._traces:
        trace.concrete.time_steps(on)


def _concrete(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], op: str) -> Any:
    if args or kwargs:
        return function.get_concrete_function(*args, **kwargs)._trace.concrete
    if not function._traces:
        fail(
            "E1104",
            f"`{function.name}` has not been called, so it has no plan yet",
            "a plan is made for one kind of arguments",
            fix=f"call `{function.name}(...)` first, or give the arguments here",
            op=f"Function.{op}",
        )
    return function._traces[0].concrete
