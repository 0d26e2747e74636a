"""Where the files of datasets come from, and what several of them do with what they read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import fail
from ..utils.files import get_file

__all__ = ["cached", "shuffled_parts"]

_GOOGLE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"

Parts = tuple[tuple[Any, Any], tuple[Any, Any]]


def cached(name: str, file: str, subdir: str = "datasets") -> str:
    """The path of a dataset's file, called `name` in the cache."""
    return get_file(name, origin=_GOOGLE + file, cache_subdir=subdir)


def shuffled_parts(x: Any, y: Any, test_split: float, seed: int) -> Parts:
    """Examples in an order that a seed gives, as those to train with and those to test with."""
    if not 0 <= test_split < 1:
        fail("E1103", f"`test_split` is {test_split}, expected a share from 0 to below 1")
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    first = int(len(x) * (1 - test_split))
    return (np.array(x[:first]), np.array(y[:first])), (np.array(x[first:]), np.array(y[first:]))
