"""Windows over a series, as a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._tensors import registry
from ..._tensors.tensor import convert_to_tensor
from ...errors import fail, unsupported

__all__ = ["timeseries_dataset_from_array"]


def timeseries_dataset_from_array(
    data: Any,
    targets: Any,
    sequence_length: int,
    sequence_stride: int = 1,
    sampling_rate: int = 1,
    batch_size: int | None = 128,
    shuffle: bool = False,
    seed: int | None = None,
    start_index: int | None = None,
    end_index: int | None = None,
    format: str = "tf",
) -> Any:
    """Windows of `sequence_length` steps, each beside the target of the step that it begins at.

    Windows begin `sequence_stride` steps apart, and take every `sampling_rate`-th step.
    """
    from ...data import AUTOTUNE, Dataset

    if format != "tf":
        unsupported(
            f"`timeseries_dataset_from_array` with `format={format!r}` is not supported",
            "it gives a `tf.data.Dataset`",
            fix='leave `format` out, or say "tf"',
        )
    total = len(data)
    _check(total, sequence_length, sequence_stride, sampling_rate, start_index, end_index)
    first, end = start_index or 0, end_index or total
    count = end - first - (sequence_length - 1) * sampling_rate
    if targets is not None:
        count = min(count, len(targets))
    begins = np.arange(0, max(count, 0), sequence_stride, dtype="int64")
    if shuffle:
        seed = int(np.random.randint(10**6)) if seed is None else seed
        np.random.RandomState(seed).shuffle(begins)
    series = convert_to_tensor(data[first:end])
    gather = registry.function("gather")
    steps = np.arange(sequence_length, dtype="int64") * sampling_rate
    windows = Dataset.from_tensor_slices(begins).map(lambda i: gather(series, i + steps))
    if targets is not None:
        wanted = convert_to_tensor(targets[first:end])
        beside = Dataset.from_tensor_slices(begins).map(lambda i: gather(wanted, i))
        windows = Dataset.zip((windows, beside))
    windows = windows.prefetch(AUTOTUNE)
    if shuffle:
        windows = windows.shuffle(1024 if batch_size is None else 8 * batch_size, seed=seed)
    return windows if batch_size is None else windows.batch(batch_size)


def _check(
    total: int, length: int, stride: int, rate: int, first: int | None, end: int | None
) -> None:
    for name, value in (("sequence_stride", stride), ("sampling_rate", rate)):
        if not 0 < value < total:
            _refuse(name, value, f"1 to {total - 1}, as there are {total} steps")
    if length < 1:
        _refuse("sequence_length", length, "at least 1")
    if first is not None and not 0 <= first < total:
        _refuse("start_index", first, f"0 to {total - 1}")
    if end is not None and not (first or 0) < end < total:
        _refuse("end_index", end, f"{(first or 0) + 1} to {total - 1}")


def _refuse(name: str, value: int, expected: str) -> None:
    fail(
        "E1103",
        f"`timeseries_dataset_from_array`: `{name}` is {value}, expected {expected}",
    )
