"""What a staged `for` can walk through: element `i` of something whose length a tensor tells."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from .. import _holdfast
from .._tensors import registry
from .._tensors.dtypes import int32
from .._tensors.symbols import is_symbol
from .._tracing.moved import current
from .._tracing.recorder import recording

__all__ = ["Items", "Staged", "enumerate_", "range_", "stageable", "zip_"]


class Staged:
    """Elements by number, in a graph."""

    def length(self) -> Any:
        """How many there are: an int, or a tensor."""
        raise NotImplementedError

    def element(self, index: Any) -> Any:
        """Element `index`, which is an int32 tensor."""
        raise NotImplementedError

    def python(self) -> Any:
        """The same for Python, which has to know the length."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        return iter(self.python())


class Items(Staged):
    """The rows of a tensor."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def length(self) -> Any:
        shape = self.tensor.shape
        if shape.rank == 0:
            raise TypeError("a scalar tensor has no rows to go through")
        size = shape[0] if shape.rank else None
        return size if size is not None else registry.function("shape")(self.tensor)[0]

    def element(self, index: Any) -> Any:
        return registry.function("gather")(self.tensor, index)

    def python(self) -> Any:
        return self.tensor


class _Range(Staged):
    """`range` of symbols."""

    def __init__(self, *bounds: Any) -> None:
        self.bounds = bounds
        dtype = next(each.dtype for each in bounds if is_symbol(each))
        given = [_as(each, dtype) for each in bounds]
        self.start, self.step = _as(0, dtype), _as(1, dtype)
        if len(given) == 1:
            (self.stop,) = given
        elif len(given) == 2:
            self.start, self.stop = given
        else:
            self.start, self.stop, self.step = given
        self.simple = len(bounds) == 1

    def length(self) -> Any:
        if self.simple:
            return self.stop
        count = -((self.start - self.stop) // self.step)  # rounded up
        return registry.function("maximum")(count, _as(0, count.dtype))

    def element(self, index: Any) -> Any:
        index = registry.function("cast")(index, self.start.dtype)
        return index if self.simple else self.start + index * self.step

    def python(self) -> Any:
        return range(*self.bounds)


def _as(value: Any, dtype: Any) -> Any:
    return value if isinstance(value, _holdfast.Tensor) else _holdfast.convert(value, dtype)


class _Enumerated(Staged):
    def __init__(self, inner: Staged, start: Any) -> None:
        self.inner, self.start = inner, start

    def length(self) -> Any:
        return self.inner.length()

    def element(self, index: Any) -> Any:
        number = index if _is_zero(self.start) else index + self.start
        return number, self.inner.element(index)

    def python(self) -> Any:
        return enumerate(self.inner, self.start)


def _is_zero(start: Any) -> bool:
    return isinstance(start, int) and start == 0


class _Zipped(Staged):
    def __init__(self, parts: list[Staged]) -> None:
        self.parts = parts

    def length(self) -> Any:
        lengths = [part.length() for part in self.parts]
        if all(isinstance(each, int) for each in lengths):
            return min(lengths)
        tensors = [
            registry.function("cast")(_holdfast.convert(each, None), int32) for each in lengths
        ]
        return functools.reduce(registry.function("minimum"), tensors)

    def element(self, index: Any) -> Any:
        return tuple(part.element(index) for part in self.parts)

    def python(self) -> Any:
        return zip(*self.parts, strict=False)


def stageable(values: Any) -> Staged | None:
    """`values` as something a staged loop can walk through; None if Python walks through it."""
    values = current(values)
    if isinstance(values, Staged):
        return values
    if isinstance(values, _holdfast.VariableBase) and _holdfast.is_tracing():
        values = values.read()
    return Items(values) if is_symbol(values) or _is_long(values) else None


_MOST_UNROLLED = 1000  # rows of a tensor with a value that become iterations of their own


def _is_long(values: Any) -> bool:
    """Whether Python would write down too much, were it to walk through a tensor's rows."""
    if not isinstance(values, _holdfast.Tensor) or not _holdfast.is_tracing():
        return False
    return bool(values.shape.rank) and (values.shape[0] or 0) > _MOST_UNROLLED


def _noted(values: Any) -> Any:
    recorder = recording()
    if recorder is not None and isinstance(values, (list, dict, set)):
        recorder.note_whole(values)
    return values


def _walks_itself(values: Any) -> bool:
    """Whether it is a dataset, in a trace: it numbers and pairs its elements itself."""
    kind = type(values)
    return hasattr(kind, "__graph_for__") and hasattr(kind, "zip") and _holdfast.is_tracing()


def range_(*bounds: Any) -> Any:
    """`range(...)`."""
    return _Range(*bounds) if any(map(is_symbol, bounds)) else range(*bounds)


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """`enumerate(...)`."""
    inner = stageable(iterable)
    if _walks_itself(iterable):
        return iterable.enumerate(start)
    if inner is None:
        return enumerate(_noted(iterable), start)
    return _Enumerated(inner, start)


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """`zip(...)`: staged if every part is; a list beside a tensor makes Python unroll both."""
    found = [stageable(each) for each in iterables]
    if not strict and any(each is not None for each in found):
        pairs = zip(found, iterables, strict=True)
        parts = [_rows(values) if each is None else each for each, values in pairs]
        staged = [part for part in parts if part is not None]
        if len(staged) == len(parts):
            return _Zipped(staged)
    if not strict and iterables and all(map(_walks_itself, iterables)):
        return type(iterables[0]).zip(*iterables)
    return zip(*map(_noted, iterables), strict=strict)


def _rows(values: Any) -> Staged | None:
    """A tensor with a value, beside symbols."""
    return Items(values) if isinstance(values, _holdfast.Tensor) else None
