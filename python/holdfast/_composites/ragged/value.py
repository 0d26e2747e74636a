"""What a session gives for a ragged tensor, and values as nested lists."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["RaggedTensorValue", "nested_array", "nested_list"]


class RaggedTensorValue:
    """What a session gives for a ragged tensor: NumPy's arrays, or one of these inside."""

    _holds_arrays = True

    def __init__(self, values: Any, row_splits: Any) -> None:
        self._values, self._row_splits = values, np.asarray(row_splits)

    values = property(lambda self: self._values)
    row_splits = property(lambda self: self._row_splits)
    dtype = property(lambda self: self._values.dtype)

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of each ragged axis, the outermost first."""
        inner = self._values
        rest = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return self._row_splits, *rest

    @property
    def ragged_rank(self) -> int:
        """How many axes are ragged, up to the innermost one that is."""
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Its shape, None for ragged axes."""
        inner = self._values.shape
        return len(self._row_splits) - 1, None, *inner[1:]

    def to_list(self) -> list[Any]:
        """As nested lists."""
        return nested_list(self.flat_values, self.nested_row_splits)

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"


def nested_list(flat: Any, splits: Sequence[Any]) -> list[Any]:
    """Values as lists of lists."""
    found = flat.tolist()
    for each in reversed(splits):
        bounds = each.tolist()
        found = [found[a:b] for a, b in itertools.pairwise(bounds)]
    return list(found)


def nested_array(flat: Any, splits: Sequence[Any]) -> Any:
    """As an array, of arrays where rows differ in their lengths."""
    found = flat
    for each in reversed(splits):
        bounds = each.tolist()
        rows = [found[a:b] for a, b in itertools.pairwise(bounds)]
        if len({len(row) for row in rows}) == 1:
            found = np.stack(rows)
            continue
        found = np.empty(len(rows), found.dtype if not rows else object)
        for i, row in enumerate(rows):
            found[i] = row
    return found
