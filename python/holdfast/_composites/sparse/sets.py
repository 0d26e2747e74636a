"""`tf.sets`: the last axes of tensors, dense or sparse, as sets."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ...errors import fail
from .tensor import SparseTensor, SparseTensorValue, is_sparse, need_sparse

__all__ = ["difference", "intersection", "size", "union"]


def size(a: Any, validate_indices: bool = True) -> Any:
    """How many different elements each set of a sparse tensor has: int32, without the last axis."""
    sparse = need_sparse(a, "tf.sets.size")
    return registry.raw_op(
        "SetSize",
        set_indices=sparse.indices,
        set_values=sparse.values,
        set_shape=sparse.dense_shape,
        validate_indices=validate_indices,
    )


def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements that sets of `a` and of `b` have in common, ascending."""
    return _of_both(a, b, "intersection", validate_indices, "tf.sets.intersection")


def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The elements of sets of `a` that those of `b` lack, ascending; the reverse on request."""
    which = "a-b" if aminusb else "b-a"
    return _of_both(a, b, which, validate_indices, "tf.sets.difference")


def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements of sets of `a` and of `b`, ascending, each once."""
    return _of_both(a, b, "union", validate_indices, "tf.sets.union")


def _operand(value: Any) -> Any:
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if is_sparse(value) else _holdfast.convert(value)


def _parts(prefix: str, value: Any) -> dict[str, Any]:
    if not is_sparse(value):
        return {prefix: value}
    return {
        f"{prefix}_indices": value.indices,
        f"{prefix}_values": value.values,
        f"{prefix}_shape": value.dense_shape,
    }


def _of_both(a: Any, b: Any, what: str, validate_indices: bool, name: str) -> SparseTensor:
    x, y = _operand(a), _operand(b)
    if x.dtype != y.dtype:
        fail("E1101", f"`{name}`: `a` is {x.dtype.name} but `b` is {y.dtype.name}")
    if is_sparse(x) and not is_sparse(y):  # there is an op for the other order
        x, y = y, x
        what = {"a-b": "b-a", "b-a": "a-b"}.get(what, what)
    kinds = tuple("Sparse" if is_sparse(each) else "Dense" for each in (x, y))
    found = registry.raw_op(
        "{}To{}SetOperation".format(*kinds),
        **_parts("set1", x),
        **_parts("set2", y),
        set_operation=what,
        validate_indices=validate_indices,
    )
    made = SparseTensor(*found)
    outer = [each.shape[:-1] for each in (x, y) if each.shape.rank]
    if outer and made.shape.rank == outer[0].rank + 1:
        made.set_shape(outer[0].merge_with(outer[-1]).concatenate([None]))
    return made
