"""How often numbers occur in sparse and ragged tensors, and counts that are sparse themselves."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.composite import handles
from ..._tensors.dtypes import as_dtype, int32, int64
from ...errors import fail
from ..ragged.partition import require, rowids_of
from ..ragged.tensor import RaggedTensor, is_ragged
from .places import summed
from .tensor import SparseTensor, is_sparse

__all__ = ["bincount"]

_bincount = registry.function("math.bincount")
_cast = registry.function("cast")
_mask = registry.function("boolean_mask")
_maximum = registry.function("maximum")
_minimum = registry.function("minimum")
_reduce_all = registry.function("reduce_all")
_reduce_max = registry.function("reduce_max")
_reshape = registry.function("reshape")
_shape = registry.function("shape")
_stack = registry.function("stack")


def _flat_weights(values: Any, weights: Any, name: str) -> Any:
    """The weights of the values, one for each, in the same order; None if there are none."""
    if weights is None:
        return None
    kind = type(values).__name__
    if type(weights) is not type(values):
        fail(
            "E1104",
            f"`{name}`: `weights` is of type {type(weights).__name__}, expected a {kind}, "
            "as the values are",
        )
    for a, b in zip(_places(values), _places(weights), strict=False):
        alike = a.shape.is_compatible_with(b.shape)
        require(
            _reduce_all(registry.function("equal")(a, b)) if alike else _holdfast.convert(False),
            f"`{name}`: `weights` has other elements than the values",
            "each element has one weight, at the same place",
        )
    return weights.flat_values if is_ragged(weights) else weights.values


def _places(values: Any) -> list[Any]:
    """Where the elements are."""
    if is_ragged(values):
        return list(values.nested_row_splits)
    return [values.indices, values.dense_shape]


def _flat(values: Any) -> Any:
    return values.flat_values if is_ragged(values) else values.values


def _length(values: Any, minlength: Any, maxlength: Any) -> Any:
    """How many counts there are: up to the largest value, or as the caller limits it."""
    none = registry.function("zeros")([1], values.dtype) - 1
    largest = _cast(_reduce_max(registry.function("concat")([values, none], 0)), int64)
    size = _minimum(largest, int64.max - 1) + 1  # of more there is no number
    if minlength is not None:
        size = _maximum(size, _cast(minlength, size.dtype))
    return size if maxlength is None else _minimum(size, _cast(maxlength, size.dtype))


def _need_axis(axis: Any, name: str) -> bool:
    """Whether rows are counted one by one."""
    if axis not in (None, 0, -1):
        fail(
            "E1105", f"`{name}`: `axis` {axis!r} is not supported", "supported: 0 for all, -1 rows"
        )
    return bool(axis == -1)


@named_ops
def _counted(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    flat, each = _flat(arr), _flat_weights(arr, weights, "bincount")
    if not _need_axis(axis, "bincount"):
        return _bincount(flat, each, minlength, maxlength, dtype, binary_output=binary_output)
    if is_ragged(arr) and (arr.ragged_rank > 1 or flat.shape.rank != 1):
        fail("E1102", f"`bincount`: `arr` is of shape {arr.shape}, expected rows of numbers")
    kind = as_dtype(dtype)
    given = registry.function("zeros")([0], kind) if each is None else each
    size = _length(flat, minlength, maxlength)
    if is_ragged(arr):
        splits = _cast(arr.row_splits, int64)
        return _holdfast.raw_op(
            "RaggedBincount",
            splits=splits,
            values=flat,
            size=size,
            weights=given,
            binary_output=binary_output,
        )
    return _holdfast.raw_op(
        "SparseBincount",
        indices=arr.indices,
        values=flat,
        dense_shape=arr.dense_shape,
        size=size,
        weights=given,
        binary_output=binary_output,
    )


for _kind in (SparseTensor, RaggedTensor):
    handles(_bincount, _kind)(_counted)


@named_ops
def bincount(
    values: Any,
    weights: Any = None,
    axis: int | None = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each number occurs, or the sum of the weights there, as a sparse tensor.

    `axis` 0 counts all values together, -1 those of each row.
    """
    called = "tf.sparse.bincount"
    rows = _need_axis(axis, called)
    if binary_output and weights is not None:
        raise ValueError(f"`{called}`: `weights` mean nothing where `binary_output` is asked for")
    flat, each, numbers, count = _rows(values, weights, rows, called)
    require(
        _reduce_all(flat >= 0),
        f"`{called}`: `values` holds a negative number",
        "what is counted is 0, 1, 2 ...",
    )
    size = _maximum(_length(flat, minlength, maxlength), 1)  # also where there is no value
    if maxlength is None:
        require(
            _reduce_all(_cast(flat, int64) < int64.max),
            f"`{called}`: `values` holds {int64.max}",
            "one more would be the size of the result, and is no int64",
        )
    else:
        size, inside = _cast(maxlength, flat.dtype), flat < _cast(maxlength, flat.dtype)
        flat, numbers = _mask(flat, inside), numbers if numbers is None else _mask(numbers, inside)
        each = each if each is None else _mask(each, inside)
    counts = int64 if flat.dtype == int64 else int32
    given = registry.function("ones_like")(flat, counts) if each is None else each
    parts = [_cast(flat, int64)] if numbers is None else [numbers, _cast(flat, int64)]
    shape = _stack([*([] if count is None else [count]), _cast(size, int64)])
    indices, found = summed(_stack(parts, 1), given, shape, "max" if binary_output else "sum")
    return SparseTensor(indices, found, shape)


def _rows(values: Any, weights: Any, rows: bool, name: str) -> tuple[Any, Any, Any, Any]:
    """Values, weights, the row of each value and the number of rows, if rows are counted apart."""
    if not is_sparse(values) and not is_ragged(values):
        return _dense_rows(values, weights, rows, name)
    flat, each = _flat(values), _flat_weights(values, weights, name)
    if is_ragged(values) and not rows:
        flat, each = _reshape(flat, [-1]), each if each is None else _reshape(each, [-1])
    if not rows or (is_sparse(values) and values.indices.shape[1] == 1):
        return flat, each, None, None
    if is_sparse(values):
        return flat, each, values.indices[:, 0], values.dense_shape[0]
    if values.ragged_rank > 1 or flat.shape.rank != 1:
        fail("E1102", f"`{name}`: `values` is of shape {values.shape}, expected rows of numbers")
    numbers = _cast(rowids_of(values.row_splits), int64)
    return flat, each, numbers, _cast(values.nrows(), int64)


def _dense_rows(values: Any, weights: Any, rows: bool, name: str) -> tuple[Any, Any, Any, Any]:
    dense = _holdfast.convert(values)
    if not dense.dtype.is_integer:
        fail("E1101", f"`{name}`: `values` is {dense.dtype.name}, expected int32 or int64")
    each = None if weights is None else _holdfast.convert(weights)
    if each is not None and not each.shape.is_compatible_with(dense.shape):
        fail("E1102", f"`{name}`: `weights` is of shape {each.shape}, expected {dense.shape}")
    flat = _reshape(dense, [-1])
    flat_weights = None if each is None else _reshape(each, [-1])
    if not rows or dense.shape.rank == 1:
        return flat, flat_weights, None, None
    if dense.shape.rank != 2:
        fail("E1102", f"`{name}`: `values` is of shape {dense.shape}, expected 1 or 2 axes")
    sizes = _shape(dense, int64)
    numbers = registry.function("repeat")(registry.function("range")(sizes[0]), sizes[1])
    return flat, flat_weights, numbers, sizes[0]
