"""What is said of a Variable besides its value: how copies of it are kept equal, and its type."""

from __future__ import annotations

import enum

from .._messages.record import Record
from .._tensors.dtypes import DType
from .._tensors.shape import TensorShape

__all__ = ["VariableAggregation", "VariableSpec", "VariableSynchronization"]


class VariableSynchronization(enum.Enum):
    """When copies of a distributed Variable are made equal."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How copies of a distributed Variable are put together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3  # noqa: PIE796 (its name in TensorFlow 1)

    def __hash__(self) -> int:
        return hash(self.value)


class VariableSpec(Record):
    """What is known of a Variable."""

    shape: TensorShape
    dtype: DType
    trainable: bool = True
    alias_id: int | None = None

    def __repr__(self) -> str:
        return (
            f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, trainable={self.trainable}, "
            f"alias_id={self.alias_id})"
        )
