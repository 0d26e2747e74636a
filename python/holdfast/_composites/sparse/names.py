"""`tf.sparse`, and how sparse tensors take part in operators."""

from __future__ import annotations

from typing import Any

from ..._flow.checks import with_checks
from ..._tensors.composite import wrap_handlers
from . import functions, reductions, sets
from .counting import bincount
from .crossing import cross, cross_hashed
from .ctc import ctc_beam_search_decoder, ctc_greedy_decoder
from .distance import edit_distance
from .elementwise import operators
from .embedding import embedding_lookup_sparse, safe_embedding_lookup_sparse
from .sampled import sampled_addmm
from .spec import SparseTensorSpec
from .tensor import SparseTensor

__all__ = ["NAMES"]

for _name, _method in operators().items():
    setattr(SparseTensor, _name, with_checks(_method))
wrap_handlers(SparseTensor, with_checks)

_FUNCTIONS = (
    "add",
    "concat",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "map_values",
    "mask",
    "maximum",
    "minimum",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "slice",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
)

_REDUCTIONS = ("reduce_max", "reduce_sum", "softmax")

NAMES: dict[str, Any] = {
    "SparseTensor": SparseTensor,
    "SparseTensorSpec": SparseTensorSpec,
    "edit_distance": with_checks(edit_distance),
    "nn.ctc_beam_search_decoder": ctc_beam_search_decoder,
    "nn.ctc_greedy_decoder": ctc_greedy_decoder,
    "sparse.SparseTensor": SparseTensor,
    "sparse.bincount": with_checks(bincount),
    "sparse.cross": with_checks(cross),
    "sparse.cross_hashed": with_checks(cross_hashed),
    "sparse.sampled_addmm": with_checks(sampled_addmm),
    "nn.embedding_lookup_sparse": with_checks(embedding_lookup_sparse),
    "nn.safe_embedding_lookup_sparse": with_checks(safe_embedding_lookup_sparse),
    **{f"sparse.{name}": with_checks(getattr(functions, name)) for name in _FUNCTIONS},
    **{f"sparse.{name}": with_checks(getattr(reductions, name)) for name in _REDUCTIONS},
    **{f"sets.{name}": getattr(sets, name) for name in sets.__all__},
}
