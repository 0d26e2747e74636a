"""Rows of tables for each row of a sparse tensor, put together: `tf.nn.embedding_lookup_sparse`."""

from __future__ import annotations

from typing import Any

from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.dtypes import as_dtype, int64
from ...errors import fail
from ..ragged.dense import to_sparse
from ..ragged.tensor import is_ragged
from .functions import fill_empty_rows, retain
from .places import linear
from .tensor import SparseTensor, need_sparse

__all__ = [
    "both_sparse",
    "embedding_lookup_sparse",
    "looked_up",
    "safe_embedding_lookup_sparse",
    "safely_looked_up",
]

_cast = registry.function("cast")
_reduce_prod = registry.function("reduce_prod")


def both_sparse(ids: Any, weights: Any, op: str) -> tuple[SparseTensor, SparseTensor | None]:
    """The numbers and their weights as sparse tensors, also where both are ragged."""
    if is_ragged(ids):
        ids, weights = to_sparse(ids), None if weights is None else to_sparse(weights)
    return need_sparse(ids, op), None if weights is None else need_sparse(weights, op)


def _table(params: Any) -> list[Any]:
    """The shards of a table; all of one dtype."""
    parts = getattr(params, "_get_variable_list", None)
    found = parts() if parts is not None else params
    shards = list(found) if isinstance(found, (list, tuple)) else [found]
    dtypes = [as_dtype(shard.dtype).name for shard in shards if hasattr(shard, "dtype")]
    if len(set(dtypes)) > 1:
        fail(
            "E1101",
            f"the shards of a table are of the dtypes {', '.join(sorted(set(dtypes)))}",
            "rows of one table are all of one dtype",
            fix="convert the shards with `tf.cast`",
        )
    return shards


def looked_up(
    table: Any,
    ids: SparseTensor,
    given: SparseTensor | None,
    combiner: str | None,
    max_norm: Any,
    partition_strategy: str,
) -> Any:
    """Rows of a table for each row of `ids`, weighed and put together."""
    how = "mean" if combiner is None else combiner
    if how not in ("mean", "sqrtn", "sum"):
        fail("E1103", f"`combiner` is {combiner!r}, expected 'mean', 'sqrtn' or 'sum'")
    rows = ids.indices[:, 0]
    # Each row of a table once, however often it is named: then so is its gradient.
    names, places = registry.function("unique")(ids.values)
    found = registry.function("gather")(
        registry.function("nn.embedding_lookup")(
            _table(table), names, partition_strategy, max_norm
        ),
        places,
    )
    sums = registry.function("math.segment_sum")
    if given is None:
        weight = registry.function("ones_like")(_cast(ids.values, found.dtype))
    else:
        if given.values.shape.num_elements() != ids.values.shape.num_elements():
            fail("E1102", "`sp_weights` has another number of elements than `sp_ids`")
        weight = _cast(given.values, found.dtype)
    shape = [-1] + [1] * ((found.shape.rank or 2) - 1)
    each = registry.function("reshape")(weight, shape)
    total = sums(found * each, rows)
    if how == "sum":
        return total
    by = sums(weight if how == "mean" else weight * weight, rows)
    if how == "sqrtn":
        by = registry.function("sqrt")(by)
    return registry.function("math.divide_no_nan")(total, registry.function("reshape")(by, shape))


def safely_looked_up(
    table: Any,
    ids: SparseTensor,
    weights: SparseTensor | None,
    combiner: str | None,
    default_id: Any,
    max_norm: Any,
    partition_strategy: str,
) -> Any:
    """The same without numbers below 0 and weights of 0; rows without any get `default_id`."""
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
    found = looked_up(table, ids, weights, combiner, max_norm, partition_strategy)
    if default_id is None:
        zeros = registry.function("zeros_like")(found)
        found = registry.function("where")(empty[:, None], zeros, found)
    sizes = registry.function("shape")(found, int64)[1:]
    return registry.function("reshape")(found, registry.function("concat")([outer, sizes], 0))


@named_ops
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """For each row of `sp_ids` the rows of `params` of its numbers, weighed and put together.

    There are results up to the last row that has a number, as in TensorFlow;
    `safe_embedding_lookup_sparse` gives one for every row.
    """
    ids, weights = both_sparse(sp_ids, sp_weights, "tf.nn.embedding_lookup_sparse")
    return looked_up(params, ids, weights, combiner, max_norm, "div")


@named_ops
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
    ids, weights = both_sparse(sparse_ids, sparse_weights, "tf.nn.safe_embedding_lookup_sparse")
    return safely_looked_up(embedding_weights, ids, weights, combiner, default_id, max_norm, "div")
