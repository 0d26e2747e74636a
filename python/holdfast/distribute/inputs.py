"""What replicas are fed with: datasets, of which the one replica gets every element."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from .. import _holdfast
from ..data.dataset import Dataset
from ..data.iterator import Iterator
from ..errors import fail

__all__ = [
    "DistributedDataset",
    "DistributedIterator",
    "InputContext",
    "InputOptions",
    "InputReplicationMode",
    "distributed",
]


class InputReplicationMode(enum.Enum):
    """For whom a function that makes a dataset is called."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(NamedTuple):
    """How elements go to the device: with one device and one worker each choice is the same."""

    experimental_fetch_to_device: bool | None = None
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


class InputContext:
    """For which of how many pipelines a dataset is asked."""

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self._pipelines, self._id = num_input_pipelines, input_pipeline_id
        self._replicas = num_replicas_in_sync

    @property
    def num_input_pipelines(self) -> int:
        """How many pipelines there are."""
        return self._pipelines

    @property
    def input_pipeline_id(self) -> int:
        """The number of this one."""
        return self._id

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas share each step."""
        return self._replicas

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The batch size of a replica, of which all together have `global_batch_size`."""
        if global_batch_size % self._replicas:
            fail(
                "E1104",
                f"`global_batch_size` is {global_batch_size}, which {self._replicas} replicas "
                "can't share evenly",
                fix=f"give a multiple of {self._replicas}",
            )
        return global_batch_size // self._replicas

    def __repr__(self) -> str:
        return f"tf.distribute.InputContext(input pipeline id {self._id}, total: {self._pipelines})"


class DistributedDataset(Dataset):
    """A dataset that a strategy shares out: all of it to the one replica."""

    def __iter__(self) -> Iterator:
        made = super().__iter__()
        if isinstance(made, Iterator):  # a traced one has no class of its own here
            made.__class__ = _distributed_kind(type(made))
        return made


class DistributedIterator(Iterator):
    """One iteration of a `DistributedDataset`."""


_kinds: dict[type, type] = {Iterator: DistributedIterator}


def _distributed_kind(kind: type) -> type:
    """The class of distributed iterators that give elements as another class does."""
    made = _kinds.get(kind)
    if made is None:
        made = _kinds[kind] = type("DistributedIterator", (kind, DistributedIterator), {})
    return made


def distributed(dataset: Any, options: InputOptions | None, of: str) -> DistributedDataset:
    """A dataset as the one replica gets it."""
    if not isinstance(dataset, Dataset):
        fail(
            "E1104",
            f"`{of}` got a {type(dataset).__name__}, expected a tf.data.Dataset",
            fix="make one of it: `tf.data.Dataset.from_tensor_slices(...).batch(...)`",
        )
    if options is not None and not isinstance(options, InputOptions):
        given = type(options).__name__
        fail("E1104", f"`{of}`: `options` is {given}, expected tf.distribute.InputOptions")
    made = dataset._same(_holdfast.data_take(dataset, -1))
    made.__class__ = DistributedDataset
    found: Any = made
    kept: DistributedDataset = found
    return kept
