"""What functions do with a `DynamicRaggedShape`: tensors of that shape."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.composite import handles
from ..._tensors.dtypes import float32
from ...errors import fail
from . import partition
from .broadcasting import broadcast, map_flat
from .shape import DynamicRaggedShape
from .tensor import RaggedTensor

__all__: list[str] = []

_equal = registry.function("equal")
_reduce_all = registry.function("reduce_all")
_size = registry.function("size")


def _like(shape: Any) -> Any:
    """A small tensor of a shape, of which only the rows are looked at."""
    return shape._of_values(registry.function("zeros")(shape.inner_shape, "bool"))


@handles(registry.function("ones"), DynamicRaggedShape)
def _ones(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    return shape._of_values(registry.function("ones")(shape.inner_shape, dtype))


@handles(registry.function("zeros"), DynamicRaggedShape)
def _zeros(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    return shape._of_values(registry.function("zeros")(shape.inner_shape, dtype))


@handles(registry.function("fill"), DynamicRaggedShape)
def _fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    return dims._of_values(registry.function("fill")(dims.inner_shape, value))


def _reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    reshape = registry.function("reshape")
    flat = tensor.values if isinstance(tensor, RaggedTensor) else tensor
    if isinstance(flat, RaggedTensor):
        fail("E1105", "`reshape` of a RaggedTensor with more than one ragged axis")
    if not isinstance(shape, DynamicRaggedShape):
        return reshape(flat, shape)
    return shape._of_values(reshape(flat, shape.inner_shape))


handles(registry.function("reshape"), DynamicRaggedShape)(_reshape)
handles(registry.function("reshape"), RaggedTensor)(_reshape)


def _broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    broadcast_to = registry.function("broadcast_to")
    if not isinstance(shape, DynamicRaggedShape):
        fail(
            "E1104",
            f"`broadcast_to` of a RaggedTensor got a {type(shape).__name__} as `shape`",
            "rows of a ragged tensor have lengths of their own",
            fix="give a `tf.experimental.DynamicRaggedShape`, as `tf.shape` of another one",
        )
    value = input if isinstance(input, RaggedTensor) else _holdfast.convert(input)
    if not shape.num_row_partitions:
        if isinstance(value, RaggedTensor):
            fail("E1102", "`broadcast_to`: a RaggedTensor does not fit into a shape without rows")
        return broadcast_to(value, shape.inner_shape)
    if isinstance(value, RaggedTensor):
        value = value.with_row_splits_dtype(shape.dtype)
    # Beside a tensor of that shape it takes on its rows; one that is larger would stretch those.
    found, other = broadcast([value, _like(shape)])
    if len(other.nested_row_splits) != shape.num_row_partitions:
        fail("E1102", f"`broadcast_to`: {value.shape} has more axes than {shape}")
    for part, splits in zip(shape.row_partitions, other.nested_row_splits, strict=True):
        same = _equal(_size(part.row_splits()), _size(splits))
        what = "`broadcast_to`: an axis is longer than that of `shape`"
        partition.require(same, what, "only axes of length 1 are repeated")
        same = _reduce_all(_equal(part.row_splits(), splits))
        partition.require(same, what, "only axes of length 1 are repeated")
    flat = found.flat_values if isinstance(found, RaggedTensor) else found
    return shape._of_values(broadcast_to(flat, shape.inner_shape))


handles(registry.function("broadcast_to"), DynamicRaggedShape)(_broadcast_to)
handles(registry.function("broadcast_to"), RaggedTensor)(_broadcast_to)


@handles(registry.function("broadcast_dynamic_shape"), DynamicRaggedShape)
def _broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    both = []
    for given, name in ((shape_x, "shape_x"), (shape_y, "shape_y")):
        if not isinstance(given, DynamicRaggedShape):
            kind = type(given).__name__
            fail("E1104", f"`broadcast_dynamic_shape`: `{name}` is a {kind}, as the other is not")
        both.append(given)
    kinds = {each.dtype for each in both}
    x, y = (each.with_dtype("int64") if len(kinds) > 1 else each for each in both)
    if not x.num_row_partitions and not y.num_row_partitions:
        sizes = registry.function("broadcast_dynamic_shape")(x.inner_shape, y.inner_shape)
        return DynamicRaggedShape([], sizes)
    both = [_like(x), _like(y)]
    return DynamicRaggedShape.from_tensor(map_flat(registry.function("logical_or"), *both))
