"""A Python list that grows in a staged loop: in the graph, a list of tensors."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Self

from .. import _holdfast
from .._tensors import registry
from .._tensors.dtypes import int32
from .._tensors.shape import TensorShape
from .._tensors.symbols import is_symbol
from .._tracing.journal import journal, put
from .._tracing.locations import AttributeLocation
from .._tracing.recorder import recording
from ..errors import fail, unsupported
from .iterables import Staged
from .messages import fits
from .state import as_tensor, is_number

__all__ = ["Rows", "StagedList", "joined"]


class _Element:
    """What the elements of a list are like; lists that come from one another share it."""

    __slots__ = ("dtype", "shape")

    def __init__(self, first: Any) -> None:
        self.dtype, self.shape = first.dtype, first.shape


class StagedList(Staged):
    """Does what a list does as far as a graph can: append, index, walk through, stack."""

    __carries__ = ("_list",)  # what staged code hands on of it

    def __init__(self, values: list[Any], first: Any, outside: bool = False) -> None:
        """`first` is a tensor like those that will be appended; numbers among `values` follow it.

        A list from outside the trace is not looked into before somebody asks for its elements.
        """
        self._like = _Element(first)
        self._list = _holdfast.list_reserve(self._like.dtype, None, _holdfast.convert(0, int32))
        self._before = values if outside else []
        for value in values if not outside else ():
            self.append(value)

    def _element(self, value: Any) -> Any:
        if is_number(value) and fits(value, self._like.dtype):
            value = as_tensor(value, self._like.dtype)
        tensor = as_tensor(value)
        if tensor.dtype != self._like.dtype:
            fail(
                "E0902",
                f"a list that grows in a staged loop holds {self._like.dtype.name}, and gets "
                f"{tensor.dtype.name}",
                "in the graph the list is stacked, and a tensor has one dtype.",
                fix=f"append `tf.cast(..., tf.{self._like.dtype.name})`",
            )
        return tensor

    def append(self, value: Any) -> None:
        """One more element."""
        tensor = self._element(value)
        self._like.shape = _wider(self._like.shape, tensor.shape)
        put(AttributeLocation(self, "_list"), _holdfast.list_push(self._list, tensor))

    def extend(self, values: Any) -> None:
        """More elements; as many as Python can tell."""
        for value in values:
            self.append(value)

    def __iadd__(self, values: Any) -> Self:
        self.extend(values)
        return self

    def __add__(self, values: Any) -> StagedList:
        if not isinstance(values, list):
            return NotImplemented
        both = copy.copy(self)
        now = journal()
        if now is not None:
            now.note_made(both)
        for value in values:
            tensor = both._element(value)
            self._like.shape = _wider(self._like.shape, tensor.shape)
            both._list = _holdfast.list_push(both._list, tensor)
        return both

    def _dims(self) -> list[int | None] | None:
        return None if self._like.shape.rank is None else self._like.shape.as_list()

    def new(self) -> Any:
        """What was appended since, along a new first axis."""
        return _holdfast.list_stack(self._list, self._like.dtype, self._dims())

    def _earlier(self) -> list[Any]:
        """The elements of a list from outside, which the trace reads herewith."""
        recorder = recording()
        if self._before and recorder is not None:
            recorder.note_whole(self._before)
        return [self._element(value) for value in self._before]

    def stack(self) -> Any:
        """All elements along a new first axis."""
        earlier = self._earlier()
        if not earlier:
            return self.new()
        return registry.function("concat")([registry.function("stack")(earlier), self.new()], 0)

    def concat(self) -> Any:
        """All elements joined along their first axis."""
        joined = _holdfast.list_concat(self._list, self._like.dtype, self._dims())
        earlier = self._earlier()
        return registry.function("concat")([*earlier, joined], 0) if earlier else joined

    __holdfast_stack__ = stack

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        stacked = self.stack()
        return stacked if dtype is None else _holdfast.convert(stacked, dtype)

    # As something to walk through.

    def length(self) -> Any:
        count = len(self._earlier())
        return _holdfast.list_length(self._list) + count

    def element(self, index: Any) -> Any:
        if self._before:
            return registry.function("gather")(self.stack(), index)
        return _holdfast.list_get(self._list, index, self._like.dtype, self._dims())

    def python(self) -> Any:
        return self.stack()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.stack())

    def __len__(self) -> int:
        return int(self.length())

    def __bool__(self) -> bool:
        return bool(self.length() > 0)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.stack()[index]
        if not is_symbol(index) and int(index) < 0:
            index = self.length() + int(index)
        return self.element(_holdfast.convert(index, int32) if isinstance(index, int) else index)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(list, name):
            unsupported(
                f"`list.{name}` of a list that grows in a staged loop",
                "in the graph it is a list of tensors: it can be appended to, indexed, walked "
                "through and stacked.",
                fix="append only, and work on the result of `tf.stack`",
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<list of {self._like.dtype.name} tensors that grew in a staged loop>"


class Rows:
    """Stands in a store for a list: each call makes one of the rows of its tensor."""

    def __init__(self, stacked: Any) -> None:
        self.stacked = stacked

    def __tf_flatten__(self) -> tuple[tuple[()], tuple[Any]]:
        return (), (self.stacked,)

    @classmethod
    def __tf_unflatten__(cls, metadata: tuple[()], components: tuple[Any]) -> Any:
        (stacked,) = components
        computed = isinstance(stacked, _holdfast.Tensor) and not is_symbol(stacked)
        return list(stacked) if computed else cls(stacked)


def _wider(a: TensorShape, b: TensorShape) -> TensorShape:
    """A shape that both have."""
    if a.rank is None or b.rank is None or a.rank != b.rank:
        return TensorShape(None)
    both = zip(a.as_list(), b.as_list(), strict=True)
    return TensorShape([x if x == y else None for x, y in both])


def joined(function: str, values: StagedList, axis: Any) -> Any:
    """`stack`, `concat` or `add_n` of all elements."""
    if function == "add_n":
        return registry.function("reduce_sum")(values.stack(), 0)
    if function == "concat" and isinstance(axis, int) and axis == 0:
        return values.concat()
    stacked = values.stack()
    if function == "stack" and isinstance(axis, int) and axis == 0:
        return stacked
    rank = stacked.shape.rank
    if rank is None or not isinstance(axis, int):
        unsupported(
            f"`tf.{function}` along axis {axis} of a list that grew in a staged loop",
            "the rank of its elements is not known while tracing.",
            fix="along axis 0",
        )
    if function == "stack":
        location = axis if axis >= 0 else axis + rank
        order = [*range(1, location + 1), 0, *range(location + 1, rank)]
        return stacked if location == 0 else registry.function("transpose")(stacked, order)
    # The list's own axis moves in front of the elements' axis, and both become one.
    location = axis if axis >= 0 else axis + rank - 1
    order = [*range(1, location + 1), 0, *range(location + 1, rank)]
    turned = registry.function("transpose")(stacked, order)
    shape = registry.function("shape")(turned)
    sizes = [shape[i] for i in range(location)]
    sizes += [shape[location] * shape[location + 1], *(shape[i] for i in range(location + 2, rank))]
    return registry.function("reshape")(turned, registry.function("stack")(sizes))
