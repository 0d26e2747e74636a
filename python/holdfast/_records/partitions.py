"""How the values of a `tf.io.RaggedFeature` fall into rows: other features say so."""

from __future__ import annotations

import functools
import sys
from typing import Any, NamedTuple

from .._tensors.dtypes import int64
from ..errors import fail

__all__ = [
    "PARTITIONS",
    "RowLengths",
    "RowLimits",
    "RowSplits",
    "RowStarts",
    "UniformRowLength",
    "ValueRowIds",
    "keys_of",
    "partitioned",
]


class RowSplits(NamedTuple):
    """Where rows begin, and where the last one ends."""

    key: str


class RowLengths(NamedTuple):
    """How long each row is."""

    key: str


class RowStarts(NamedTuple):
    """Where each row begins."""

    key: str


class RowLimits(NamedTuple):
    """Where each row ends."""

    key: str


class ValueRowIds(NamedTuple):
    """The number of the row that each value is in."""

    key: str


class UniformRowLength(NamedTuple):
    """All rows have this length."""

    length: int


PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


def keys_of(feature: str, partitions: Any) -> list[str]:
    """The features that partitions are read from."""
    for each in partitions:
        if not isinstance(each, PARTITIONS):
            fail(
                "E1104",
                f"`partitions` of the feature `{feature}` has {each!r}, expected one of those of "
                "`tf.io.RaggedFeature`",
                fix='say `tf.io.RaggedFeature.RowLengths("key")`',
            )
    return [each.key for each in partitions if not isinstance(each, UniformRowLength)]


def partitioned(
    feature: Any, values: Any, splits: Any, given: list[tuple[Any, Any]], dtype: Any, batch: bool
) -> Any:
    """Values in rows of rows. `given` has the values and splits of each feature of `keys_of`.

    Splits tell examples apart: `values` of example i stand between two of them.
    """
    tf: Any = sys.modules[__name__.partition(".")[0]]
    in_rows = functools.partial(tf.RaggedTensor.from_row_lengths, validate=feature.validate)
    counts = _lengths(tf.cast(splits, int64))
    left = list(given)
    for each in reversed(feature.partitions):
        if isinstance(each, UniformRowLength):
            values, counts = _uniform(tf, values, each.length), counts // each.length
            continue
        ids, ends = left.pop()
        if feature.validate and isinstance(each, ValueRowIds):
            _need_ascending(tf, each.key, ids, ends)
        lengths, counts = _row_lengths(tf, each, tf.cast(ids, int64), tf.cast(ends, int64), counts)
        values = in_rows(values, tf.cast(lengths, dtype))
    if not batch:
        return values
    return in_rows(values, tf.cast(counts, dtype))


def _need_ascending(tf: Any, key: str, ids: Any, splits: Any) -> None:
    """Refuses numbers of rows that fall within an example."""
    example = tf.repeat(tf.range(tf.size(splits) - 1), _lengths(splits))
    fine = (ids[1:] >= ids[:-1]) | (example[1:] != example[:-1])
    tf.Assert(tf.reduce_all(fine), [f"`ValueRowIds`: the numbers of the feature `{key}` fall", ids])


def _lengths(splits: Any) -> Any:
    return splits[1:] - splits[:-1]


def _uniform(tf: Any, values: Any, length: int) -> Any:
    if isinstance(values, tf.RaggedTensor):
        return tf.RaggedTensor.from_uniform_row_length(values, length)
    return tf.reshape(values, [-1, length, *values.shape.as_list()[1:]])


def _row_lengths(tf: Any, how: Any, ids: Any, splits: Any, counts: Any) -> tuple[Any, Any]:
    """The lengths of all rows, one example after the other, and how many each example has."""
    per_example = _lengths(splits)
    if isinstance(how, RowLengths):
        return ids, per_example
    example = tf.repeat(tf.range(tf.size(per_example, int64)), per_example)
    if isinstance(how, ValueRowIds):
        rows = tf.maximum(tf.math.unsorted_segment_max(ids, example, tf.size(per_example)), -1) + 1
        before = tf.cumsum(rows, exclusive=True)
        row = ids + tf.gather(before, example)
        return tf.math.unsorted_segment_sum(tf.ones_like(ids), row, tf.reduce_sum(rows)), rows
    differ = example[1:] != example[:-1]
    edge = tf.ones_like(ids[:1], tf.bool)
    first, last = tf.concat([edge, differ], 0), tf.concat([differ, edge], 0)
    before = tf.concat([ids[:1] * 0, ids[:-1]], 0)
    if isinstance(how, RowSplits):
        return tf.boolean_mask(ids - before, ~first), tf.maximum(per_example - 1, 0)
    if isinstance(how, RowLimits):
        return tf.where(first, ids, ids - before), per_example
    after = tf.concat([ids[1:], ids[:1] * 0], 0)
    return tf.where(last, tf.gather(counts, example), after) - ids, per_example
