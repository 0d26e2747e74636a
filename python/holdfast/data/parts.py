"""Batches of ragged and sparse tensors, and of tensors that become such."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._composites.ragged.spec import RaggedTensorSpec
from .._composites.sparse.spec import SparseTensorSpec
from .._tensors.composite import CompositeSpec
from .._tensors.dtypes import as_dtype, int32, int64
from .._tensors.shape import TensorShape, TensorSpec
from ..errors import fail, unsupported
from .structure import (
    UNKNOWN_CARDINALITY,
    flat_leaves,
    holds_composites,
    map_leaves,
    template_of,
)

__all__ = [
    "batched",
    "need_as_many_rows",
    "need_tensors",
    "slices",
    "to_ragged",
    "to_sparse",
    "unbatched",
]

# What C++ is told of a value: its kind, and what else there is to know of it.
Rule = tuple[Any, ...]
Rules = Callable[[Any], tuple[Rule, Any]]  # of a spec: the rule, and the spec of a value of a batch


def need_tensors(dataset: Any, stage: str) -> None:
    """Refuses elements with ragged or sparse tensors, of which a stage makes nothing."""
    if holds_composites(dataset._template):
        fail(
            "E1104",
            f"`{stage}` takes elements of tensors, and got {dataset.element_spec!r}",
            fix="make tensors of them in a `map` before it: `to_tensor()`, `tf.sparse.to_dense`",
        )


def _dense(spec: Any, stage: str) -> None:
    if not isinstance(spec, TensorSpec):
        unsupported(f"`{stage}` got elements with {spec!r}", "it works on tensors")


def _with_first(size: int | None, shape: TensorShape) -> TensorShape:
    return TensorShape([size]).concatenate(shape)


def _batch_rule(size: int | None) -> Rules:
    def rule(spec: Any) -> tuple[Rule, Any]:
        if isinstance(spec, RaggedTensorSpec):
            return ("ragged", spec.ragged_rank, spec.row_splits_dtype), spec._batch(size)
        if isinstance(spec, SparseTensorSpec):
            return ("sparse",), spec._batch(size)
        _dense(spec, "batch")
        return ("tensor",), TensorSpec(_with_first(size, spec.shape), spec.dtype)

    return rule


def _put_together(dataset: Any, size: int, drop: bool, rule: Rules) -> Any:
    spec = dataset.element_spec
    rules = [rule(leaf)[0] for leaf in flat_leaves(spec)]
    gives = map_leaves(lambda leaf: rule(leaf)[1], spec)
    made = _holdfast.data_batch_parts(dataset, size, drop, rules, gives)
    return dataset._like(made, template_of(gives))


def batched(dataset: Any, size: int, drop: bool) -> Any:
    """Batches of elements with ragged or sparse tensors."""
    return _put_together(dataset, size, drop, _batch_rule(size if drop else None))


def to_ragged(dataset: Any, size: int, drop: bool, row_splits_dtype: Any) -> Any:
    """Batches in which tensors of sizes that are not known are ragged."""
    splits = as_dtype(row_splits_dtype)
    if splits not in (int32, int64):
        fail("E1104", f"`row_splits_dtype` is {splits.name}, expected int32 or int64")
    first = size if drop else None
    plain = _batch_rule(first)

    def rule(spec: Any) -> tuple[Rule, Any]:
        known = not isinstance(spec, TensorSpec) or spec.shape.rank is None
        if known or spec.shape.is_fully_defined():
            return plain(spec)
        deepest = max(i for i, n in enumerate(spec.shape.as_list()) if n is None)
        whole = RaggedTensorSpec(spec.shape, spec.dtype, deepest, splits)
        return ("rows", deepest, splits), whole._batch(first)

    return _put_together(dataset, size, drop, rule)


def to_sparse(dataset: Any, size: int, row_shape: Any) -> Any:
    """Sparse tensors of which each row is a tensor of `row_shape` at most."""
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        fail("E1104", f"`sparse_batch` takes elements of one tensor, and got {spec!r}")
    sizes = row_shape.numpy().tolist() if isinstance(row_shape, _holdfast.Tensor) else row_shape
    if isinstance(sizes, (list, tuple)):
        sizes = [None if n == -1 else n for n in sizes]
    shape = TensorShape(sizes)
    if shape.rank is None or not spec.shape.is_compatible_with([None] * shape.rank):
        fail("E1102", f"`row_shape` of `sparse_batch` is {shape}, and elements are {spec!r}")
    gives = SparseTensorSpec(_with_first(None, shape), spec.dtype)
    rule = "elements", [-1 if n is None else n for n in shape.as_list()]
    made = _holdfast.data_batch_parts(dataset, size, False, [rule], gives)
    return dataset._like(made, gives)


def unbatched(dataset: Any) -> Any:
    """The rows of elements with ragged or sparse tensors."""
    spec = dataset.element_spec
    rules: list[Rule] = []
    for leaf in flat_leaves(spec):
        if not isinstance(leaf, CompositeSpec):
            _dense(leaf, "unbatch")
        if leaf.shape.rank == 0:
            fail("E1102", f"`unbatch` takes rows, and an element has {leaf!r}")
        if isinstance(leaf, RaggedTensorSpec):
            rules.append(("ragged", leaf.ragged_rank, leaf.row_splits_dtype))
        else:
            rules.append(("sparse",) if isinstance(leaf, SparseTensorSpec) else ("tensor",))
    gives = map_leaves(_row_spec, spec)
    made = _holdfast.data_unbatch_parts(dataset, rules, gives)
    return dataset._like(made, template_of(gives))


def _row_spec(spec: Any) -> Any:
    if isinstance(spec, CompositeSpec):
        return spec._unbatch()
    return TensorSpec(spec.shape if spec.shape.rank is None else spec.shape[1:], spec.dtype)


def need_as_many_rows(specs: Any, stage: str) -> dict[int, Any]:
    """Refuses values that are known to have different numbers of rows; gives the number."""
    counts = {}
    for leaf in flat_leaves(specs):
        shape = getattr(leaf, "shape", None)
        if shape is not None and shape.rank and shape[0] is not None:
            counts[shape[0]] = leaf
    if len(counts) > 1:
        a, b = list(counts.values())[:2]
        fail("E1102", f"`{stage}` takes as many rows of each, and got {a!r} and {b!r}")
    return counts


def slices(whole: Any) -> Any:
    """The rows of the one element of a dataset."""
    for leaf in flat_leaves(whole.element_spec):
        if leaf.shape.rank == 0:
            fail("E1102", f"`from_tensor_slices` takes rows, and got {leaf!r}")
    counts = need_as_many_rows(whole.element_spec, "from_tensor_slices")
    made = unbatched(whole)
    if counts and _holdfast.data_cardinality(made) == UNKNOWN_CARDINALITY:
        made = made._same(_holdfast.data_assert_cardinality(made, next(iter(counts))))
    return made
