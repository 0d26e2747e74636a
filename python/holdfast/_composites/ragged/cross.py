"""`tf.ragged.cross`: combinations of the values of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.dtypes import int64, string
from ...errors import fail
from ..sparse.tensor import SparseTensor
from .tensor import RaggedTensor

__all__ = ["cross"]


def cross(inputs: Sequence[Any], name: str | None = None) -> RaggedTensor:
    """For each row, each combination of one value of each input, joined by `_X_`.

    Inputs are ragged or sparse tensors, or matrices, of texts or integers; those of the last input
    change first.
    """
    if not inputs:
        fail("E1103", "`tf.ragged.cross` needs an input, and was given none")
    op = registry.function
    parts = [_rows(each, i) for i, each in enumerate(inputs)]
    lengths = [op("cast")(part.row_lengths(), int64) for part in parts]
    counts = {each.shape.as_list()[0] for each in lengths} - {None}
    if len(counts) > 1:
        given = ", ".join(str(each.shape.as_list()[0]) for each in lengths)
        fail("E1102", f"inputs of `tf.ragged.cross` have {given} rows, expected as many each")
    whole = lengths[0]
    for each in lengths[1:]:
        whole = whole * each
    splits = op("concat")([op("zeros")([1], int64), op("cumsum")(whole)], 0)
    rows = op("repeat")(op("range")(op("size")(whole, out_type=int64)), whole)
    number = op("range")(splits[-1]) - op("gather")(splits, rows)  # of a combination in its row
    texts, inside = [], op("ones_like")(whole)
    for part, length in reversed(list(zip(parts, lengths, strict=True))):
        place = number // op("gather")(inside, rows) % op("gather")(length, rows)
        at = op("gather")(op("cast")(part.row_starts(), int64), rows) + place
        texts.append(op("gather")(_texts(part.values), at))
        inside = inside * length
    joined = op("strings.join")(texts[::-1], "_X_")
    found: RaggedTensor = RaggedTensor.from_row_splits(joined, splits, validate=False)
    return found


def _rows(given: Any, number: int) -> RaggedTensor:
    ragged: Any = RaggedTensor
    if isinstance(given, SparseTensor):
        given = ragged.from_sparse(given)
    elif not isinstance(given, RaggedTensor):
        given = ragged.from_tensor(_holdfast.convert(given))
    found: RaggedTensor = given
    if not (found.dtype == string or found.dtype.is_integer):
        kind = found.dtype.name
        fail("E1101", f"input {number} of `tf.ragged.cross` is {kind}, expected texts or integers")
    if found.ragged_rank != 1 or found.values.shape.rank not in (None, 1):
        fail("E1102", f"input {number} of `tf.ragged.cross` has no rows of values: {found.shape}")
    return found


def _texts(values: Any) -> Any:
    return values if values.dtype == string else registry.function("strings.as_string")(values)
