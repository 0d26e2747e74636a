"""Combinations of the values of each row: `tf.ragged.cross`, `tf.sparse.cross` and their hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.dtypes import int32, int64, string
from ...errors import fail
from ..sparse.tensor import SparseTensor
from .tensor import RaggedTensor

__all__ = ["cross", "cross_hashed", "crossed", "hashed"]

_HASH_KEY = 0xDECAFCAFFE  # TensorFlow's


@named_ops
def cross(inputs: Sequence[Any], name: str | None = None) -> RaggedTensor:
    """For each row, each combination of one value of each input, joined by `_X_`.

    Inputs are ragged or sparse tensors, or matrices, of texts or integers; those of the last input
    change first.
    """
    return crossed(inputs, "_X_", "tf.ragged.cross")


def cross_hashed(
    inputs: Sequence[Any],
    num_buckets: int = 0,
    hash_key: int | None = None,
    name: str | None = None,
) -> RaggedTensor:
    """The same, of which each is a number from 0 to `num_buckets`; of 63 bits where that is 0."""
    return hashed(inputs, num_buckets, hash_key, "tf.ragged.cross_hashed")


def crossed(inputs: Any, separator: Any, name: str) -> RaggedTensor:
    """Combinations as texts, their parts joined by a separator."""
    parts, splits = _combinations(inputs, name)
    texts = [_texts(part.values, at) for part, at in parts]
    return _rows_of(registry.function("strings.join")(texts, separator), splits)


def hashed(inputs: Any, num_buckets: Any, hash_key: Any, name: str) -> RaggedTensor:
    """Combinations as numbers of buckets."""
    key = _HASH_KEY if hash_key is None else int(hash_key)
    if not 0 <= key < 1 << 64:
        fail("E1103", f"`{name}`: `hash_key` is {key}, expected a number of 64 bits")
    parts, splits = _combinations(inputs, name)
    hashes = registry.function("stack")([_hashes(part.values, at) for part, at in parts])
    key -= (key >> 63) << 64
    found = registry.raw_op(
        "CrossHashes", hashes=hashes, num_buckets=int(num_buckets), hash_key=key
    )
    return _rows_of(found, splits)


def _combinations(inputs: Any, name: str) -> tuple[list[tuple[RaggedTensor, Any]], Any]:
    """The rows of each input with the places of the values that take part, and where rows begin."""
    if not isinstance(inputs, (list, tuple)):
        fail("E1104", f"`inputs` of `{name}` is a {type(inputs).__name__}, expected a list")
    if not inputs:
        fail("E1103", f"`{name}` needs an input, and was given none")
    op = registry.function
    parts = [_rows(each, i, name) for i, each in enumerate(inputs)]
    lengths = [op("cast")(part.row_lengths(), int64) for part in parts]
    counts = {each.shape.as_list()[0] for each in lengths} - {None}
    if len(counts) > 1:
        given = ", ".join(str(each.shape.as_list()[0]) for each in lengths)
        fail("E1102", f"inputs of `{name}` have {given} rows, expected as many each")
    whole = lengths[0]
    for each in lengths[1:]:
        whole = whole * each
    splits = op("concat")([op("zeros")([1], int64), op("cumsum")(whole)], 0)
    rows = op("repeat")(op("range")(op("size")(whole, out_type=int64)), whole)
    number = op("range")(splits[-1]) - op("gather")(splits, rows)  # of a combination in its row
    found, inside = [], op("ones_like")(whole)
    for part, length in reversed(list(zip(parts, lengths, strict=True))):
        place = number // op("gather")(inside, rows) % op("gather")(length, rows)
        at = op("gather")(op("cast")(part.row_starts(), int64), rows) + place
        found.append((part, at))
        inside = inside * length
    ragged = [each for each in inputs if isinstance(each, RaggedTensor)]
    if ragged and all(each.row_splits.dtype == int32 for each in ragged):
        splits = op("cast")(splits, int32)
    return found[::-1], splits


def _rows(given: Any, number: int, name: str) -> RaggedTensor:
    ragged: Any = RaggedTensor
    if isinstance(given, SparseTensor):
        given = ragged.from_sparse(given)
    elif not isinstance(given, RaggedTensor):
        given = ragged.from_tensor(_holdfast.convert(given))
    found: RaggedTensor = given
    if not (found.dtype == string or found.dtype.is_integer):
        kind = found.dtype.name
        fail("E1101", f"input {number} of `{name}` is {kind}, expected texts or integers")
    if found.ragged_rank != 1 or found.values.shape.rank not in (None, 1):
        fail("E1102", f"input {number} of `{name}` has no rows of values: {found.shape}")
    return found


def _rows_of(values: Any, splits: Any) -> RaggedTensor:
    found: RaggedTensor = RaggedTensor.from_row_splits(values, splits, validate=False)
    return found


def _texts(values: Any, at: Any) -> Any:
    texts = values if values.dtype == string else registry.function("strings.as_string")(values)
    return registry.function("gather")(texts, at)


def _hashes(values: Any, at: Any) -> Any:
    if values.dtype == string:
        values = registry.function("bitcast")(registry.function("fingerprint")(values), int64)
    return registry.function("gather")(registry.function("cast")(values, int64), at)
