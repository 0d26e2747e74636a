"""`tf.compat.v1.Dimension`: one size of a shape, which may be unknown, as a number."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["Dimension", "size_of"]


def size_of(value: Any) -> int | None:
    """A dimension as a number, None if it is not known."""
    if value is None or type(value) is int and value >= 0:
        return value
    if isinstance(value, Dimension):
        return value.value
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"a dimension is an int or None, got {value!r}") from None
    if number < 0:
        raise ValueError(f"a dimension is at least 0, or None, got {number}")
    return number


def _arithmetic(run: Callable[[int, int], int], swapped: bool = False) -> Callable[..., Any]:
    def computed(self: Any, other: Any) -> Any:
        try:
            number = size_of(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self.value is None or number is None:
            return Dimension(None)
        return Dimension(run(number, self.value) if swapped else run(self.value, number))

    return computed


def _comparison(run: Callable[[int, int], bool]) -> Callable[..., Any]:
    def compared(self: Any, other: Any) -> Any:
        number = size_of(other)
        return None if self.value is None or number is None else run(self.value, number)

    return compared


def _divide(self: Any, other: Any) -> NoReturn:
    raise TypeError("a dimension is whole: divide it with `//`, not with `/`")


class Dimension:
    """One entry of `TensorShape.dims`: a number, or unknown. What is unknown stays unknown."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = size_of(value)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both are the same number, or one is unknown."""
        other = Dimension(other)
        return self.value is None or other.value is None or self.value == other.value

    def assert_is_compatible_with(self, other: Any) -> None:
        """ValueError unless both are the same number, or one is unknown."""
        if not self.is_compatible_with(other):
            raise ValueError(f"the dimensions {self} and {Dimension(other)} differ")

    def merge_with(self, other: Any) -> Dimension:
        """What both know together; ValueError where they differ."""
        other = Dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other.value if self.value is None else self.value)

    __add__ = _arithmetic(operator.add)
    __radd__ = _arithmetic(operator.add, swapped=True)
    __sub__ = _arithmetic(operator.sub)
    __rsub__ = _arithmetic(operator.sub, swapped=True)
    __mul__ = _arithmetic(operator.mul)
    __rmul__ = _arithmetic(operator.mul, swapped=True)
    __floordiv__ = _arithmetic(operator.floordiv)
    __rfloordiv__ = _arithmetic(operator.floordiv, swapped=True)
    __mod__ = _arithmetic(operator.mod)
    __rmod__ = _arithmetic(operator.mod, swapped=True)
    __div__ = __floordiv__
    __truediv__ = __rtruediv__ = _divide
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)

    def __eq__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            number = size_of(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if self.value is None or number is None else self.value == number

    def __ne__(self, other: object) -> bool | None:  # type: ignore[override]
        equal = self.__eq__(other)
        return equal if equal is None or equal is NotImplemented else not equal

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __index__(self) -> int:
        if self.value is None:
            raise TypeError("the size of this dimension is not known: it is no number")
        return self.value

    def __int__(self) -> int:
        return self.__index__()

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self.value,)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)
