"""What the sides of a staged branch give, as outputs: values are made of the joined ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .._tracing.perhaps import perhaps
from .one_of import OneOf
from .records import is_record, snapshot
from .state import Spec, as_tensor, leaves_of, packed, zeros

__all__ = ["ABSENT", "Filler", "Made", "OneOfOutput", "Output", "PerhapsOutput", "filled"]

Made = Callable[[list[Any]], Any]  # makes a value from the joined outputs

ABSENT: Any = object()  # the sides do not go together


class Filler:
    """An output of the first side for something that only the second has."""

    def __init__(self, spec: Spec, value: Any = ABSENT) -> None:
        self.spec, self.value = spec, value

    def tensor(self) -> Any:
        """The value from before the branch, or zeros that nobody reads."""
        return zeros(self.spec) if self.value is ABSENT else as_tensor(self.value, self.spec.dtype)


class Output:
    """Stands for a joined output."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class PerhapsOutput:
    """Stands for a tensor that may be None: a leaf, and what makes the truth whether it is not."""

    __slots__ = ("name", "there", "value", "why")

    def __init__(self, value: Any, there: Made, name: str, why: str) -> None:
        self.value, self.there, self.name, self.why = value, there, name, why


class OneOfOutput:
    """Stands for one of several objects; `which` makes its number."""

    __slots__ = ("say", "things", "which")

    def __init__(self, things: list[Any], which: Made, say: Callable[..., NoReturn]) -> None:
        self.things, self.which, self.say = things, which, say


def _joined(leaf: Any, outputs: list[Any]) -> Any:
    """A leaf after the branch."""
    if isinstance(leaf, Output):
        return outputs[leaf.index]
    if isinstance(leaf, PerhapsOutput):
        return perhaps(_joined(leaf.value, outputs), leaf.there(outputs), leaf.name, leaf.why)
    if isinstance(leaf, OneOfOutput):
        return OneOf(leaf.things, leaf.which(outputs), leaf.say)
    return leaf


def filled(like: Any, leaves: list[Any]) -> Made:
    before, kept = leaves_of(like), snapshot(like)  # it may be changed before it is filled

    def fill(outputs: list[Any]) -> Any:
        new = [_joined(leaf, outputs) for leaf in leaves]
        if is_record(like) and all(a is b for a, b in zip(before, new, strict=True)):
            return like
        return packed(kept, new)

    return fill
