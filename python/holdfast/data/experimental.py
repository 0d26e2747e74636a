"""`tf.data.experimental`: older names of what `tf.data.Dataset` does."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import _holdfast
from .._flow.optional import Optional
from .._tensors import registry
from .._tensors.dtypes import int64
from ..errors import fail, need_callable
from .csv import CsvDataset, make_csv_dataset
from .dataset import Dataset
from .examples import TFRecordWriter, make_batched_features_dataset, parse_example_dataset
from .options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ThreadingOptions,
)
from .structure import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    map_leaves,
    packed,
    whole_number,
)

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Optional",
    "RandomDataset",
    "Reducer",
    "TFRecordWriter",
    "ThreadingOptions",
    "assert_cardinality",
    "at",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "from_list",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "map_and_batch",
    "pad_to_cardinality",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "take_while",
    "unbatch",
    "unique",
]

Transformation = Callable[[Dataset], Dataset]

SHARD_HINT = -1
Counter = Dataset.counter
choose_from_datasets = Dataset.choose_from_datasets
sample_from_datasets = Dataset.sample_from_datasets
load = Dataset.load


def RandomDataset(seed: Any = None, rerandomize_each_iteration: bool | None = None) -> Any:
    """`Dataset.random`."""
    return Dataset.random(seed, rerandomize_each_iteration)


def from_list(elements: Sequence[Any], name: str | None = None) -> Any:
    """A dataset of the elements of a list."""
    if not elements:
        fail("E1103", "`from_list` needs an element, and was given none")
    made = [Dataset.from_tensors(element) for element in elements]
    numbers = Dataset.range(len(made))
    return Dataset.choose_from_datasets(made, numbers) if len(made) > 1 else made[0]


def save(
    dataset: Any,
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """`Dataset.save`."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def cardinality(dataset: Dataset) -> Any:
    """How many elements a dataset has."""
    return dataset.cardinality()


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """Says how many elements there are; an iteration that finds another number fails."""
    expected = whole_number(expected_cardinality, "`expected_cardinality`")

    def apply(dataset: Dataset) -> Dataset:
        return dataset._same(_holdfast.data_assert_cardinality(dataset, expected))

    return apply


def at(dataset: Dataset, index: Any) -> Any:
    """The element with a number, in the order of the first iteration."""
    if _holdfast.is_tracing():
        return dataset.skip(index).take(1).get_single_element()
    number = whole_number(index, "`index`")
    return packed(dataset._template, _holdfast.data_at(dataset, number))


def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Transformation:
    """Adds elements of zeros until there are `cardinality`; `mask_key` says which are real."""
    wanted = whole_number(cardinality, "`cardinality`")

    def apply(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if not isinstance(spec, dict):
            fail("E1104", f"`pad_to_cardinality` takes elements that are dicts, not {spec!r}")
        count = len(dataset)
        if count > wanted:
            fail("E1103", f"the dataset has {count} elements, more than {wanted}")
        zeros = map_leaves(_zeros, spec)
        valid = dataset.map(lambda element: {**element, mask_key: _holdfast.convert(True)})
        added = Dataset.from_tensors({**zeros, mask_key: False})
        return valid.concatenate(added.repeat(wanted - count))

    return apply


def _zeros(spec: Any) -> Any:
    return registry.function("zeros")(
        [0 if size is None else size for size in spec.shape.as_list()], spec.dtype
    )


class Reducer(NamedTuple):
    """How `group_by_reducer` makes one element of all those of a key."""

    init_func: Callable[..., Any]
    reduce_func: Callable[..., Any]
    finalize_func: Callable[..., Any]


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """One element for each key, made of all elements that have it; in the order of the keys."""
    need_callable(key_func, "group_by_reducer")

    def reduced(key: Any, window: Any) -> Dataset:
        state = window.reduce(reducer.init_func(key), reducer.reduce_func)
        whole = state if isinstance(state, tuple) else (state,)
        return Dataset.from_tensors(reducer.finalize_func(*whole))

    return lambda dataset: dataset.group_by_window(key_func, reduced, window_size=2**62)


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of its elements."""
    return dataset_or_iterator.element_spec


def get_single_element(dataset: Dataset) -> Any:
    """The one element of a dataset."""
    return dataset.get_single_element()


def get_next_as_optional(iterator: Any) -> Optional:
    """The next element of an iterator, or none at its end."""
    found: Optional = iterator.get_next_as_optional()
    return found


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: int | None = None,
) -> Transformation:
    """`Dataset.map`, then `Dataset.batch`, for `Dataset.apply`."""
    calls = num_parallel_calls
    if num_parallel_batches is not None:
        if calls is not None:
            fail("E1104", "`map_and_batch` got `num_parallel_batches` and `num_parallel_calls`")
        calls = num_parallel_batches * whole_number(batch_size, "`batch_size`")
    return lambda dataset: dataset.map(map_func, calls).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: int,
    block_length: int = 1,
    sloppy: bool | None = False,
    buffer_output_elements: int | None = None,
    prefetch_input_elements: int | None = None,
) -> Transformation:
    """`Dataset.interleave` on threads of its own, for `Dataset.apply`."""
    for argument, given in (
        ("buffer_output_elements", buffer_output_elements),
        ("prefetch_input_elements", prefetch_input_elements),
    ):
        if given is not None:
            fail(
                "E1105",
                f"`{argument}` of `parallel_interleave` is not supported",
                "a stage's buffers are as large as suits",
                fix="leave it out; `prefetch` holds elements ready",
            )
    return lambda dataset: dataset.interleave(
        map_func, cycle_length, block_length, cycle_length, not sloppy
    )


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`Dataset.shuffle`, then `Dataset.repeat`, for `Dataset.apply`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def _applied(name: str) -> Callable[..., Transformation]:
    """A method of `Dataset` as a function for `Dataset.apply`."""

    def transformation(*args: Any, **kwargs: Any) -> Transformation:
        def apply(dataset: Dataset) -> Dataset:
            made: Dataset = getattr(dataset, name)(*args, **kwargs)
            return made

        return apply

    method = inspect.signature(getattr(Dataset, name))
    taken = [p for p in method.parameters.values() if p.name not in ("self", "name")]
    transformation.__signature__ = method.replace(parameters=taken)  # type: ignore[attr-defined]
    transformation.__name__ = transformation.__qualname__ = name
    transformation.__doc__ = f"`Dataset.{name}`, for `Dataset.apply`."
    return transformation


bucket_by_sequence_length = _applied("bucket_by_sequence_length")
group_by_window = _applied("group_by_window")
ignore_errors = _applied("ignore_errors")
prefetch_to_device = _applied("prefetch_to_device")
rejection_resample = _applied("rejection_resample")
scan = _applied("scan")
snapshot = _applied("snapshot")
take_while = _applied("take_while")
unbatch = _applied("unbatch")
unique = _applied("unique")


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64
) -> Transformation:
    """`Dataset.ragged_batch`, for `Dataset.apply`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """`Dataset.sparse_batch`, for `Dataset.apply`."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def enumerate_dataset(start: Any = 0) -> Transformation:
    """`Dataset.enumerate`, for `Dataset.apply`."""
    return lambda dataset: dataset.enumerate(start)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The elements on a device, for `Dataset.apply`."""
    return lambda dataset: dataset.prefetch_to_device(target_device, 0)
