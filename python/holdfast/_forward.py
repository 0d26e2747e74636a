"""`tf.autodiff.ForwardAccumulator`: Jacobian-vector products.

A product J v is had from two backward passes. The gradient g(u) = Jᵀu is linear in the upstream u;
so the gradient of <g(u), v> with respect to u is J v, whatever u is. No op needs a forward rule,
only the gradient of its gradient.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from . import _registry, nest
from ._tape import GradientTape, dense, wants_zero
from ._tensor import Tensor, UnconnectedGradients, convert_to_tensor
from ._variable import Variable

__all__ = ["ForwardAccumulator"]


class ForwardAccumulator:
    """Watches `primals`; `jvp` tells how results change when they move along `tangents`."""

    def __init__(self, primals: Any, tangents: Any) -> None:
        nest.assert_same_structure(primals, tangents)
        self._primals = nest.flatten(primals)
        for primal in self._primals:
            if not isinstance(primal, (Tensor, Variable)):
                raise ValueError(  # noqa: TRY004 (as TensorFlow)
                    f"Passed in object {primal!r} of type {type(primal).__name__!r}, not "
                    "tf.Tensor or tf.Variable."
                )
        self._tangents = [
            convert_to_tensor(t, p.dtype)
            for t, p in zip(nest.flatten(tangents), self._primals, strict=True)
        ]
        for tangent, primal in zip(self._tangents, self._primals, strict=True):
            tangent.shape.assert_is_compatible_with(primal.shape)
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)

    def __enter__(self) -> Self:
        self._tape.__enter__()
        self._tape.watch(self._primals)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tape.__exit__(kind, error, trace)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The tangents of `primals`, nested as they are; None where they do not depend."""
        zero = wants_zero(unconnected_gradients)
        return nest.map_structure(lambda y: self._product(y, zero), primals)

    def _product(self, y: Any, zero: bool) -> Any:
        for primal, tangent in zip(self._primals, self._tangents, strict=True):
            if y is primal:
                return tangent
        y = convert_to_tensor(y)
        zeros_like = _registry.function("zeros_like")
        paused = self._tape.recording
        if paused:
            self._tape.stop()
        try:
            with GradientTape() as second:
                u = zeros_like(y)
                second.watch(u)
                found = self._tape._gradient([y], self._primals, [u], False)
                pulled = [
                    (dense(g), t)
                    for g, t in zip(found, self._tangents, strict=True)
                    if g is not None
                ]
            if not pulled:
                return zeros_like(y) if zero else None
            gradients, tangents = map(list, zip(*pulled, strict=True))
            (product,) = second._gradient(gradients, [u], tangents, True)
            return product
        finally:
            if paused:
                self._tape.start()
