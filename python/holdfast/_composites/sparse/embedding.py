"""Rows of tables for each row of a sparse tensor, put together: `tf.nn.embedding_lookup_sparse`."""

from __future__ import annotations

from typing import Any

from ..._tensors import registry
from ..._tensors.dtypes import int64
from ...errors import fail
from ..ragged.dense import to_sparse
from ..ragged.tensor import is_ragged
from .functions import fill_empty_rows, retain
from .places import linear
from .tensor import SparseTensor, need_sparse

__all__ = ["embedding_lookup_sparse", "safe_embedding_lookup_sparse"]

_cast = registry.function("cast")
_reduce_prod = registry.function("reduce_prod")


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """For each row of `sp_ids` the rows of `params` of its numbers, weighed and put together."""
    how = "mean" if combiner is None else combiner
    if how not in ("mean", "sqrtn", "sum"):
        fail("E1103", f"`combiner` is {combiner!r}, expected 'mean', 'sqrtn' or 'sum'")
    if is_ragged(sp_ids):
        weights = None if sp_weights is None else to_sparse(sp_weights)
        sp_ids, sp_weights = to_sparse(sp_ids), weights
    ids = need_sparse(sp_ids, "tf.nn.embedding_lookup_sparse")
    rows = ids.indices[:, 0]
    count = ids.dense_shape[0]
    table = list(params) if isinstance(params, (list, tuple)) else [params]
    found = registry.function("nn.embedding_lookup")(table, ids.values, max_norm=max_norm)
    sums = registry.function("math.unsorted_segment_sum")
    if sp_weights is None:
        weight = registry.function("ones_like")(_cast(ids.values, found.dtype))
    else:
        given = need_sparse(sp_weights, "tf.nn.embedding_lookup_sparse")
        if given.values.shape.num_elements() != ids.values.shape.num_elements():
            fail("E1102", "`sp_weights` has another number of elements than `sp_ids`")
        weight = _cast(given.values, found.dtype)
    shape = [-1] + [1] * ((found.shape.rank or 2) - 1)
    each = registry.function("reshape")(weight, shape)
    total = sums(found * each, rows, count)
    if how == "sum":
        return total
    by = sums(weight if how == "mean" else weight * weight, rows, count)
    if how == "sqrtn":
        by = registry.function("sqrt")(by)
    return registry.function("math.divide_no_nan")(total, registry.function("reshape")(by, shape))


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: Any = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """The same without numbers below 0 and weights of 0; rows without any get `default_id`."""
    ids = need_sparse(sparse_ids, "tf.nn.safe_embedding_lookup_sparse")
    weights = None
    if sparse_weights is not None:
        weights = need_sparse(sparse_weights, "tf.nn.safe_embedding_lookup_sparse")
    shape = ids.dense_shape
    outer = shape[:-1]
    numbers = linear(ids.indices[:, :-1], outer)
    flat = registry.function("stack")([numbers, ids.indices[:, -1]], 1)
    matrix = registry.function("stack")([_reduce_prod(outer), shape[-1]])
    ids = SparseTensor(flat, ids.values, matrix)
    kept = ids.values >= 0
    if weights is not None:
        weights = SparseTensor(flat, weights.values, matrix)
        if combiner != "sum":
            kept = registry.function("logical_and")(kept, weights.values > 0)
    ids = retain(ids, kept)
    weights = None if weights is None else retain(weights, kept)
    ids, empty = fill_empty_rows(ids, 0 if default_id is None else default_id)
    if weights is not None:
        weights, _ = fill_empty_rows(weights, 1.0)
    found = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        zeros = registry.function("zeros_like")(found)
        found = registry.function("where")(empty[:, None], zeros, found)
    sizes = registry.function("shape")(found, int64)[1:]
    return registry.function("reshape")(found, registry.function("concat")([outer, sizes], 0))
