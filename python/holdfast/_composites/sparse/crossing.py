"""`tf.sparse.cross`: combinations of the values of each row, as sparse tensors."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ...errors import fail
from ..ragged.cross import crossed, hashed
from .tensor import SparseTensor, is_sparse

__all__ = ["cross", "cross_hashed"]


def cross(inputs: Any, name: str | None = None, separator: Any = None) -> SparseTensor:
    """For each row, each combination of one value of each input, joined by `separator`, or `_X_`.

    Inputs are sparse tensors or matrices of texts or integers. Sparse ones come first in
    combinations, in which values of the last input change first.
    """
    between = "_X_" if separator is None else separator
    rows: Any = crossed(_ordered(inputs, "tf.sparse.cross"), between, "tf.sparse.cross")
    found: SparseTensor = rows.to_sparse()
    return found


def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """The same, of which each is a number from 0 to `num_buckets`; of 63 bits where that is 0."""
    given = _ordered(inputs, "tf.sparse.cross_hashed")
    rows: Any = hashed(given, num_buckets, hash_key or None, "tf.sparse.cross_hashed")
    found: SparseTensor = rows.to_sparse()
    return found


def _ordered(inputs: Any, name: str) -> Any:
    if not isinstance(inputs, (list, tuple)):
        return inputs  # which is refused with the other errors
    for i, each in enumerate(inputs):
        if not is_sparse(each) and not isinstance(each, _holdfast.Tensor):
            kind = type(each).__name__
            fail(
                "E1104",
                f"input {i} of `{name}` is a {kind}, expected a tensor or a SparseTensor",
            )
    return [x for x in inputs if is_sparse(x)] + [x for x in inputs if not is_sparse(x)]
