"""`tf.queue`: elements that one part of a program leaves for another.

The elements belong to the queue itself, whichever session or function adds and takes them. One run
goes through its operations in order: a run that takes what it adds itself takes it afterwards.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._tensors import registry
from .._tensors.dtypes import as_dtype, int32, int64
from .._tensors.shape import TensorShape, TensorSpec
from .._tensors.tensor import convert_to_tensor, get_static_value
from ..errors import InvalidArgumentError, fail, unsupported
from .pyfunc import python_node
from .waiting_line import Fifo, Priority, Shuffled, WaitingLine

__all__ = ["NAMES"]


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _shapes(shapes: Any, count: int) -> list[TensorShape] | None:
    """The shape of each part of an element; None where nothing was said."""
    if shapes is None:
        return None
    plain = isinstance(shapes, TensorShape) or all(x is None or isinstance(x, int) for x in shapes)
    listed = [shapes] if plain and (count == 1 or not isinstance(shapes, list)) else list(shapes)
    if len(listed) != count:
        raise ValueError(
            f"a queue of {count} dtypes got {len(listed)} `shapes`: say one for each dtype"
        )
    return [TensorShape(shape) for shape in listed]


class QueueBase:
    """What all queues do. An element is a tensor, or one of each dtype."""

    def __init__(
        self, dtypes: Any, shapes: Any, names: Any, line: WaitingLine | None = None
    ) -> None:
        self._dtypes = [as_dtype(dtype) for dtype in _listed(dtypes)]
        given = _shapes(shapes, len(self._dtypes))
        self._given = given is not None
        self._shapes = given or [TensorShape(None)] * len(self._dtypes)
        self._names = None if names is None else _listed(names)
        if self._names is not None and len(self._names) != len(self._dtypes):
            raise ValueError(
                f"a queue of {len(self._dtypes)} dtypes got {len(self._names)} `names`: say one "
                "for each dtype"
            )
        self._own = line  # None: of one of several queues
        self._indices: list[Any] = []  # the tensors that choose among several

    @property
    def name(self) -> str:
        """The name of the queue."""
        return self._line.name

    @property
    def _line(self) -> WaitingLine:
        if self._own is None:
            fail(
                "E1104",
                "a `QueueBase` is not made by its constructor",
                "it does not say in which order elements are taken",
                fix="make a `tf.queue.FIFOQueue` or one of its kin",
            )
        return self._own

    @property
    def dtypes(self) -> list[Any]:
        """The dtype of each part of an element."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shape of each part of an element."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The name of each part of an element, if they have names."""
        return self._names

    @property
    def queue_ref(self) -> Any:
        """Not supported: a queue has no handle."""
        return unsupported(
            "`queue_ref` is not supported",
            "a queue is an object of Python, and has no handle",
            fix="hand the queue itself to whoever uses it",
        )

    @staticmethod
    def from_list(index: Any, queues: Any) -> QueueBase:
        """One of several queues, chosen by `index` each time it is used."""
        queues = list(queues)
        if not queues or not all(isinstance(queue, QueueBase) for queue in queues):
            raise TypeError("`from_list`: `queues` is not a list of queues; give it one or more")
        first = queues[0]
        for other in queues[1:]:
            if other.dtypes != first.dtypes:
                raise TypeError(
                    f"`from_list`: queues `{first.name}` and `{other.name}` are of the dtypes "
                    f"{first.dtypes} and {other.dtypes}; choose among queues of the same ones"
                )
            if other.names != first.names:
                raise ValueError(
                    f"`from_list`: queues `{first.name}` and `{other.name}` have the names "
                    f"{first.names} and {other.names}; choose among queues of the same ones"
                )
        return _Chosen(convert_to_tensor(index), queues)

    def _node(
        self, work: Callable[..., Any], inputs: list[Any], specs: Any, name: str | None, kind: str
    ) -> Any:
        """Calls `work` with the chosen queue and the values of `inputs`, now or in each run."""

        def call(*values: Any) -> Any:
            index, given = values[: len(self._indices)], values[len(self._indices) :]
            return work(self._pick(index), *given)

        called = name or f"{self.name}_{kind}"
        return python_node(call, [*self._indices, *inputs], specs, called)

    def _pick(self, indices: Any) -> QueueBase:
        """The queue itself, or the one of several that the values of `_indices` choose."""
        return self

    def _parts(self, values: Any, rows: bool) -> list[Any]:
        """What the program gave, as tensors of the queue's dtypes."""
        if self._names is not None:
            if not isinstance(values, dict) or sorted(values) != sorted(self._names):
                raise ValueError(
                    f"queue `{self.name}` has names: give it a dict with the keys {self._names}"
                )
            values = [values[name] for name in self._names]
        elif isinstance(values, dict):
            raise ValueError(
                f"queue `{self.name}` has no names and takes no dict: give it a list, or say "
                "`names` where the queue is made"
            )
        listed = _listed(values)
        if len(listed) != len(self._dtypes):
            raise ValueError(
                f"queue `{self.name}` got {len(listed)} tensors, expected {len(self._dtypes)}: one "
                "for each dtype"
            )
        parts = [convert_to_tensor(v, d) for v, d in zip(listed, self._dtypes, strict=True)]
        for part, shape in zip(parts, self._shapes, strict=True):
            need = TensorShape([None]).concatenate(shape) if rows else shape
            if not part.shape.is_compatible_with(need):
                raise ValueError(self._misfit(part, need, rows))
        return parts

    def _misfit(self, part: Any, need: TensorShape, rows: bool) -> str:
        op, other = ("enqueue_many", "enqueue") if rows else ("enqueue", "enqueue_many")
        return (
            f"`{op}`: queue `{self.name}` got shape {part.shape}, expected {need}; `{other}` adds "
            + ("one element" if rows else "one element for each row")
        )

    def _check(self, parts: Any, rows: bool) -> None:
        for part, shape in zip(parts, self._shapes, strict=True):
            need = TensorShape([None]).concatenate(shape) if rows else shape
            if not part.shape.is_compatible_with(need):
                raise InvalidArgumentError(None, None, self._misfit(part, need, rows))

    def _result(self, found: list[Any]) -> Any:
        if self._names is not None:
            return dict(zip(self._names, found, strict=True))
        return found[0] if len(found) == 1 else found

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """Adds one element, once there is room."""

        def add(queue: QueueBase, *parts: Any) -> list[Any]:
            queue._check(parts, rows=False)
            queue._line.add([parts])
            return []

        return self._node(add, self._parts(vals, rows=False), [], name, "enqueue")

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """Adds one element for each row, once there is room."""
        parts = self._parts(vals, rows=True)

        def add(queue: QueueBase, *parts: Any) -> list[Any]:
            queue._check(parts, rows=True)
            counts = {int(part.shape[0]) for part in parts}
            if len(counts) != 1:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"`enqueue_many`: queue `{self.name}` got parts of {sorted(counts)} rows; give "
                    "as many rows of each",
                )
            rows = [registry.function("unstack")(part) for part in parts]
            queue._line.add(list(zip(*rows, strict=True)))
            return []

        first = parts[0].shape[0] if parts[0].shape.rank else None
        for part in parts[1:]:
            if not part.shape[:1].is_compatible_with([first]):
                raise ValueError(
                    f"`enqueue_many`: queue `{self.name}` got parts of {first} and of "
                    f"{part.shape[0]} rows; give as many rows of each"
                )
        return self._node(add, parts, [], name, "EnqueueMany")

    def dequeue(self, name: str | None = None) -> Any:
        """Takes one element, once there is one."""
        specs = [TensorSpec(s, d) for s, d in zip(self._shapes, self._dtypes, strict=True)]

        def take(queue: QueueBase) -> list[Any]:
            return list(queue._line.take(1)[0])

        return self._result(self._node(take, [], specs, name, "Dequeue"))

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Takes so many elements, as rows."""
        return self._take_rows(n, False, name, "DequeueMany")

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Takes so many elements as rows; what is left, if the queue is closed."""
        return self._take_rows(n, True, name, "DequeueUpTo")

    def _take_rows(self, n: Any, fewer: bool, name: str | None, kind: str) -> Any:
        self._need_shapes()
        count = convert_to_tensor(n, int32)
        known = None if fewer else get_static_value(count)
        if known is not None and known < 0:
            raise ValueError(f"`dequeue_many`: `n` is {known}, expected 0 or more")

        def take(queue: QueueBase, n: Any) -> list[Any]:
            if int(n) < 0:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"queue `{queue.name}`: `n` is {int(n)}, expected 0 or more elements to take",
                )
            elements = queue._line.take(int(n), fewer) if int(n) else []
            return [queue._rows(part, elements) for part in range(len(self._dtypes))]

        rows = None if known is None else int(known)
        specs = [
            TensorSpec(TensorShape([rows]).concatenate(shape), dtype)
            for shape, dtype in zip(self._shapes, self._dtypes, strict=True)
        ]
        return self._result(self._node(take, [count], specs, name, kind))

    def _need_shapes(self) -> None:
        if not self._given or not all(shape.is_fully_defined() for shape in self._shapes):
            fail(
                "E1102",
                f"queue `{self.name}`: rows need to know the shapes of the elements",
                "only elements of one shape make rows",
                fix="say `shapes` where the queue is made",
            )

    def _rows(self, part: int, elements: list[Any]) -> Any:
        """One part of all elements, as rows."""
        if elements:
            return registry.function("stack")([element[part] for element in elements])
        sizes = [0 if size is None else size for size in self._shapes[part].as_list()]
        return registry.function("zeros")([0, *sizes], self._dtypes[part])

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """Takes no more elements; those who wait to add them are served, or cancelled."""

        def close(queue: QueueBase) -> list[Any]:
            queue._line.close(cancel_pending_enqueues)
            return []

        return self._node(close, [], [], name, "Close")

    def is_closed(self, name: str | None = None) -> Any:
        """Whether the queue is closed."""
        spec = TensorSpec([], as_dtype("bool"))

        def ask(queue: QueueBase) -> list[Any]:
            return [convert_to_tensor(queue._line.closed)]

        return self._node(ask, [], [spec], name, "Is_Closed")[0]

    def size(self, name: str | None = None) -> Any:
        """How many elements there are."""
        spec = TensorSpec([], int32)

        def count(queue: QueueBase) -> list[Any]:
            return [convert_to_tensor(len(queue._line), int32)]

        return self._node(count, [], [spec], name, "Size")[0]


class _Chosen(QueueBase):
    """One of several queues, each of which takes and gives elements in its own way."""

    def __init__(self, index: Any, queues: list[QueueBase]) -> None:
        common = TensorShape.most_specific_compatible_shape
        parts = zip(*(queue.shapes for queue in queues), strict=True)
        shapes = [functools.reduce(common, part) for part in parts]
        super().__init__(queues[0].dtypes, shapes, queues[0].names)
        self._queues = queues
        self._indices = [index, *(each for queue in queues for each in queue._indices)]

    @property
    def name(self) -> str:
        """The name of the first of them."""
        return self._queues[0].name

    def _pick(self, indices: Any) -> QueueBase:
        at, inner = int(indices[0]), indices[1:]
        if not 0 <= at < len(self._queues):
            raise InvalidArgumentError(
                None,
                None,
                f"`from_list`: `index` is {at}, expected 0 to {len(self._queues) - 1}, a place in "
                "the list of queues",
            )
        before = sum(len(queue._indices) for queue in self._queues[:at])
        return self._queues[at]._pick(inner[before:])

    def _need_shapes(self) -> None:
        for queue in self._queues:
            queue._need_shapes()


def _line(kind: str, name: str, capacity: Any, shared_name: Any, elements: Any) -> WaitingLine:
    if shared_name is not None:
        unsupported(
            f"`shared_name` of a {kind} is not supported",
            "a queue is an object of the program",
            fix="hand the queue itself to whoever uses it",
        )
    if not isinstance(capacity, int):
        raise TypeError(
            f"`capacity` of a {kind} is {capacity!r}, expected an int: how many elements it holds "
            "at most"
        )
    return WaitingLine(name or kind, capacity if capacity > 0 else 2**62, elements)


class FIFOQueue(QueueBase):
    """A queue from which elements are taken in the order in which they were added."""

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        line = _line("FIFOQueue", name, capacity, shared_name, Fifo())
        super().__init__(dtypes, shapes, names, line)


class PaddingFIFOQueue(QueueBase):
    """A queue whose rows are as long as the longest element taken with them; the rest is zero."""

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        line = _line("PaddingFIFOQueue", name, capacity, shared_name, Fifo())
        super().__init__(dtypes, shapes, names, line)
        if not self._given or any(shape.rank is None for shape in self._shapes):
            raise ValueError("a PaddingFIFOQueue needs the ranks of its elements: say `shapes`")

    def _need_shapes(self) -> None:
        return None

    def _rows(self, part: int, elements: list[Any]) -> Any:
        shape = self._shapes[part]
        if shape.is_fully_defined() or not elements:
            return super()._rows(part, elements)
        given = [element[part] for element in elements]
        longest = [max(sizes) for sizes in zip(*(t.shape.as_list() for t in given), strict=True)]
        pad = registry.function("pad")
        blank: Any = "" if self._dtypes[part].name == "string" else 0
        whole = [
            pad(
                t,
                [[0, most - size] for size, most in zip(t.shape.as_list(), longest, strict=True)],
                constant_values=registry.function("cast")(blank, t.dtype) if blank == 0 else blank,
            )
            for t in given
        ]
        return registry.function("stack")(whole)


class RandomShuffleQueue(QueueBase):
    """A queue from which elements are taken in any order.

    `min_after_dequeue` elements stay behind until the queue is closed.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        if not 0 <= min_after_dequeue < (capacity if capacity > 0 else 2**62):
            raise ValueError(
                f"`min_after_dequeue` is {min_after_dequeue}, expected less than the capacity, "
                f"{capacity}"
            )
        elements = Shuffled(min_after_dequeue, _holdfast.op_seeds(seed))
        line = _line("RandomShuffleQueue", name, capacity, shared_name, elements)
        super().__init__(dtypes, shapes, names, line)


class PriorityQueue(QueueBase):
    """A queue from which the element of the smallest priority is taken first.

    An element begins with its priority, an int64, which `types` and `shapes` leave out.
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        line = _line("PriorityQueue", name, capacity, shared_name, Priority())
        payload = _listed(types) if types is not None else []
        inner = _shapes(shapes, len(payload))
        whole = None if inner is None else [TensorShape([]), *inner]
        super().__init__([int64, *payload], whole, names, line)
        self._shapes = [TensorShape([]), *self._shapes[1:]]


NAMES: dict[str, Any] = {
    f"queue.{kind.__name__}": kind
    for kind in (QueueBase, FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue, PriorityQueue)
}
