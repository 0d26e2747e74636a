"""Values that each call of a traced function asks for anew: `capture_call_time_value`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._graphs.init_scope import init_scope
from .._messages.provenance import type_text
from .._tensors.plain import is_plain, same_value
from .._tensors.shape import TensorSpec
from ..errors import fail, unsupported
from .locations import Location
from .recorder import recording, unrecorded

__all__ = ["capture"]


class _Asked(Location):
    """What a function of the program's gives when it is called."""

    __slots__ = ("_closure", "_last", "_name", "_spec")
    anew = True

    def __init__(self, closure: Callable[[], Any], spec: TensorSpec, name: str) -> None:
        self.key = ("call time", id(self))
        self._closure, self._spec, self._name = closure, spec, name
        self._last: tuple[Any, Any] | None = None  # a number, and its tensor

    def read(self) -> Any:
        """Asks, and holds the answer against the specification."""
        given = tensor = self._closure()
        if self._last is not None and is_plain(given) and same_value(self._last[0], given):
            return self._last[1]
        if not isinstance(given, _holdfast.Tensor):
            tensor = _holdfast.convert_value(given, self._spec.dtype, False)
        wanted = f"what `{self._name}` asks for at each call is {type_text(tensor)}"
        if tensor.dtype != self._spec.dtype:
            fail("E1101", f"{wanted}, expected {self._spec.dtype.name}")
        if not self._spec.shape.is_compatible_with(tensor.shape):
            fail("E1102", f"{wanted}, expected shape {self._spec.shape}")
        self._last = (given, tensor) if is_plain(given) else None
        return tensor

    def holder(self) -> Any:
        """Itself: it lives as long as the trace."""
        return self

    def describe(self) -> str:
        """The place in words."""
        return f"what `{self._name}` asks for at each call"


def capture(graph: Any, closure: Callable[[], Any], spec: Any, key: Any) -> Any:
    """The value of `closure()` as each call of the function that is traced will find it."""
    recorder = recording()
    if recorder is None or graph.finalized:
        unsupported(
            f"`capture_call_time_value` of `{graph.name}` outside of its trace is not supported",
            "what a call asks for is written down while the function is traced",
            fix=f"call it in `{graph.name}` itself",
        )
    if not isinstance(spec, TensorSpec):
        unsupported(
            f"`capture_call_time_value` with a {type(spec).__name__} is not supported",
            "a call asks for tensors",
            fix="give a `tf.TensorSpec`",
        )
    if key is None:
        return _noted(recorder, _Asked(closure, spec, graph.name))
    known = recorder.asked_by_key
    if key not in known:
        known[key] = _noted(recorder, _Asked(closure, spec, graph.name))
    return known[key]


def _noted(recorder: Any, location: _Asked) -> Any:
    with unrecorded(), init_scope():  # each call asks before it runs
        value = location.read()
    recorder.note(location, value)
    return value
