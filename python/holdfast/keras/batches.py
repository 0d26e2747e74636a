"""Where `fit`, `evaluate` and `predict` take their batches from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NoReturn

import numpy as np

from .. import _holdfast, nest
from .._variables.variable import Variable
from ..errors import fail, unsupported

__all__ = ["Weighed", "batches_of", "is_array", "is_arrays"]


def _plain(value: Any) -> Any:
    """A frame or series of pandas as the array that it holds."""
    if hasattr(value, "to_numpy") and hasattr(value, "iloc"):
        return value.to_numpy()
    return value


def is_array(value: Any) -> bool:
    """Whether a value is one array, or becomes one."""
    return isinstance(value, (np.ndarray, _holdfast.Tensor, Variable)) or (
        hasattr(value, "__array__") and not hasattr(value, "element_spec")
    )


def is_arrays(value: Any) -> bool:
    """Whether a value is arrays, or lists and dicts of them."""
    if is_array(value):
        return True
    if isinstance(value, dict):
        given = [v for v in value.values() if v is not None]  # an Input may be left out
        return (bool(given) or not value) and all(is_arrays(v) for v in given)
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(
            is_arrays(v) or v is None or isinstance(v, (int, float)) for v in value
        )
    return False


class _Sequence:
    """Batches of a `PyDataset`: by index, in a new order for each epoch if wanted."""

    def __init__(self, sequence: Any, shuffle: bool) -> None:
        self._sequence = sequence
        self._shuffle = shuffle
        self._order: list[int] = []
        # Batches in the making, in their order, where the program wants several at once.
        self._workers = int(getattr(sequence, "workers", 1) or 0)
        self._ahead = max(int(getattr(sequence, "max_queue_size", 10) or 0), self._workers)
        self._pool: ThreadPoolExecutor | None = None
        self._making: deque[Future[Any]] = deque()
        if getattr(sequence, "use_multiprocessing", False):
            unsupported(
                f"`use_multiprocessing` of {type(sequence).__name__} is not supported",
                "batches are made by threads of this process",
                fix="leave it out; `workers=4` makes four batches at a time",
            )
        self.batches: int | None = getattr(sequence, "num_batches", None) or len(sequence)

    def begin(self) -> None:
        if hasattr(self._sequence, "on_epoch_begin"):
            self._sequence.on_epoch_begin()
        self._order = list(range(len(self._sequence)))
        if self._shuffle:
            np.random.shuffle(self._order)
        self._order.reverse()
        self._stop()
        if self._workers > 1:
            self._pool = ThreadPoolExecutor(self._workers)

    def next_batch(self) -> Any:
        batch = self._made()
        if batch is not None and not self._order and not self._making:
            self._epoch_ends()
        return batch

    def _epoch_ends(self) -> None:
        self._stop()
        if hasattr(self._sequence, "on_epoch_end"):
            self._sequence.on_epoch_end()

    def _made(self) -> Any:
        if self._pool is None:
            return _as_batch(self._sequence[self._order.pop()]) if self._order else None
        while self._order and len(self._making) < self._ahead:
            self._making.append(self._pool.submit(self._sequence.__getitem__, self._order.pop()))
        return _as_batch(self._making.popleft().result()) if self._making else None

    def _stop(self) -> None:
        for one in self._making:
            one.cancel()
        self._making.clear()
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    def position(self) -> bytes | None:
        """None: what a program's own class draws for its batches is not known."""
        return None

    def resume(self, position: bytes) -> None:
        _refuse_position(self._sequence)

    def __del__(self) -> None:
        if self.__dict__.get("_pool") is not None:
            self._stop()


class _Iterable:
    """Batches of anything that can be iterated over; a generator goes on where it was."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._iterator: Iterator[Any] | None = None
        size = None
        if hasattr(source, "cardinality"):
            known = int(source.cardinality())
            size = known if known >= 0 else None
        self.batches: int | None = size

    def begin(self) -> None:
        if self._iterator is None or self._iterator is not self._source:
            self._iterator = iter(self._source)

    def next_batch(self) -> Any:
        if self._iterator is None:
            self.begin()
        for batch in self._iterator or ():
            return _as_batch(batch)
        return None

    def position(self) -> bytes | None:
        """Where a dataset's iterator stands; None of others."""
        if not isinstance(self._iterator, _holdfast.DatasetIteratorBase):
            return None
        return _holdfast.data_iterator_save(self._iterator)

    def resume(self, position: bytes) -> None:
        begun = iter(self._source)
        if not isinstance(begun, _holdfast.DatasetIteratorBase):
            _refuse_position(self._source)
        _holdfast.data_iterator_restore(begun, position)
        self._iterator = begun


class Weighed:
    """Batches of another source, whose examples weigh what their classes do."""

    def __init__(self, source: Any, weights: dict[int, float]) -> None:
        self._source = source
        self._weights = weights
        self.batches = source.batches

    def begin(self) -> None:
        self._source.begin()

    def next_batch(self) -> Any:
        batch = self._source.next_batch()
        if batch is None:
            return None
        if len(batch) != 2:
            fail(
                "E1104",
                f"`class_weight` needs batches of inputs and targets, got {len(batch)} parts",
                "it weighs examples by their targets, and `sample_weight` can't be given too",
            )
        return (*batch, _holdfast.weights_by_class(np.asarray(batch[1]), self._weights))

    def position(self) -> bytes | None:
        return self._source.position()  # type: ignore[no-any-return]

    def resume(self, position: bytes) -> None:
        self._source.resume(position)


def _refuse_position(source: Any) -> NoReturn:
    fail("E1301", f"a position that was saved does not belong to a {type(source).__name__}")


def _as_batch(batch: Any) -> Any:
    """A tuple of x, y and weights."""
    if isinstance(batch, tuple):
        return tuple(_plain(part) for part in batch)
    return (_plain(batch),)


def batches_of(
    x: Any,
    y: Any,
    sample_weight: Any,
    batch_size: int | None,
    *,
    shuffle: bool,
    leave_out_last: float = 0.0,
    only_last: bool = False,
) -> Any:
    """Data of any kind, as C++'s loops take it."""
    if x is None:
        fail("E1104", "`x` is missing: there is nothing to compute from")
    x, y, sample_weight = _plain(x), _plain(y), _plain(sample_weight)
    if is_arrays(x) or (isinstance(x, (list, tuple)) and x and _numbers(x)):
        return {
            "x": x,
            "y": y,
            "sample_weight": sample_weight,
            "batch_size": 32 if batch_size is None else int(batch_size),
            "shuffle": shuffle and not only_last,
            "leave_out_last": float(leave_out_last),
            "only_last": only_last,
        }
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is not None:
            fail(
                "E1104",
                f"`{name}` is given beside a {type(x).__name__}, which gives whole batches",
                fix=f"leave `{name}` out, and let `x` give `(inputs, targets)`",
            )
    if leave_out_last:
        fail("E1104", f"`validation_split` needs arrays, and `x` is a {type(x).__name__}")
    if hasattr(x, "__getitem__") and hasattr(x, "__len__") and not hasattr(x, "element_spec"):
        return _Sequence(x, shuffle)
    if hasattr(x, "__iter__"):
        return _Iterable(x)
    return fail(
        "E1104",
        f"`x` is a {type(x).__name__}, expected arrays, a dataset, a generator or a PyDataset",
    )


def _numbers(value: Any) -> bool:
    return all(isinstance(leaf, (int, float)) for leaf in nest.flatten(value))
