"""`tf.ragged` and what other functions do with ragged tensors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _holdfast
from ..._flow.checks import with_checks
from ..._flow.functional import map_fn
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.composite import handles, taking_values, wrap_handlers
from ..._tensors.dtypes import as_dtype, int64
from ..._tensors.shape import TensorSpec
from ..._tensors.tensor import get_static_value
from ...errors import fail
from . import dense, partition, products, reductions, shaped  # noqa: F401
from .constants import constant, ragged_range
from .cross import cross, cross_hashed
from .elementwise import operators
from .gathering import boolean_mask
from .indexing import getitem
from .joining import stack
from .reshaping import expand_dims, merge_dims, reverse, squeeze, tile
from .row_partition import RowPartition
from .shape import DynamicRaggedShape
from .spec import RaggedTensorSpec
from .strings import NAMES as STRINGS
from .tensor import RaggedTensor, is_ragged, whole_axis

__all__ = ["NAMES"]

_cast = registry.function("cast")


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`op` of the innermost values of the ragged tensors among the arguments; rows stay."""
    given = [x for x in (*args, *kwargs.values()) if is_ragged(x)]
    inside = [x for a in args if isinstance(a, (list, tuple)) for x in a if is_ragged(x)]
    if not given and not inside:
        return op(*args, **kwargs)
    first, *others = given + inside
    for each in others:
        _need_same(first, each)

    def flat(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return type(x)(map(flat, x))
        return x.flat_values if is_ragged(x) else x

    found = op(*map(flat, args), **{key: flat(x) for key, x in kwargs.items()})
    count, was = (x.shape[0] if x.shape.rank else None for x in (found, first.flat_values))
    if found.shape.rank == 0 or (None not in (count, was) and count != was):
        fail(
            "E1102",
            f"the function of `map_flat_values` gave a tensor of shape {found.shape} for {was} "
            "values, expected as many",
        )
    return first.with_flat_values(found)


def _need_same(a: Any, b: Any) -> None:
    if a.ragged_rank != b.ragged_rank:
        fail("E1102", "`map_flat_values` got ragged tensors of different ragged ranks")
    for one, other in zip(a.nested_row_splits, b.nested_row_splits, strict=True):
        _need_same_splits(one, other, "map_flat_values")


def _need_same_splits(one: Any, other: Any, name: str) -> None:
    if one._id == other._id:
        return
    what = f"`{name}` got ragged tensors of other rows"
    shape = registry.function("shape")
    partition.require(registry.function("equal")(shape(one)[0], shape(other)[0]), what, "they pair")
    same = registry.function("reduce_all")(registry.function("equal")(one, _cast(other, one.dtype)))
    partition.require(same, what, "they pair")


@named_ops
def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Any:
    """The row of each value."""
    found = partition.rowids_of(partition.as_index(splits, "splits", None))
    return found if out_type is None else _cast(found, as_dtype(out_type))


@named_ops
def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Any:
    """Where each row begins."""
    ids = partition.as_index(segment_ids, "segment_ids", None)
    if num_segments is None:
        padded = registry.function("pad")(ids, [[1, 0]], constant_values=-1)
        num_segments = registry.function("reduce_max")(padded) + 1
    found = partition.splits_of_rowids(ids, _cast(num_segments, ids.dtype))
    return _cast(found, int64 if out_type is None else as_dtype(out_type))


@named_ops
def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> Any:
    """The elements of each partition as a row."""
    numbers = partitions if is_ragged(partitions) else _holdfast.convert(partitions)
    data = data if is_ragged(data) else _holdfast.convert(data)
    if is_ragged(numbers):
        if not is_ragged(data):
            fail("E1104", "`partitions` is a RaggedTensor, and `data` is none")
        _need_same_splits(data.row_splits, numbers.row_splits, "stack_dynamic_partitions")
        return stack_dynamic_partitions(data.values, numbers.values, num_partitions)
    rank = numbers.shape.rank
    if rank is None:
        fail("E1102", "`stack_dynamic_partitions`: the rank of `partitions` is not known")
    shape = registry.function("shape")
    if not is_ragged(data):
        if data.shape.rank is not None and not data.shape[:rank].is_compatible_with(numbers.shape):
            fail(
                "E1102",
                f"`stack_dynamic_partitions`: `partitions` is of shape {numbers.shape}, and `data` "
                f"of {data.shape}: expected a number for each element",
            )
        if not (data.shape[:rank].is_fully_defined() and numbers.shape.is_fully_defined()):
            pairs = registry.function("reduce_all")(
                registry.function("equal")(shape(data)[:rank], shape(numbers))
            )
            partition.require(
                pairs, "`stack_dynamic_partitions`: `partitions` has another shape", "they pair"
            )
    if rank != 1:
        reshape, concat = registry.function("reshape"), registry.function("concat")
        data = reshape(data, concat([[-1], shape(data)[rank:]], 0))
        numbers = reshape(numbers, [-1])
    order = registry.function("argsort")(numbers, stable=True)
    gather = registry.function("gather")
    return RaggedTensor.from_value_rowids(
        gather(data, order),
        gather(_cast(numbers, int64), order),
        _cast(num_partitions, int64),
    )


# Functions of tensors that ragged ones go into.


@handles(registry.function("shape"), RaggedTensor)
@named_ops
def _shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    return DynamicRaggedShape.from_tensor(input, out_type or "int32")


@handles(registry.function("size"), RaggedTensor)
@named_ops
def _size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    return registry.function("size")(input.flat_values, out_type or "int32")


@handles(registry.function("rank"), RaggedTensor)
@named_ops
def _rank(input: Any, name: str | None = None) -> Any:
    return registry.function("rank")(input.flat_values) + input.ragged_rank


@handles(registry.function("expand_dims"), RaggedTensor)
@named_ops
def _expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    return expand_dims(input, axis)


@handles(registry.function("squeeze"), RaggedTensor)
@named_ops
def _squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    return squeeze(input, axis)


@handles(registry.function("reverse"), RaggedTensor)
@named_ops
def _reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    return reverse(tensor, [axis] if isinstance(axis, int) else list(axis))


@handles(registry.function("tile"), RaggedTensor)
@named_ops
def _tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    return tile(input, multiples)


@handles(registry.function("one_hot"), RaggedTensor)
@named_ops
def _one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    at, inside = -1 if axis is None else axis, indices.ragged_rank
    if at >= 0:
        if at <= inside:
            fail("E1105", f"`one_hot` of a RaggedTensor along axis {at}, expected {inside + 1}")
        at -= inside
    one_hot = registry.function("one_hot")
    return indices.with_flat_values(
        one_hot(indices.flat_values, depth, on_value, off_value, at, dtype)
    )


@handles(registry.function("boolean_mask"), RaggedTensor)
@named_ops
def _boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str | None = None) -> Any:
    if axis:
        fail("E1105", "`boolean_mask` of a RaggedTensor with `axis`")
    return boolean_mask(tensor, mask)


@handles(registry.function("dynamic_partition"), RaggedTensor)
@named_ops
def _dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> Any:
    found = stack_dynamic_partitions(data, partitions, num_partitions)
    return [found[i] for i in range(num_partitions)]


@handles(registry.function("unstack"), RaggedTensor)
@named_ops
def _unstack(value: Any, num: Any = None, axis: Any = 0, name: str | None = None) -> Any:
    if axis:
        fail("E1105", "`unstack` of a RaggedTensor along another axis than the first")
    count = value.shape[0] if num is None else num
    if count is None:
        fail("E1102", "`unstack`: how many rows the RaggedTensor has is not known")
    return [value[i] for i in range(count)]


@handles(registry.function("split"), RaggedTensor)
@named_ops
def _split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str | None = None
) -> Any:
    at, inside = whole_axis(axis, value.shape.rank, "axis", "split"), value.ragged_rank
    if at > inside:
        parts = registry.function("split")(value.flat_values, num_or_size_splits, at - inside, num)
        return [value.with_flat_values(part) for part in parts]
    if at != 0:
        fail("E1105", "`split` of a RaggedTensor along an axis whose sizes differ")
    sizes, rows = get_static_value(num_or_size_splits), value.shape[0]
    if sizes is None or rows is None:
        return _split_later(value, num_or_size_splits, sizes, num)
    if np.ndim(sizes) == 0:
        if sizes < 1 or rows % sizes:
            fail("E1103", f"`split`: {rows} rows are not to be parted into {sizes} alike")
        sizes = [rows // sizes] * int(sizes)
    sizes = [int(n) for n in sizes]
    if -1 in sizes:
        sizes[sizes.index(-1)] = rows - (sum(sizes) + 1)
    if min(sizes, default=0) < 0 or sum(sizes) != rows:
        fail("E1103", f"`split`: the sizes {sizes} are not those of {rows} rows")
    ends = np.cumsum([0, *sizes]).tolist()
    return [value[a:b] for a, b in itertools.pairwise(ends)]


def _split_later(value: Any, given: Any, known: Any, num: Any) -> Any:
    """Parts whose sizes are there once the graph runs."""
    rows = value.nrows()
    if known is not None and np.ndim(known) == 0:
        count = int(known)
        if count < 1:
            fail("E1103", f"`split`: rows are not to be parted into {count}")
        sizes = _holdfast.convert([1] * count, rows.dtype) * (rows // count)
    else:
        sizes = _cast(_holdfast.convert(given), rows.dtype)
        count = sizes.shape[0] if sizes.shape.rank else num
        if count is None:
            fail("E1102", "`split` of a RaggedTensor: how many parts there are is not known")
        left = rows - registry.function("reduce_sum")(registry.function("maximum")(sizes, 0))
        sizes = registry.function("where")(registry.function("equal")(sizes, -1), left, sizes)
    total, least = registry.function("reduce_sum")(sizes), registry.function("reduce_min")(sizes)
    fits = registry.function("logical_and")(registry.function("equal")(total, rows), least >= 0)
    partition.require(fits, "`split`: the sizes are not those of the rows", "each is in one part")
    ends = registry.function("concat")([[0], registry.function("math.cumsum")(sizes)], 0)
    return [value[ends[i] : ends[i + 1]] for i in range(count)]


@handles(registry.function("image.resize"), RaggedTensor)
def _resize(
    images: Any,
    size: Any,
    method: Any = "bilinear",
    *args: Any,
    name: str | None = None,
    **kwargs: Any,
) -> Any:
    if images.shape.rank != 4:
        fail("E1102", f"`resize`: `images` is of shape {images.shape}, expected 4 axes")
    resize = registry.function("image.resize")

    def one(image: Any) -> Any:
        return resize(
            image.to_tensor() if is_ragged(image) else image, size, method, *args, **kwargs
        )

    kept = str(getattr(method, "value", method)) == "nearest"
    kind = images.dtype if kept else as_dtype("float32")
    known = None if kwargs.get("preserve_aspect_ratio") or args else get_static_value(size)
    sides = [None, None] if known is None else [int(n) for n in known]
    spec = TensorSpec([*sides, images.shape[-1]], kind)
    return map_fn(one, images, fn_output_signature=spec, name=name)


@handles(registry.function("nn.embedding_lookup"), RaggedTensor)
def _embedding_lookup(params: Any, ids: Any, *args: Any, **kwargs: Any) -> Any:
    lookup = registry.function("nn.embedding_lookup")
    return ids.with_flat_values(lookup(params, ids.flat_values, *args, **kwargs))


@named_ops
def _from_tensor(
    cls: Any,
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> Any:
    """A dense tensor as a ragged one; without its padding, or cut to `lengths`."""
    return dense.from_tensor(tensor, lengths, padding, ragged_rank, as_dtype(row_splits_dtype))


@named_ops
def _from_sparse(
    cls: Any, st_input: Any, name: str | None = None, row_splits_dtype: Any = int64
) -> Any:
    """The rows of a sparse matrix, whose values begin at the left without a gap."""
    return dense.from_sparse(st_input, as_dtype(row_splits_dtype))


@named_ops
def _to_tensor(
    self: Any, default_value: Any = None, name: str | None = None, shape: Any = None
) -> Any:
    """A dense tensor, shorter rows filled up with `default_value`."""
    return dense.to_tensor(self, default_value, shape)


@named_ops
def _to_sparse(self: Any, name: str | None = None) -> Any:
    """A sparse tensor of the same values."""
    return dense.to_sparse(self)


for _name, _function in {
    "from_tensor": classmethod(with_checks(_from_tensor)),
    "from_sparse": classmethod(with_checks(_from_sparse)),
    "to_tensor": with_checks(_to_tensor),
    "to_sparse": _to_sparse,
    "merge_dims": merge_dims,
    "__getitem__": with_checks(getitem),
}.items():
    setattr(RaggedTensor, _name, _function)
wrap_handlers(RaggedTensor, with_checks)
wrap_handlers(DynamicRaggedShape, with_checks)
for _name, _method in operators().items():
    setattr(RaggedTensor, _name, with_checks(_method))


NAMES = {
    "RaggedTensor": RaggedTensor,
    "RaggedTensorSpec": RaggedTensorSpec,
    "experimental.DynamicRaggedShape": DynamicRaggedShape,
    "experimental.RowPartition": RowPartition,
    "ragged.boolean_mask": taking_values(with_checks(boolean_mask)),
    "ragged.constant": constant,
    "ragged.cross": taking_values(with_checks(cross)),
    "ragged.cross_hashed": taking_values(with_checks(cross_hashed)),
    "ragged.map_flat_values": taking_values(with_checks(map_flat_values)),
    "ragged.range": with_checks(ragged_range),
    "ragged.row_splits_to_segment_ids": with_checks(row_splits_to_segment_ids),
    "ragged.segment_ids_to_row_splits": with_checks(segment_ids_to_row_splits),
    "ragged.stack": taking_values(with_checks(stack)),
    "ragged.stack_dynamic_partitions": taking_values(with_checks(stack_dynamic_partitions)),
    **{name: taking_values(function) for name, function in STRINGS.items()},
}
