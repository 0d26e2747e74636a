"""A Python list that grows in a staged loop: in the graph, a list of tensors."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NoReturn

from .. import _holdfast
from .._flow import control
from .._messages.visible import visible_name
from .._tensors import registry
from .._tensors.dtypes import int32
from .._tensors.shape import TensorShape
from .._tensors.symbols import is_symbol
from .._tracing.conditional import refuse_stale
from .._tracing.moved import current
from .._tracing.recorder import recording
from ..errors import fail, unsupported, used_here
from .iterables import Staged
from .list_changes import Changing
from .messages import fits
from .reads import fresh
from .state import Spec, as_tensor, is_number
from .walking import iterated

__all__ = ["Rows", "StagedList", "display", "joined", "star"]


class _Element:
    """What the elements of a list are like; lists that come from one another share it."""

    __slots__ = ("dtype", "shape")

    def __init__(self, first: Any) -> None:
        self.dtype, self.shape = first.dtype, first.shape


class StagedList(Changing):
    """Does what a list does as far as a graph can: append, index, walk through, stack."""

    __carries__ = ("_list",)  # what staged code hands on of it

    def __init__(self, values: Any, first: Any, outside: bool = False) -> None:
        """`first` is a tensor like those that will be appended; numbers among `values` follow it.

        A list from outside the trace is not looked into before somebody asks for its elements.
        `values` may be a tuple: then it stands for one, which grows by being made anew.
        """
        self._kind = type(values)
        self._like = _Element(first)
        self._list = _holdfast.list_reserve(self._like.dtype, None, _holdfast.convert(0, int32))
        self._before, self._outside = values if outside else [], outside
        for value in values if not outside else ():
            self._push(value)

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

    def _push(self, value: Any) -> None:
        tensor = self._element(value)
        self._widen(tensor)
        self._leave(_holdfast.list_push(self._list, tensor))

    def _widen(self, value: Any) -> None:
        self._like.shape = _wider(self._like.shape, value.shape)

    def _need_list(self, method: str) -> None:
        if self._kind is tuple:
            raise AttributeError(f"'tuple' object has no attribute {method!r}")

    def append(self, value: Any) -> None:
        """One more element."""
        self._need_list("append")
        self._push(value)

    def extend(self, values: Any) -> None:
        """More elements; as many as Python can tell."""
        self._need_list("extend")
        for value in values:
            self._push(value)

    def __iadd__(self, values: Any) -> Any:
        if self._kind is tuple:
            return self + values  # `old = t` before it keeps what it has
        self.extend(values)
        return self

    def __add__(self, values: Any) -> StagedList:
        if not _go_together(self, values):
            return NotImplemented
        return self.beside(values, self) if isinstance(values, Staged) else self.longer(values)

    def __radd__(self, values: Any) -> StagedList:
        return self.beside(self, values) if _go_together(values, self) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        return self._cannot("*", "`tf.tile` of the result of `tf.stack`")

    __rmul__ = __imul__ = __mul__

    def _cannot(self, operator: str, instead: str) -> NoReturn:
        kind = self._kind.__name__
        unsupported(
            f"`{operator}` of a {kind} that grows in staged code",
            "in the graph it is a list of tensors: it can be changed, indexed, walked through and "
            "stacked.",
            fix=f"take {instead}",
        )

    def _another(self) -> StagedList:
        both: StagedList = fresh(copy.copy(self))
        return both

    def longer(self, values: Any) -> StagedList:
        """Another one, with more elements at the end."""
        both = self._another()
        for value in values:
            tensor = both._element(value)
            self._widen(tensor)
            both._list = _holdfast.list_push(both._list, tensor)
        return both

    def beside(self, last: Any, first: Any) -> StagedList:
        """Another one, of the elements of two; either may be a plain list."""
        both = self._another()
        parts = [self._rows(part) for part in (first, last)]
        rows = registry.function("concat")([part for part in parts if part is not None], 0)
        both._before, both._list = [], _holdfast.list_unstack(rows)
        both._outside = False
        return both

    def _rows(self, part: Any) -> Any:
        if isinstance(part, StagedList):
            return part.stack()
        elements = [self._element(value) for value in part]
        for tensor in elements:
            self._widen(tensor)
        return registry.function("stack")(elements) if elements else None

    def of_kind(self, kind: type[Any]) -> StagedList:
        """Another one with the same elements, which stands for a list or for a tuple."""
        both = self._another()
        both._kind = kind
        return both

    def _dims(self) -> list[int | None] | None:
        return None if self._like.shape.rank is None else self._like.shape.as_list()

    def new(self) -> Any:
        """What was appended since, along a new first axis."""
        refuse_stale(self)
        return _holdfast.list_stack(self._list, self._like.dtype, self._dims())

    def _earlier(self) -> list[Any]:
        """The elements of a list from outside, which the trace reads herewith."""
        recorder = recording()
        place = recorder.place_of(self._before) if recorder is not None else None
        if recorder is not None and (self._before or place is not None):
            recorder.note_whole(self._before, place)  # of an empty one, that it is empty
        return [self._element(value) for value in self._before]

    def stack(self) -> Any:
        """All elements along a new first axis."""
        earlier = self._earlier()
        if not earlier:
            return self.new()
        return registry.function("concat")([registry.function("stack")(earlier), self.new()], 0)

    def concat(self) -> Any:
        """All elements joined along their first axis."""
        refuse_stale(self)
        joined = _holdfast.list_concat(self._list, self._like.dtype, self._dims())
        earlier = self._earlier()
        return registry.function("concat")([*earlier, joined], 0) if earlier else joined

    __holdfast_stack__ = stack

    def __leaves_trace__(self) -> Rows:
        return Rows(self.stack(), self._kind)

    @property
    def kind(self) -> type[Any]:
        """What it stands for: a list, or a tuple."""
        return self._kind

    def spec(self) -> Spec:
        """What its elements are like."""
        shape = self._like.shape
        return Spec(self._like.dtype, None if shape.rank is None else tuple(shape.as_list()))

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        stacked = self.stack()
        return stacked if dtype is None else _holdfast.convert(stacked, dtype)

    # As something to walk through.

    def length(self) -> Any:
        refuse_stale(self)
        count = len(self._earlier())
        return _holdfast.list_length(self._list) + count

    def element(self, index: Any) -> Any:
        if self._before:
            return registry.function("gather")(self.stack(), index)
        refuse_stale(self)
        return _holdfast.list_get(self._list, index, self._like.dtype, self._dims())

    def python(self) -> Any:
        return self.stack()

    def __iter__(self) -> Iterator[Any]:
        rows = self.stack()
        if not is_symbol(rows) or rows.shape.rank is None or rows.shape.as_list()[0] is not None:
            return iter(rows)
        name = visible_name(lambda value: current(value) is self) or "a list"
        quoted = f"`{name}`" if name != "a list" else name
        fail(
            "E0202",
            f"all elements of {quoted} are wanted at once, which grew in staged code",
            "how many there are is known when the graph runs, and Python wants them now",
            fix=f"walk through it with `for`; or let `tf.stack({name})` be one tensor, of which "
            "`tf.map_fn(lambda row: ..., ...)` takes each row",
            labels=used_here("its elements are wanted here"),
            subject={"name": name},
        )

    def __eq__(self, other: object) -> Any:
        """Whether two lists hold the same, which the graph knows; another object is not equal."""
        kind = other.kind if isinstance(other, StagedList) else type(other)
        if kind is not self._kind:
            return NotImplemented
        if other is self:
            return True
        mine, theirs = self.length(), _length(other)
        if not isinstance(other, StagedList) and not theirs:
            return mine == 0
        if self._like.shape.rank != 0:
            unsupported(
                f"`==` of a {kind.__name__} that grew in a staged loop",
                "its elements are no scalars, of which the truth of `==` is not one truth.",
                fix="`tf.reduce_all(tf.stack(...) == ...)` says what is to be equal",
            )
        rows: Any = other
        return control.cond(
            mine == theirs,
            lambda: registry.function("reduce_all")(self.stack() == self._rows(rows)),
            lambda: as_tensor(False),
        )

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        if same is NotImplemented or isinstance(same, bool):
            return same if same is NotImplemented else not same
        return registry.function("logical_not")(same)

    __hash__ = object.__hash__

    def __len__(self) -> int:
        return int(self.length())

    def __bool__(self) -> bool:
        return bool(self.length() > 0)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            part = self._another()
            part._before, part._list = [], _holdfast.list_unstack(self.stack()[index])
            part._outside = False
            return part
        if not is_symbol(index) and int(index) < 0:
            index = self.length() + int(index)
        return self.element(_holdfast.convert(index, int32) if isinstance(index, int) else index)

    def __getattr__(self, name: str) -> Any:
        kind = self.__dict__.get("_kind", list)
        if not name.startswith("_") and hasattr(kind, name):
            unsupported(
                f"`{kind.__name__}.{name}` of a {kind.__name__} that grows in a staged loop",
                "in the graph it is a list of tensors, which has no such method.",
                fix="work on the result of `tf.stack`",
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        kind = self._kind.__name__
        return f"<{kind} of {self._like.dtype.name} tensors that grew in a staged loop>"


class Rows:
    """Stands in a store or a result for a list: each call makes one of the rows of its tensor."""

    __leaves_container__ = True  # who has it has a container

    def __init__(self, stacked: Any, kind: type[Any] = list) -> None:
        self.stacked, self.kind = stacked, kind

    def __tf_flatten__(self) -> tuple[tuple[Any], tuple[Any]]:
        return (self.kind,), (self.stacked,)

    @classmethod
    def __tf_unflatten__(cls, metadata: tuple[Any], components: tuple[Any]) -> Any:
        (kind,), (stacked,) = metadata, components
        computed = isinstance(stacked, _holdfast.Tensor) and not is_symbol(stacked)
        return kind(stacked) if computed else cls(stacked, kind)


def _length(values: Any) -> Any:
    return values.length() if isinstance(values, StagedList) else len(values)


def _go_together(left: Any, right: Any) -> bool:
    """Whether two can be added, of which one grew: two lists, or two tuples."""
    kinds = [each.kind if isinstance(each, StagedList) else type(each) for each in (left, right)]
    names = [kind.__name__ for kind in kinds]
    if all(issubclass(kind, tuple) for kind in kinds) or all(issubclass(k, list) for k in kinds):
        return True
    if all(issubclass(kind, (list, tuple)) for kind in kinds):
        raise TypeError(f'can only concatenate {names[0]} (not "{names[1]}") to {names[0]}')
    return False


def star(values: Any) -> Any:
    """`*values` in a display: its elements as they are before the next part is evaluated."""
    values = current(values)
    if isinstance(values, StagedList):
        return values.of_kind(values.kind)
    return [*iterated(values)]


def display(name: str, stars: str, *values: Any) -> Any:
    """`[*values, x]` or `(*values, x)`; `stars` has a star for each part that `star` gave."""
    kind: type[Any] = list if name == "list" else tuple
    total: Any = []
    for mark, value in zip(stars, values, strict=True):
        part = value if mark == "*" else [value]
        if isinstance(total, StagedList):
            total = total.beside(part, total) if isinstance(part, Staged) else total.longer(part)
        elif not isinstance(part, StagedList):
            total += part
        else:
            total = part.beside(part, total) if total else part
    if isinstance(total, StagedList):
        return total.of_kind(kind)
    return fresh(total) if kind is list else kind(total)


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
