"""A function called where ops are written down already: its Python code runs there."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable
from typing import Any

from .. import _holdfast
from .._graphs.collections import function_collections
from .._graphs.graph import get_default_graph
from .._messages.diagnostics import same_tensor
from .._messages.visible import visible_name
from .._tensors.symbols import is_symbol
from .conditional import refuse_held
from .journal import Journal, journal
from .signature import Call
from .slots import filled, with_slots
from .trace import converted, output_of

__all__ = ["inline", "need_alive"]


def inline(function: Any, call: Call) -> Any:
    """Runs a function inside the trace that is being written: its ops join that one."""
    code = converted(function)
    owner = None if _holdfast.is_tracing() else _graph_of(call)
    with contextlib.nullcontext() if owner is None else owner.as_default():
        effects = _holdfast.EffectsOfCall(function.name)
        # What staged code does to Python objects is put together by a journal around it.
        written = Journal() if journal() is None else None
        collected = function_collections(get_default_graph())
        with _holdfast.OwnSeeds(), collected, written or contextlib.nullcontext():
            result = code(*call.args, **call.kwargs)
        if _holdfast.current_graph() is None:
            return result
        if written is not None:
            refuse_held(written, [result], lambda _: False)
        # A session runs what is fetched: the effects become part of that.
        outputs: list[Any] = []
        shape = with_slots(result, outputs, output_of)
        return filled(shape, effects.bound(outputs))


def need_alive(tensors: Iterable[Any]) -> None:
    """Refuses a symbol of a trace that has ended, which no code of ours could use either."""
    for tensor in tensors:
        if is_symbol(tensor) and not _holdfast.scope_of(tensor)["open"]:
            _holdfast.value(tensor, visible_name(functools.partial(same_tensor, tensor=tensor)))


def _graph_of(call: Call) -> Any:
    """The graph by hand that a tensor among the arguments belongs to."""
    return next((t.graph for t in call.tensors if _holdfast.graph_of(t) is not None), None)
