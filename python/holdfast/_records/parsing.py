"""`tf.io.parse_example` and its kin: features of examples as tensors. The op is C++."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from .. import _holdfast
from .._graphs.name_scope import named_ops
from .._tensors import registry
from .._tensors.dtypes import as_dtype, int32, int64, string
from .._tensors.shape import as_shape
from ..errors import fail, unsupported
from . import partitions

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "VarLenFeature",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
]


class FixedLenFeature(NamedTuple):
    """As many values in each example as `shape` has; `default_value` where there are none."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """Any number of values of the shape `shape`, padded to the longest example."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """Any number of values, as a `tf.SparseTensor`."""

    dtype: Any


class _RaggedFeature(NamedTuple):
    dtype: Any
    value_key: str | None = None
    partitions: tuple[Any, ...] = ()
    row_splits_dtype: Any = int32
    validate: bool = False


class RaggedFeature(_RaggedFeature):
    """Any number of values, as a `tf.RaggedTensor`; as a tensor for a single example.

    `partitions` say which other features put the values into rows, the outermost rows first.
    """

    __slots__ = ()
    RowSplits = partitions.RowSplits
    RowLengths = partitions.RowLengths
    RowStarts = partitions.RowStarts
    RowLimits = partitions.RowLimits
    ValueRowIds = partitions.ValueRowIds
    UniformRowLength = partitions.UniformRowLength


class SparseFeature(NamedTuple):
    """A `tf.SparseTensor` whose positions are features too."""

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


# What C++ calls them.
_FIXED, _SEQUENCE, _SPARSE, _RAGGED = range(4)


def _composite(name: str, wanted_by: str) -> Any:
    found = vars(sys.modules[__name__.partition(".")[0]]).get(name)
    if found is None:
        unsupported(
            f"`{wanted_by}` gives a `tf.{name}`, which is not part of Holdfast",
            "values of different lengths need it",
            fix="read it with `tf.io.FixedLenSequenceFeature`, which pads",
        )
    return found


def _rule(key: str, kind: int, feature: Any, **more: Any) -> tuple[Any, ...]:
    dtype = as_dtype(feature.dtype)
    shape = as_shape(getattr(feature, "shape", ()))
    if shape.rank is None:
        fail("E1102", f"the feature `{key}` has a shape of unknown rank")
    sizes = [-1 if each is None else each for each in shape.as_list()]
    default = getattr(feature, "default_value", None)
    if default is not None:
        default = _holdfast.convert(default, dtype)
    splits = as_dtype(more.get("splits", int32))
    return (key, kind, dtype, sizes, default, more.get("may_miss", False), splits)


class _Wanted:
    """Features of one group: what C++ is to read, and how results are made of it."""

    def __init__(self, features: Any, of: str, in_lists: bool, batch: bool) -> None:
        self.rules: list[tuple[Any, ...]] = []
        self._of, self._in_lists, self._batch = of, in_lists, batch
        self._features: dict[str, tuple[Any, int]] = {}
        if not isinstance(features, dict):
            fail(
                "E1104",
                f"`{of}` is {type(features).__name__}, expected a dict of features by name",
            )
        for key in sorted(features):
            self._features[key] = features[key], len(self.rules)
            self._add(key, features[key])

    def _add(self, key: str, feature: Any) -> None:
        add = self.rules.append
        if isinstance(feature, VarLenFeature):
            _composite("SparseTensor", "VarLenFeature")
            add(_rule(key, _SPARSE, feature))
        elif isinstance(feature, FixedLenFeature):
            add(_rule(key, _FIXED, feature))
        elif isinstance(feature, FixedLenSequenceFeature):
            if not self._in_lists and not feature.allow_missing:
                fail(
                    "E1104",
                    f"the feature `{key}` is a FixedLenSequenceFeature that may not be missing",
                    "an example without it has no steps, which nothing can tell from zero steps",
                    fix="say `allow_missing=True`",
                )
            add(_rule(key, _SEQUENCE, feature, may_miss=feature.allow_missing))
        elif isinstance(feature, RaggedFeature):
            others = partitions.keys_of(key, feature.partitions)
            if feature.partitions and self._in_lists:
                unsupported(
                    f"the feature `{key}` of `{self._of}` has `partitions`",
                    "they are supported for features of examples",
                )
            if self._in_lists or self._batch:
                _composite("RaggedTensor", "RaggedFeature")
            name = key if feature.value_key is None else feature.value_key
            add(_rule(name, _RAGGED, feature, splits=feature.row_splits_dtype))
            for other in others:
                add(_rule(other, _RAGGED, VarLenFeature(int64), splits=feature.row_splits_dtype))
        elif isinstance(feature, SparseFeature) and not self._in_lists:
            _composite("SparseTensor", "SparseFeature")
            for each in _index_keys(feature):
                add(_rule(each, _SPARSE, VarLenFeature(int64)))
            add(_rule(feature.value_key, _SPARSE, VarLenFeature(feature.dtype)))
        else:
            fail(
                "E1104",
                f"the feature `{key}` of `{self._of}` is {type(feature).__name__}, expected a "
                + ("FixedLenSequenceFeature, " if self._in_lists else "FixedLenFeature, ")
                + "VarLenFeature or another of `tf.io`",
            )

    def results(self, found: list[list[Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The features by name; and the lengths of those that are padded lists."""
        out, lengths = {}, {}
        for key, (feature, at) in self._features.items():
            parts = found[at]
            if isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature)):
                out[key] = parts[0]
                if len(parts) > 1:
                    lengths[key] = parts[1]
            elif isinstance(feature, VarLenFeature):
                out[key] = _composite("SparseTensor", "VarLenFeature")(*parts)
            elif isinstance(feature, RaggedFeature) and feature.partitions:
                count = len(partitions.keys_of(key, feature.partitions))
                others = [(each[0], each[-1]) for each in found[at + 1 : at + 1 + count]]
                out[key] = partitions.partitioned(
                    feature,
                    parts[0],
                    parts[-1],
                    others,
                    as_dtype(feature.row_splits_dtype),
                    self._batch,
                )
            elif isinstance(feature, RaggedFeature):
                out[key] = self._ragged(parts)
            else:
                out[key] = _merged(feature, found[at : at + len(_index_keys(feature)) + 1])
        return out, lengths

    def _ragged(self, parts: list[Any]) -> Any:
        values, *splits = parts
        if not self._batch:  # one example: the axis of examples is left out
            splits = splits[:-1]
        for each in splits:
            values = _composite("RaggedTensor", "RaggedFeature").from_row_splits(
                values, each, validate=False
            )
        return values


def _index_keys(feature: SparseFeature) -> list[str]:
    keys = feature.index_key
    return [keys] if isinstance(keys, str) else list(keys)


def _merged(feature: SparseFeature, parts: list[list[Any]]) -> Any:
    """A sparse tensor whose last positions are the values of other ones."""
    *indices, (at, values, shape) = parts
    keys = _index_keys(feature)
    sizes = [feature.size] if isinstance(feature.size, int) else list(feature.size)
    if len(sizes) != len(keys):
        fail("E1104", f"a SparseFeature has {len(keys)} keys of positions and {len(sizes)} sizes")
    columns = [registry.function("expand_dims")(each[1], -1) for each in indices]
    joined = registry.function("concat")([at[:, :-1], *columns], 1)
    whole = registry.function("concat")(
        [shape[:-1], _holdfast.convert(np.array(sizes, np.int64))], 0
    )
    sparse = _composite("SparseTensor", "SparseFeature")(joined, values, whole)
    if feature.already_sorted:
        return sparse
    package = sys.modules[__name__.partition(".")[0]]
    return package.sparse.reorder(sparse)


def _serialized(value: Any, function: str, single: bool) -> Any:
    given = _holdfast.convert(value, string)
    if given.dtype is not string:
        fail("E1101", f"`serialized` of `{function}` is {given.dtype.name}, expected string")
    if single and given.shape.rank not in (0, None):
        fail(
            "E1102",
            f"`serialized` of `{function}` has the shape {given.shape}, expected a scalar",
            fix=f"use `tf.io.{function.replace('_single', '')}` for several",
        )
    return given


def _parsed(serialized: Any, features: Any, function: str, single: bool) -> dict[str, Any]:
    if not features:
        fail("E1104", f"`features` of `{function}` is {features!r}, expected a dict of features")
    given = _serialized(serialized, function, single)
    wanted = _Wanted(features, "features", False, given.shape.rank != 0)
    found = _holdfast.parse_features(given, False, wanted.rules, [])
    return wanted.results(found)[0]


@named_ops
def parse_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of a vector of examples. Messages tell examples by their numbers, not names."""
    return _parsed(serialized, features, "parse_example", False)


@named_ops
def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one example."""
    return _parsed(serialized, features, "parse_single_example", True)


def _sequences(
    serialized: Any, context: Any, lists: Any, function: str, single: bool
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    if not context and not lists:
        fail("E1104", f"`{function}` was given no features", fix="name those that you want")
    given = _serialized(serialized, function, single)
    batch = given.shape.rank != 0
    first = _Wanted(context or {}, "context_features", False, batch)
    second = _Wanted(lists or {}, "sequence_features", True, batch)
    found = _holdfast.parse_features(given, True, first.rules, second.rules)
    count = len(first.rules)
    own, _ = first.results(found[:count])
    steps, lengths = second.results(found[count:])
    return own, steps, lengths


@named_ops
def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of one example's context, and those of its lists."""
    return _sequences(
        serialized, context_features, sequence_features, "parse_single_sequence_example", True
    )[:2]


@named_ops
def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The same for a vector of examples; and the lengths of lists that are padded."""
    return _sequences(
        serialized, context_features, sequence_features, "parse_sequence_example", False
    )
