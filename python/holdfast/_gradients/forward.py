"""`tf.autodiff.ForwardAccumulator`: Jacobian-vector products, which the library computes."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType
from typing import Any, Self

from .._structures import nesting
from .._tensors.tensor import Tensor, UnconnectedGradients, convert_to_tensor
from .._variables.variable import Variable
from ..errors import fail
from .tape import GradientTape, wants_zero

__all__ = ["ForwardAccumulator"]


class _Active(threading.local):
    def __init__(self) -> None:
        self.accumulators: list[ForwardAccumulator] = []  # that record now, outermost first


_active = _Active()


class ForwardAccumulator:
    """Watches `primals`; `jvp` tells how results change when they move along `tangents`."""

    def __init__(self, primals: Any, tangents: Any) -> None:
        nesting.assert_same_structure(primals, tangents)
        self._primals = nesting.flatten(primals)
        for primal in self._primals:
            if not isinstance(primal, (Tensor, Variable)):
                fail(
                    "E1104",
                    f"a leaf of `primals` is of type {type(primal).__name__}, expected a tensor",
                    "an accumulator follows what is computed from tensors",
                    fix="make it a tensor first, with `tf.constant`",
                )
        self._tangents = [
            convert_to_tensor(t, p.dtype)
            for t, p in zip(nesting.flatten(tangents), self._primals, strict=True)
        ]
        for tangent, primal in zip(self._tangents, self._primals, strict=True):
            tangent.shape.assert_is_compatible_with(primal.shape)
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)
        self._around: list[ForwardAccumulator] = []  # those that looked on while it recorded

    def __enter__(self) -> Self:
        self._tape.__enter__()
        self._tape.watch(self._primals)
        self._around = list(_active.accumulators)
        _active.accumulators.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self in _active.accumulators:
            _active.accumulators.remove(self)
        self._tape.__exit__(kind, error, trace)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The tangents of `primals`, nested as they are; None where they do not depend."""
        zero = wants_zero(unconnected_gradients)
        return nesting.map_structure(lambda y: self._product(y, zero), primals)

    def _product(self, y: Any, zero: bool) -> Any:
        for primal, tangent in zip(self._primals, self._tangents, strict=True):
            if y is primal:
                return tangent
        # A tangent is computed when it is asked for, and belongs to what was recorded: accumulators
        # that looked on then see it, whether they are open still or not.
        with contextlib.ExitStack() as looking_on:
            for outer in self._around:
                if not outer._tape.recording:
                    looking_on.enter_context(outer._tape)
            return self._tape._jvp(convert_to_tensor(y), self._primals, self._tangents, zero)
