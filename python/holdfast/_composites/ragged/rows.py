"""Rows of ragged tensors by their numbers."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._tensors import registry
from . import partition
from .tensor import RaggedTensor

__all__ = ["first_of_rows", "rows_of"]

_gather = registry.function("gather")


def rows_of(values: Any, places: Any) -> Any:
    """Rows of a tensor, ragged or not, by their numbers."""
    if not isinstance(values, RaggedTensor):
        return _gather(values, places)
    splits = values.row_splits
    lengths = _gather(partition.lengths_of(splits), places)
    inner = rows_of(values.values, partition.gathered(_gather(splits[:-1], places), lengths))
    return RaggedTensor._rows(inner, partition.splits_of_lengths(lengths), values._uniform[0])


def first_of_rows(ragged: Any, lengths: Any) -> Any:
    """The first elements of each row, as many as said, or all."""
    splits = ragged.row_splits
    kept = registry.function("minimum")(_holdfast.convert(lengths), partition.lengths_of(splits))
    values = rows_of(ragged.values, partition.gathered(splits[:-1], kept))
    return RaggedTensor._rows(values, partition.splits_of_lengths(kept))
