"""`tf.autodiff.ForwardAccumulator`: Jacobian-vector products, which the library computes."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from . import nest
from ._tape import GradientTape, wants_zero
from ._tensor import Tensor, UnconnectedGradients, convert_to_tensor
from ._variable import Variable
from .errors import fail

__all__ = ["ForwardAccumulator"]


class ForwardAccumulator:
    """Watches `primals`; `jvp` tells how results change when they move along `tangents`."""

    def __init__(self, primals: Any, tangents: Any) -> None:
        nest.assert_same_structure(primals, tangents)
        self._primals = nest.flatten(primals)
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
        return self._tape._jvp(convert_to_tensor(y), self._primals, self._tangents, zero)
