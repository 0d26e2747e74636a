"""Sparse and ragged tensors under the names and arguments of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._composites.ragged.constants import constant_value
from .._composites.ragged.dense import from_sparse
from .._composites.ragged.strings import split as split_texts
from .._composites.ragged.strings import texts_of
from .._composites.ragged.tensor import RaggedTensor, is_ragged
from .._composites.ragged.value import RaggedTensorValue
from .._composites.sparse import functions, reductions, sets
from .._composites.sparse.ctc import ctc_beam_search_decoder_v1
from .._composites.sparse.embedding import both_sparse, looked_up, safely_looked_up
from .._composites.sparse.tensor import SparseTensor, SparseTensorValue
from .._flow.checks import with_checks
from .._graphs.graph import get_default_graph
from .._tensors import registry
from .._tensors.dtypes import as_dtype, int64
from .._tensors.shape import TensorShape, as_shape
from .._tensors.tensor import constant
from ..errors import fail

__all__ = ["NAMES"]


def _placed(dtype: Any, shape: Any, name: str) -> Any:
    known = as_shape(shape)
    sizes = None if known.rank is None else known.as_list()
    return get_default_graph()._placeholder(as_dtype(dtype), sizes, name)


def ragged_placeholder(
    dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None
) -> Any:
    """A ragged tensor of a graph that a run has to feed."""
    title = name or "RaggedPlaceholder"
    if ragged_rank == 0:
        return _placed(dtype, value_shape, title)
    whole = TensorShape([None]).concatenate(as_shape(value_shape))
    flat = _placed(dtype, whole, f"{title}/flat_values")
    splits = [_placed(int64, [None], f"{title}/row_splits_{i}") for i in range(ragged_rank)]
    return RaggedTensor._of(flat, splits)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor of a graph that a run has to feed."""
    known = None if shape is None else as_shape(shape)
    rank = None if known is None else known.rank
    title = name or "SparsePlaceholder"
    values = _placed(dtype, [None], f"{title}/values")
    indices = _placed(int64, [None, rank], f"{title}/indices")
    if known is not None and known.is_fully_defined():
        sizes = constant(known.as_list(), int64, name=f"{title}/shape")
    else:
        sizes = _placed(int64, [rank], f"{title}/shape")
    made = SparseTensor(indices, values, sizes)
    made._static = TensorShape(None) if known is None else known
    return made


def _add(a: Any, b: Any, threshold: Any = None, thresh: Any = None, name: str | None = None) -> Any:
    """`tf.sparse.add`, whose threshold was called `thresh`."""
    least = threshold if threshold is not None else thresh
    return functions.add(a, b, 0 if least is None else least)


def _concat(
    axis: Any,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """`tf.sparse.concat` with the names of its arguments that were."""
    wide = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    return functions.concat(axis if concat_dim is None else concat_dim, sp_inputs, wide)


def _reduced(how: str, sparse: bool) -> Any:
    function = getattr(reductions, f"reduce_{how}")

    def reduce(
        sp_input: Any,
        axis: Any = None,
        keepdims: Any = None,
        reduction_axes: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        """Over axes, with the names of the arguments that were."""
        axes = axis if reduction_axes is None else reduction_axes
        kept = keepdims if keep_dims is None else keep_dims
        return function(sp_input, axes, kept, sparse)

    return reduce


def _split(
    keyword_required: Any = None,
    sp_input: Any = None,
    num_split: Any = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """`tf.sparse.split`, by keywords alone."""
    return functions.split(sp_input, num_split, axis if split_dim is None else split_dim)


def _to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Any:
    """A dense tensor of elements and their places."""
    places = registry.function("cast")(_holdfast.convert(sparse_indices), int64)
    if places.shape.rank == 0:
        places = places[None]
    if places.shape.rank == 1:
        places = places[:, None]
    values = _holdfast.convert(sparse_values)
    if values.shape.rank == 0:
        values = registry.function("fill")(registry.function("shape")(places)[:1], values)
    shape = registry.function("cast")(_holdfast.convert(output_shape), int64)
    if shape.shape.rank == 0:
        shape = shape[None]
    return functions.to_dense(SparseTensor(places, values, shape), default_value, validate_indices)


def _embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Any = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """`tf.nn.embedding_lookup_sparse`; with "mod" id i is in shard i % their number."""
    ids, weights = both_sparse(sp_ids, sp_weights, "tf.compat.v1.nn.embedding_lookup_sparse")
    return looked_up(params, ids, weights, combiner, max_norm, partition_strategy)


def _safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: Any = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """`tf.nn.safe_embedding_lookup_sparse`; with "mod" id i is in shard i % their number."""
    op = "tf.compat.v1.nn.safe_embedding_lookup_sparse"
    ids, weights = both_sparse(sparse_ids, sparse_weights, op)
    return safely_looked_up(
        embedding_weights, ids, weights, combiner, default_id, max_norm, partition_strategy
    )


def _as_asked(result_type: str, found: Any, function: str) -> Any:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        got = f"`{function}`: `result_type` is {result_type!r}"
        fail("E1103", f"{got}, expected 'SparseTensor' or 'RaggedTensor'")
    sparse = isinstance(found, SparseTensor)
    if result_type == "SparseTensor":
        return found if sparse else found.to_sparse()
    return from_sparse(found, int64) if sparse else found


def _strings_split(
    input: Any = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.strings.split`, whose rows are sparse unless ragged ones are asked for."""
    function = "tf.compat.v1.strings.split"
    if (input is None) == (source is None):
        fail("E1104", f"`{function}` takes the texts as `input`, or as `source`, which is the same")
    texts = texts_of(source if input is None else input, function)
    if not is_ragged(texts) and texts.shape.rank == 0:
        texts = registry.function("reshape")(texts, [1])
    return _as_asked(result_type, split_texts(texts, sep, maxsplit), function)


def _string_split(
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = " ",
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """Texts cut at each byte of `delimiter`, or into bytes where it is empty."""
    at = delimiter if sep is None else sep
    parts = registry.raw_op(
        "StringSplit",
        input=texts_of(source, "tf.compat.v1.string_split"),
        delimiter=_holdfast.convert(at),
        skip_empty=skip_empty,
    )
    return _as_asked(result_type, SparseTensor(*parts), "tf.compat.v1.string_split")


_FUNCTIONS: dict[str, Any] = {
    "strings.split": _strings_split,
    "string_split": _string_split,
    "nn.ctc_beam_search_decoder": ctc_beam_search_decoder_v1,
    "nn.embedding_lookup_sparse": _embedding_lookup_sparse,
    "nn.safe_embedding_lookup_sparse": _safe_embedding_lookup_sparse,
    "sparse.add": _add,
    "sparse_add": _add,
    "sparse.concat": _concat,
    "sparse_concat": _concat,
    "sparse.split": _split,
    "sparse_split": _split,
    "sparse_to_dense": _to_dense,
    "sparse.reduce_sum": _reduced("sum", sparse=False),
    "sparse.reduce_max": _reduced("max", sparse=False),
    "sparse_reduce_sum": _reduced("sum", sparse=False),
    "sparse_reduce_max": _reduced("max", sparse=False),
    "sparse_reduce_sum_sparse": _reduced("sum", sparse=True),
    "sparse_reduce_max_sparse": _reduced("max", sparse=True),
    "sparse_tensor_dense_matmul": functions.sparse_dense_matmul,
    "sparse_tensor_to_dense": functions.to_dense,
    "sparse_softmax": reductions.softmax,
    "sparse.matmul": functions.sparse_dense_matmul,
    **{
        f"sparse_{name}": getattr(functions, name)
        for name in (
            "fill_empty_rows",
            "mask",
            "maximum",
            "minimum",
            "reorder",
            "reset_shape",
            "reshape",
            "retain",
            "slice",
            "to_indicator",
            "transpose",
        )
    },
}

NAMES: dict[str, Any] = {
    "SparseTensorValue": SparseTensorValue,
    "ragged.RaggedTensorValue": RaggedTensorValue,
    "ragged.constant_value": constant_value,
    "ragged.placeholder": ragged_placeholder,
    "sparse.placeholder": sparse_placeholder,
    "sparse_placeholder": sparse_placeholder,
    **{f"sets.set_{name}": getattr(sets, name) for name in sets.__all__},
    **{name: with_checks(function) for name, function in _FUNCTIONS.items()},
}
