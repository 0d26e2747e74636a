"""What is said of a Variable besides its value: how copies of it are kept equal, and its type."""

from __future__ import annotations

import enum
from typing import Any, TypeVar

from .._messages.record import Record
from .._tensors.dtypes import DType
from .._tensors.shape import TensorShape
from ..errors import fail

__all__ = ["VariableAggregation", "VariableSpec", "VariableSynchronization", "as_choice"]


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


_Choice = TypeVar("_Choice", bound=enum.Enum)


def as_choice(kind: type[_Choice], given: Any, argument: str) -> _Choice:
    """A member of an enumeration: itself, its number, or the first one for None."""
    if isinstance(given, kind):
        return given
    if given is None:
        return kind(0)
    if isinstance(given, int) and not isinstance(given, bool):
        for member in kind:
            if member.value == given:
                return member
    known = ", ".join(f"{each.name}" for each in kind)
    return fail(
        "E1104",
        f"`{argument}` is {given!r}, expected a tf.{kind.__name__}",
        f"it has {known}",
        fix=f"give one of them: `tf.{kind.__name__}.{list(kind)[-1].name}`",
    )


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
