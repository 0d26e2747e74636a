"""`tf.data.experimental`'s datasets of `tf.train.Example`s."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .._tensors.dtypes import string
from .._tensors.shape import TensorSpec
from ..errors import fail, need_callable
from .dataset import Dataset
from .files import TFRecordDataset
from .keeping import path_text
from .structure import AUTOTUNE, whole_number

__all__ = ["TFRecordWriter", "make_batched_features_dataset", "parse_example_dataset"]


def parse_example_dataset(
    features: Any, num_parallel_calls: Any = 1, deterministic: bool | None = None
) -> Callable[[Dataset], Dataset]:
    """`tf.io.parse_example` of batches of serialized examples, for `Dataset.apply`."""
    tf: Any = sys.modules["holdfast"]

    def apply(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != string or spec.shape.rank != 1:
            fail("E1104", f"`parse_example_dataset` takes batches of texts, and got {spec!r}")
        return dataset.map(
            lambda texts: tf.io.parse_example(texts, features), num_parallel_calls, deterministic
        )

    return apply


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Callable[..., Any] | None = None,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the examples in files, parsed by `features`.

    With `label_key`, pairs of the other features and that one. `num_epochs` times, without end
    for None; shuffled within `shuffle_buffer_size` examples.
    """
    make = TFRecordDataset if reader is None else reader
    need_callable(make, "make_batched_features_dataset")
    if label_key is not None and label_key not in features:
        fail("E1103", f"`label_key` is {label_key!r}, and the features are {sorted(features)}")
    args = tuple(reader_args or ())
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    threads = 1 if reader_num_threads is None else whole_number(reader_num_threads, "threads")
    read = files.interleave(
        lambda name: _texts(make(name, *args)),
        cycle_length=10 if threads == AUTOTUNE else threads,
        num_parallel_calls=None if threads == 1 else threads,
        deterministic=not sloppy_ordering,
    )
    if shuffle:
        read = read.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        read = read.repeat(num_epochs)
    batches = read.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    parsers = 2 if parser_num_threads is None else parser_num_threads
    parsed: Dataset = batches.apply(parse_example_dataset(features, parsers, not sloppy_ordering))
    if label_key is not None:
        label = label_key
        parsed = parsed.map(
            lambda found: ({k: v for k, v in found.items() if k != label}, found[label])
        )
    return parsed.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _texts(dataset: Any) -> Any:
    """The examples of what a reader gives: texts, or pairs of a key and a text."""
    pairs = isinstance(dataset.element_spec, tuple)
    return dataset.map(lambda _, text: text) if pairs else dataset


class TFRecordWriter:
    """Writes a dataset of texts into a file of records."""

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._filename = path_text(filename, "`filename`")
        self._compression = compression_type

    def write(self, dataset: Dataset) -> None:
        """Writes all elements of a dataset of scalar texts."""
        tf: Any = sys.modules["holdfast"]
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != string or spec.shape.rank != 0:
            fail(
                "E1104", f"`TFRecordWriter.write` takes a dataset of scalar texts, not of {spec!r}"
            )
        with tf.io.TFRecordWriter(self._filename, self._compression or "") as writer:
            for text in dataset:
                writer.write(text.numpy())
