"""Data that comes in batches: base classes for a program's own, and tuples of a batch's parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import fail, unsupported

__all__ = [
    "PyDataset",
    "Sequence",
    "pack_x_y_sample_weight",
    "split_dataset",
    "unpack_x_y_sample_weight",
]


class PyDataset:
    """Batches by their number. A program's class says `__getitem__` and `__len__`."""

    def __init__(
        self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10
    ) -> None:
        self.workers = workers
        self.use_multiprocessing = use_multiprocessing
        self.max_queue_size = max_queue_size

    def __getitem__(self, index: int) -> Any:
        fail(
            "E1105",
            f"`{type(self).__name__}` has no `__getitem__`",
            "a PyDataset says there what batch `index` is",
            fix="define `def __getitem__(self, index)`, which gives `x, y` of a batch",
        )

    @property
    def num_batches(self) -> int | None:
        """How many batches there are; None for as many as are asked for."""
        if not hasattr(self, "__len__"):
            fail(
                "E1105",
                f"`{type(self).__name__}` has no `__len__`",
                fix="define `def __len__(self)`, which gives the number of batches",
            )
        return len(self)

    def on_epoch_begin(self) -> None:
        """Called before each epoch."""

    def on_epoch_end(self) -> None:
        """Called after each epoch."""

    def __iter__(self) -> Iterator[Any]:
        count, i = self.num_batches, 0
        while count is None or i < count:
            yield self[i]
            i += 1


Sequence = PyDataset


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """`x, y, sample_weight` of a batch; None for what it does not have."""
    parts = tuple(data) if isinstance(data, (list, tuple)) else (data,)
    if not 1 <= len(parts) <= 3:
        fail(
            "E1104",
            f"a batch has {len(parts)} parts, expected `x`, `(x, y)` or `(x, y, sample_weight)`",
        )
    x, y, weight = (*parts, None, None)[:3]
    return x, y, weight


def pack_x_y_sample_weight(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """The tuple of a batch, without what there is not."""
    if y is None:
        return (x,) if isinstance(x, (list, tuple)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def split_dataset(
    dataset: Any,
    left_size: float | None = None,
    right_size: float | None = None,
    shuffle: bool = False,
    seed: int | None = None,
    preferred_backend: str | None = None,
) -> tuple[Any, Any]:
    """Two datasets of one: sizes are numbers of examples, or shares of all."""
    if preferred_backend not in {None, "tensorflow"}:
        unsupported(
            f"`split_dataset` with the backend {preferred_backend!r} is not supported",
            "it gives two `tf.data.Dataset`s",
        )
    from ...data import Dataset

    examples = _examples(dataset)
    total = len(examples)
    left, right = _sizes(left_size, right_size, total)
    order = np.arange(total)
    if shuffle:
        np.random.RandomState(seed).shuffle(order)
    chosen = [examples[int(i)] for i in order]
    return (
        Dataset.from_tensor_slices(_stacked(chosen[:left])),
        Dataset.from_tensor_slices(_stacked(chosen[total - right :])),
    )


def _examples(dataset: Any) -> list[Any]:
    if isinstance(dataset, np.ndarray):
        return list(dataset)
    if isinstance(dataset, (list, tuple)) and dataset and hasattr(dataset[0], "shape"):
        return list(zip(*dataset, strict=True))
    return list(dataset)


def _stacked(examples: list[Any]) -> Any:
    if not examples:
        fail("E1103", "`split_dataset` would leave no example on one side")
    if isinstance(examples[0], (list, tuple)):
        return tuple(
            np.stack([np.asarray(e[i]) for e in examples]) for i in range(len(examples[0]))
        )
    return np.stack([np.asarray(e) for e in examples])


def _sizes(left: Any, right: Any, total: int) -> tuple[int, int]:
    if left is None and right is None:
        fail("E1104", "`split_dataset` needs `left_size` or `right_size`")

    def count(size: Any, name: str) -> int | None:
        if size is None:
            return None
        number = int(size * total) if isinstance(size, float) else size
        if not isinstance(number, int) or number < 0 or number > total:
            fail("E1103", f"`{name}` of `split_dataset` is {size}, and there are {total} examples")
        return number

    first, second = count(left, "left_size"), count(right, "right_size")
    first = total - second if first is None and second is not None else first
    second = total - first if second is None and first is not None else second
    if first is None or second is None or first + second > total:
        fail(
            "E1103",
            f"`left_size` {left} and `right_size` {right} are more than all {total} examples",
        )
    return first, second
