"""`tf.data.experimental`: older names of what `tf.data.Dataset` does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .dataset import Dataset
from .options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ThreadingOptions,
)
from .structure import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "ThreadingOptions",
    "cardinality",
    "enumerate_dataset",
    "get_single_element",
    "get_structure",
    "take_while",
    "unbatch",
]

Counter = Dataset.counter


def cardinality(dataset: Dataset) -> Any:
    """How many elements a dataset has."""
    return dataset.cardinality()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of its elements."""
    return dataset_or_iterator.element_spec


def get_single_element(dataset: Dataset) -> Any:
    """The one element of a dataset."""
    return dataset.get_single_element()


def enumerate_dataset(start: Any = 0) -> Callable[[Dataset], Dataset]:
    """`Dataset.enumerate`, for `Dataset.apply`."""
    return lambda dataset: dataset.enumerate(start)


def take_while(predicate: Callable[..., Any]) -> Callable[[Dataset], Dataset]:
    """`Dataset.take_while`, for `Dataset.apply`."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Callable[[Dataset], Dataset]:
    """`Dataset.unbatch`, for `Dataset.apply`."""
    return lambda dataset: dataset.unbatch()
