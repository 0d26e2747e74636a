"""Functions of sparse tensors, made of ops on their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.dtypes import as_dtype, float32, int64
from ..._tensors.dtypes import bool as bool_
from ..._tensors.indexed_slices import IndexedSlices
from ..._tensors.shape import TensorShape
from ..._tensors.tensor import Tensor, get_static_value
from ...errors import fail
from ..ragged.partition import require
from .places import (
    elements,
    linear,
    ordered,
    require_inside,
    require_ordered,
    summed,
    unravelled,
)
from .tensor import SparseTensor, SparseTensorValue, is_sparse, need_sparse

_cast = registry.function("cast")
_concat = registry.function("concat")
_equal = registry.function("equal")
_gather = registry.function("gather")
_logical_and = registry.function("logical_and")
_maximum = registry.function("maximum")
_minimum = registry.function("minimum")
_mask = registry.function("boolean_mask")
_not_equal = registry.function("not_equal")
_range = registry.function("range")
_reduce_all = registry.function("reduce_all")
_reduce_prod = registry.function("reduce_prod")
_reshape = registry.function("reshape")
_stack = registry.function("stack")
_where = registry.function("where")


def _shaped(indices: Any, values: Any, shape: Any, static: Any = None) -> SparseTensor:
    """A sparse tensor of parts that fit; `static`: what is known of the shape besides."""
    made = SparseTensor(indices, values, shape)
    if static is not None:
        made._static = made._static.merge_with(static)
    return made


def axis_of(axis: Any, rank: int | None, name: str) -> int:
    if rank is None:
        fail("E1102", f"`{name}`: the rank of the sparse tensor is not known")
    known = get_static_value(axis) if isinstance(axis, Tensor) else axis
    if not hasattr(known, "__index__"):
        fail("E1104", f"`{name}`: `axis` is {axis!r}, expected an int")
    at = int(known)
    if not -rank <= at < rank:
        fail("E1103", f"`{name}`: `axis` is {at}, expected {-rank} to {rank - 1}")
    return at % rank


# From and to dense tensors.


@named_ops
def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero."""
    dense = _holdfast.convert(tensor)
    zero: Any = "" if dense.dtype.name == "string" else _cast(0, dense.dtype)
    indices = _where(_not_equal(dense, zero))
    values = registry.function("gather_nd")(dense, indices)
    return _shaped(indices, values, registry.function("shape")(dense, int64), dense.shape)


@named_ops
def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Any:
    """The whole tensor, `default_value` where there is no element."""
    sparse = need_sparse(sp_input, "tf.sparse.to_dense")
    if default_value is None:
        default = registry.function("zeros")([], sparse.dtype)
    else:
        default = _holdfast.convert(default_value, sparse.dtype)
    if default.shape.rank not in (0, None):
        fail("E1102", f"`to_dense`: `default_value` is of shape {default.shape}, expected a scalar")
    if validate_indices:
        require_ordered(sparse, "tf.sparse.to_dense")
    else:
        require_inside(sparse, "tf.sparse.to_dense")
    shape = sparse.dense_shape
    whole = registry.function("fill")(elements(shape, "tf.sparse.to_dense")[None], default)
    places = linear(sparse.indices, shape)[:, None]
    found = registry.function("tensor_scatter_nd_update")(whole, places, sparse.values)
    dense = _reshape(found, shape)
    return (
        dense
        if sparse.shape.rank is None
        else registry.function("ensure_shape")(dense, sparse.shape)
    )


@named_ops
def to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Any:
    """A bool for each number up to `vocab_size` of each row: whether it is among the values."""
    sparse = need_sparse(sp_input, "tf.sparse.to_indicator")
    if sparse.dtype.name not in ("int32", "int64"):
        fail("E1101", f"`to_indicator` takes int32 or int64, got {sparse.dtype.name}")
    numbers = _cast(sparse.values, int64)[:, None]
    indices = _concat([sparse.indices[:, :-1], numbers], 1)
    size = _reshape(_cast(vocab_size, int64), [1])
    require(  # such a number would mark one of another row
        _reduce_all(_logical_and(numbers >= 0, numbers < size)),
        "`to_indicator`: a value is none of 0 ... `vocab_size` - 1",
        "each has a column of its own",
    )
    shape = _concat([sparse.dense_shape[:-1], size], 0)
    ones = registry.function("ones_like")(numbers[:, 0])
    places, _ = summed(indices, ones, shape)
    marks = registry.function("fill")(registry.function("shape")(places)[:1], True)
    return to_dense(SparseTensor(places, marks, shape), False, validate_indices=False)


@named_ops
def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = float32, name: str | None = None
) -> SparseTensor:
    """Ones on the diagonal."""
    rows = _cast(num_rows, int64)
    columns = rows if num_columns is None else _cast(num_columns, int64)
    count = registry.function("minimum")(rows, columns)
    diagonal = _range(count, dtype=int64)
    ones = registry.function("ones")([count], as_dtype(dtype))
    return SparseTensor(_stack([diagonal, diagonal], 1), ones, _stack([rows, columns]))


# Order and shape.


@named_ops
def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The elements in the order in which they lie in the dense tensor."""
    found: SparseTensor = ordered(need_sparse(sp_input, "tf.sparse.reorder"))
    return found


@named_ops
def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same elements in another shape; one size may be -1."""
    sparse = need_sparse(sp_input, "tf.sparse.reshape")
    wanted = shape.as_list() if isinstance(shape, TensorShape) else shape
    if isinstance(wanted, (list, tuple)):
        wanted = [-1 if n is None else n for n in wanted]
    wanted = _cast(_holdfast.convert(wanted, None if hasattr(wanted, "dtype") else int64), int64)
    known = get_static_value(wanted)
    if known is not None and (known < 0).sum() > 1:
        fail("E1103", f"`tf.sparse.reshape`: `shape` is {known.tolist()}, expected one -1 at most")
    total = elements(sparse.dense_shape, "tf.sparse.reshape")
    others = _reduce_prod(_where(wanted < 0, registry.function("ones_like")(wanted), wanted))
    left = total // _maximum(others, 1)
    new = _where(wanted < 0, left, wanted)
    require(
        _equal(elements(new, "tf.sparse.reshape"), total),
        f"`tf.sparse.reshape`: a tensor of shape {sparse.shape} does not fit into "
        f"{'the new shape' if known is None else known.tolist()}",
        "a reshape keeps the number of elements",
    )
    places = unravelled(linear(sparse.indices, sparse.dense_shape), new)
    static = None
    if known is not None:
        sizes = sparse.shape.num_elements()
        static = [None if n < 0 else int(n) for n in known]
        if sizes is not None and None in static:
            rest = 1
            for n in static:
                rest *= 1 if n is None else n
            static = [(sizes // rest if rest else 0) if n is None else n for n in static]
    return _shaped(places, sparse.values, new, static)


@named_ops
def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """With axes in another order; turned around where none is given."""
    sparse = need_sparse(sp_input, "tf.sparse.transpose")
    rank = sparse.shape.rank
    if perm is None:
        if rank is None:
            perm = _range(registry.function("size")(sparse.dense_shape) - 1, -1, -1)
        else:
            perm = list(range(rank - 1, -1, -1))
    known = get_static_value(perm) if isinstance(perm, Tensor) else perm
    if (
        rank is not None
        and known is not None
        and sorted(int(k) for k in known) != list(range(rank))
    ):
        fail(
            "E1103", f"`tf.sparse.transpose`: `perm` is {list(known)}, expected all axes, each once"
        )
    order = _holdfast.convert(perm)
    turned = _shaped(
        _gather(sparse.indices, order, axis=1), sparse.values, _gather(sparse.dense_shape, order)
    )
    if rank is not None and known is not None:
        turned._static = TensorShape([sparse.shape.as_list()[int(k)] for k in known])
    return reorder(turned)


@named_ops
def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """With a new axis of size 1; the last where none is said."""
    sparse = need_sparse(sp_input, "tf.sparse.expand_dims")
    indices, sizes, rank = sparse.indices, sparse.dense_shape, sparse.shape.rank
    zeros = registry.function("zeros_like")(indices[:, :1])
    one = _holdfast.convert([1], int64)
    if rank is None and axis in (None, -1):  # the last one, wherever that is
        return _shaped(_concat([indices, zeros], 1), sparse.values, _concat([sizes, one], 0))
    whole = None if rank is None else rank + 1
    at = axis_of(-1 if axis is None else axis, whole, "tf.sparse.expand_dims")
    indices = _concat([indices[:, :at], zeros, indices[:, at:]], 1)
    shape = _concat([sizes[:at], one, sizes[at:]], 0)
    known = sparse.shape.as_list()
    return _shaped(indices, sparse.values, shape, [*known[:at], 1, *known[at:]])


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in a larger shape, or in the smallest that holds them."""
    sparse = need_sparse(sp_input, "tf.sparse.reset_shape")
    if new_shape is None:
        shape = _maximum(registry.function("reduce_max")(sparse.indices, 0), -1) + 1
        return SparseTensor(sparse.indices, sparse.values, shape)
    new = _cast(_holdfast.convert(new_shape, None if hasattr(new_shape, "dtype") else int64), int64)
    rank, wanted = sparse.shape.rank, new.shape.num_elements()
    if None not in (rank, wanted) and rank != wanted:
        fail("E1102", f"`tf.sparse.reset_shape`: {wanted} sizes for a tensor of {rank} axes")
    require(
        _reduce_all(sparse.dense_shape <= new),
        f"`tf.sparse.reset_shape`: a size is smaller than that of {sparse.shape}",
        "no element may fall out",
    )
    return SparseTensor(sparse.indices, sparse.values, new)


# Parts.


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The elements whose bool is true."""
    sparse = need_sparse(sp_input, "tf.sparse.retain")
    # An empty list says nothing of its dtype.
    empty = isinstance(to_retain, (list, tuple)) and not to_retain
    kept = _holdfast.convert(to_retain, bool_) if empty else _holdfast.convert(to_retain)
    count, have = (t.shape[0] if t.shape.rank else None for t in (kept, sparse.values))
    if kept.shape.rank not in (1, None) or (None not in (count, have) and count != have):
        fail(
            "E1102",
            f"`tf.sparse.retain`: `to_retain` is of shape {kept.shape} for {have} elements",
        )
    return _shaped(
        _mask(sparse.indices, kept), _mask(sparse.values, kept), sparse.dense_shape, sparse.shape
    )


@named_ops
def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The elements inside of a box."""
    sparse = need_sparse(sp_input, "tf.sparse.slice")
    begin = _cast(_holdfast.convert(start, None if hasattr(start, "dtype") else int64), int64)
    extent = _cast(_holdfast.convert(size, None if hasattr(size, "dtype") else int64), int64)
    rank = sparse.shape.rank
    for given, what in ((begin, "start"), (extent, "size")):
        if None not in (rank, given.shape.num_elements()) and given.shape.num_elements() != rank:
            fail("E1102", f"`tf.sparse.slice`: `{what}` is of shape {given.shape} for {rank} axes")
    require(
        _reduce_all(extent >= 0), "`tf.sparse.slice`: `size` has a negative number", "sizes count"
    )
    end = begin + extent  # which wraps around where it is behind all that there may be
    end = _where(end < begin, sparse.dense_shape, _minimum(end, sparse.dense_shape))
    inside = _logical_and(sparse.indices >= begin, sparse.indices < end)
    kept = retain(sparse, _reduce_all(inside, 1))
    shape = _maximum(end - begin, 0)
    return SparseTensor(kept.indices - begin, kept.values, shape)


@named_ops
def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """Parts along an axis; the first are one longer where it does not come out even."""
    sparse = need_sparse(sp_input, "tf.sparse.split")
    if num_split is None or axis is None:
        fail("E1104", "`tf.sparse.split` needs `num_split` and `axis`")
    count = int(num_split)
    at = axis_of(axis, sparse.shape.rank, "tf.sparse.split")
    if count < 1:
        fail("E1103", f"`tf.sparse.split`: `num_split` is {count}, expected 1 or more")
    whole = sparse.dense_shape[at]
    known = sparse.shape.as_list()[at]
    if known is not None and count > known:
        fail("E1103", f"`tf.sparse.split`: {count} parts of an axis of size {known}")
    base, more = whole // count, whole % count
    found, begin = [], _holdfast.convert(0, int64)
    rank = sparse.shape.rank
    for i in range(count):
        length = base + _cast(i < more, int64)
        here = [begin if k == at else _holdfast.convert(0, int64) for k in range(rank)]
        size = [length if k == at else sparse.dense_shape[k] for k in range(rank)]
        found.append(slice(sparse, _stack(here), _stack(size)))
        begin = begin + length
    return found


@named_ops
def concat(
    axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """One after the other along an axis."""
    if not isinstance(sp_inputs, (list, tuple)):
        sp_inputs = [sp_inputs]
    parts = [need_sparse(each, "tf.sparse.concat") for each in sp_inputs]
    if not parts:
        fail("E1104", "`tf.sparse.concat` got no tensors")
    ranks = {p.shape.rank for p in parts} - {None}
    if len(ranks) > 1:
        fail("E1102", f"`tf.sparse.concat` got tensors of {sorted(ranks)} axes")
    if len(parts) == 1:
        alone: SparseTensor = parts[0]
        return alone
    rank = next(iter(ranks), None)
    at = axis_of(axis, rank, "tf.sparse.concat")
    sizes = [p.dense_shape for p in parts]
    widest = registry.function("reduce_max")(_stack(sizes), 0)
    if not expand_nonconcat_dims:
        others = [_concat([s[:at], s[at + 1 :]], 0) for s in sizes]
        require(
            _reduce_all(_equal(_stack(others), others[0])),
            f"`tf.sparse.concat` got tensors whose sizes differ along other axes than {at}",
            "only the axis that is joined may differ; `expand_nonconcat_dims` takes the largest",
        )
    offset, indices = _holdfast.convert(0, int64), []
    for p in parts:
        shift = [offset if k == at else _holdfast.convert(0, int64) for k in range(rank or 0)]
        indices.append(p.indices + _stack(shift))
        offset = offset + p.dense_shape[at]
        require(
            offset >= 0,
            f"`tf.sparse.concat`: the sizes along axis {at} together are more than an int64 holds",
            "they are the size of the result",
        )
    shape = _stack([offset if k == at else widest[k] for k in range(rank or 0)])
    made = SparseTensor(_concat(indices, 0), _concat([p.values for p in parts], 0), shape)
    return reorder(made)


@named_ops
def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Any]:
    """With an element in each row that had none, and which rows those were."""
    sparse = need_sparse(sp_input, "tf.sparse.fill_empty_rows")
    default = _holdfast.convert(default_value, sparse.dtype)
    if default.shape.rank not in (0, None):
        fail("E1102", f"`default_value` is of shape {default.shape}, expected a scalar")
    require_inside(sparse, "tf.sparse.fill_empty_rows")
    rows = sparse.dense_shape[0]
    ids = sparse.indices[:, 0]
    ones = registry.function("ones_like")(ids)
    counts = registry.function("math.unsorted_segment_sum")(ones, ids, rows)
    empty = _equal(counts, 0)
    missing = _where(empty)
    rank = registry.function("shape")(sparse.indices)[1]
    more = _concat(
        [
            missing,
            registry.function("zeros")([registry.function("shape")(missing)[0], rank - 1], int64),
        ],
        1,
    )
    values = registry.function("fill")(registry.function("shape")(missing)[:1], default)
    indices = _concat([sparse.indices, more], 0)
    whole = _concat([sparse.values, values], 0)
    # Only rows are put in order: inside of a row, elements stay as they were.
    order = registry.function("argsort")(indices[:, 0], stable=True)
    made = _shaped(_gather(indices, order), _gather(whole, order), sparse.dense_shape, sparse.shape)
    return made, empty


@named_ops
def mask(a: Any, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """Rows without those of some numbers."""
    if not isinstance(a, IndexedSlices):
        fail("E1104", f"`tf.sparse.mask` got a {type(a).__name__}, expected IndexedSlices")
    gone = _holdfast.convert(mask_indices, a.indices.dtype)
    kept = registry.function("logical_not")(
        registry.function("reduce_any")(_equal(a.indices[:, None], gone[None, :]), 1)
    )
    return IndexedSlices(_mask(a.values, kept), _mask(a.indices, kept), a.dense_shape)


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`op` of the values of the sparse tensors among the arguments; places stay."""
    given = [x for x in (*args, *kwargs.values()) if is_sparse(x)]
    if not given:
        fail("E1104", "`tf.sparse.map_values` got no SparseTensor")
    first, *others = given
    for each in others:
        if each.indices._id == first.indices._id:
            continue
        counts = _equal(
            registry.function("shape")(each.indices)[0],
            registry.function("shape")(first.indices)[0],
        )
        why = "elements at the same places are paired"
        require(counts, "`tf.sparse.map_values` got sparse tensors of other elements", why)
        same = _reduce_all(_equal(each.indices, first.indices))
        require(same, "`tf.sparse.map_values` got sparse tensors of other elements", why)

    def of(x: Any) -> Any:
        return x.values if is_sparse(x) else x

    found = op(*map(of, args), **{key: of(x) for key, x in kwargs.items()})
    return first.with_values(found)


# Sums.


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum of two, one of them sparse; of two sparse ones, small sums are left out."""
    fetched = SparseTensorValue
    a, b = (need_sparse(x, "tf.sparse.add") if isinstance(x, fetched) else x for x in (a, b))
    if not is_sparse(a) and not is_sparse(b):
        fail("E1104", "`tf.sparse.add` got two dense tensors, expected a SparseTensor among them")
    if not (is_sparse(a) and is_sparse(b)):
        sparse, dense = (a, b) if is_sparse(a) else (b, a)
        dense = _holdfast.convert(dense, None if hasattr(dense, "dtype") else sparse.dtype)
        _need_same(sparse, dense, "tf.sparse.add")
        require_inside(sparse, "tf.sparse.add")
        return registry.function("tensor_scatter_nd_add")(dense, sparse.indices, sparse.values)
    _need_same(a, b, "tf.sparse.add")
    if a.dtype != b.dtype:
        fail("E1101", f"`tf.sparse.add` got {a.dtype.name} and {b.dtype.name}")
    indices = _concat([a.indices, b.indices], 0)
    places, sums = summed(indices, _concat([a.values, b.values], 0), a.dense_shape)
    made = _shaped(places, sums, a.dense_shape, a.shape)
    if isinstance(threshold, (int, float)) and threshold == 0:
        return made
    size = registry.function("abs")(sums)
    _, terms = summed(indices, registry.function("ones_like")(indices[:, 0]), a.dense_shape)
    kept = registry.function("logical_or")(  # what one of them has alone is no sum
        terms < 2, size >= _holdfast.convert(threshold, size.dtype)
    )
    return retain(made, kept)


def _need_same(a: Any, b: Any, name: str) -> None:
    if not a.shape.is_compatible_with(b.shape):
        fail("E1102", f"`{name}` got tensors of shapes {a.shape} and {b.shape}, expected one shape")
    if is_sparse(b):
        same = _reduce_all(_equal(a.dense_shape, b.dense_shape))
        require(
            same, f"`{name}` got sparse tensors of two shapes", "they are put together in place"
        )


def _extreme(how: str, sp_a: Any, sp_b: Any) -> SparseTensor:
    name = f"tf.sparse.{how}imum"
    a, b = need_sparse(sp_a, name), need_sparse(sp_b, name)
    _need_same(a, b, name)
    zeros = registry.function("zeros_like")
    indices = _concat([a.indices, b.indices], 0)
    mine = _concat([a.values, zeros(b.values)], 0)
    theirs = _concat([zeros(a.values), b.values], 0)
    places, left = summed(indices, mine, a.dense_shape)
    _, right = summed(indices, theirs, a.dense_shape)
    return _shaped(places, registry.function(f"{how}imum")(left, right), a.dense_shape, a.shape)


@named_ops
def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger of both, element by element."""
    return _extreme("max", sp_a, sp_b)


@named_ops
def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of both, element by element."""
    return _extreme("min", sp_a, sp_b)


@named_ops
def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Any:
    """The product of two matrices, of which one is sparse."""
    if is_sparse(b) and not is_sparse(sp_a):
        turned = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return registry.function("linalg.adjoint")(turned)
    sparse = need_sparse(sp_a, "tf.sparse.sparse_dense_matmul")
    dense = _holdfast.convert(b, None if hasattr(b, "dtype") else sparse.dtype)
    for x, what in ((sparse, "the sparse matrix"), (dense, "the dense one")):
        if x.shape.rank not in (2, None):
            fail("E1102", f"`sparse_dense_matmul`: {what} is of shape {x.shape}, expected 2 axes")
    if sparse.dtype != dense.dtype:
        fail("E1101", f"`sparse_dense_matmul` got {sparse.dtype.name} and {dense.dtype.name}")
    require_inside(sparse, "tf.sparse.sparse_dense_matmul")
    values = sparse.values
    if adjoint_a and values.dtype.is_complex:
        values = registry.function("math.conj")(values)
    if adjoint_b:
        dense = registry.function("linalg.adjoint")(dense)
    row, column = (1, 0) if adjoint_a else (0, 1)
    inner = sparse.shape.as_list()[column] if sparse.shape.rank else None
    have = dense.shape[0] if dense.shape.rank else None
    if None not in (inner, have) and inner != have:
        fail(
            "E1102",
            f"`sparse_dense_matmul`: {inner} columns of the sparse matrix meet {have} rows",
        )
    if None in (inner, have):
        same = _equal(sparse.dense_shape[column], registry.function("shape")(dense, int64)[0])
        require(same, "`sparse_dense_matmul`: columns meet another number of rows", "they pair")
    rows = _gather(dense, sparse.indices[:, column])
    count = sparse.shape.as_list()[row] if sparse.shape.rank else None
    count = sparse.dense_shape[row] if count is None else _holdfast.convert(count, int64)
    return registry.function("math.unsorted_segment_sum")(
        values[:, None] * rows, sparse.indices[:, row], count
    )
