"""`tf.types.experimental`: what tells one trace of a function from another."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from .. import _holdfast
from .function import ConcreteFunction, Function

__all__ = ["NAMES"]


class TraceType(abc.ABC):
    """How an argument of a traced function is seen. An object says it by `__tf_tracing_type__`."""

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether a trace for `other` serves this too."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The narrowest type that serves this and all `others`; None if there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """What the function gets while it is traced."""

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...


class TracingContext:
    """Handed to `__tf_tracing_type__`; it holds nothing yet."""


class SupportsTracingProtocol(abc.ABC):
    """An object that says how it is traced."""

    @abc.abstractmethod
    def __tf_tracing_type__(self, context: TracingContext) -> TraceType: ...


NAMES = {
    "types.experimental.TraceType": TraceType,
    "types.experimental.TracingContext": TracingContext,
    "types.experimental.SupportsTracingProtocol": SupportsTracingProtocol,
    "types.experimental.ConcreteFunction": ConcreteFunction,
    "types.experimental.GenericFunction": Function,
    "types.experimental.PolymorphicFunction": Function,
    "types.experimental.Callable": Function,
    "types.experimental.TensorLike": _holdfast.Tensor,
}
