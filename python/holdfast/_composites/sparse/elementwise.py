"""Functions of single elements that leave zero zero: done to the values of sparse tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.composite import handles
from ..._tensors.dtypes import int64
from ...errors import fail
from ..ragged.partition import require
from .tensor import SparseTensor, is_sparse

__all__ = ["operators"]

_UNARY = """abs asin asinh atan atanh cast ceil conj erf expm1 floor identity imag is_inf is_nan
log1p math.bessel_i1e math.erfinv negative nn.elu nn.gelu nn.leaky_relu nn.relu nn.relu6 nn.selu
nn.softsign real rint round sign sin sinh sqrt square stop_gradient tan tanh zeros_like"""


def _unary(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    first = function.record["params"][0]["name"]  # type: ignore[attr-defined]
    if not args:
        args = (kwargs.pop(first),)
    sparse, *rest = args
    if not is_sparse(sparse):
        return NotImplemented
    return sparse.with_values(function(sparse.values, *rest, **kwargs))


def _beside(function: Callable[..., Any], sparse: Any, dense: Any) -> Any:
    """`function` of the values and the elements of a dense tensor, broadcast, in their places."""
    other = _holdfast.convert(dense, None if hasattr(dense, "dtype") else sparse.dtype)
    rank, have = sparse.shape.rank, other.shape.rank
    if have == 0:
        return sparse.with_values(function(sparse.values, other))
    if rank is None or have is None or have > rank:
        fail(
            "E1102",
            f"a sparse tensor of shape {sparse.shape} beside a dense one of shape {other.shape}",
            "the dense one is repeated to the shape of the sparse one, not the other way",
        )
    sizes = registry.function("shape")(other, int64)
    own = sparse.dense_shape[rank - have :]
    alike = registry.function("logical_or")(
        registry.function("equal")(sizes, own), registry.function("equal")(sizes, 1)
    )
    require(
        registry.function("reduce_all")(alike),
        f"a dense tensor of shape {other.shape} does not fit a sparse one of shape {sparse.shape}",
        "sizes are the same, or 1 in the dense tensor",
    )
    places = sparse.indices[:, rank - have :] % registry.function("maximum")(sizes, 1)
    return sparse.with_values(
        function(sparse.values, registry.function("gather_nd")(other, places))
    )


for _path in _UNARY.split():
    for _name in (_path, f"math.{_path}"):
        if _name in registry.BY_PATH:
            _function = registry.function(_name)
            handles(_function, SparseTensor)(functools.partial(_unary, _function))


@named_ops
def _binary(function: Callable[..., Any], x: Any, y: Any, name: str | None = None) -> Any:
    if is_sparse(x) and not is_sparse(y):
        return _beside(function, x, y)
    if is_sparse(y) and not is_sparse(x) and function is registry.function("multiply"):
        return _beside(function, y, x)
    return NotImplemented


for _path in ("multiply", "divide", "truediv", "math.divide", "math.truediv"):
    if _path in registry.BY_PATH:
        _function = registry.function(_path)
        handles(_function, SparseTensor)(functools.partial(_binary, _function))


@handles(registry.function("shape"), SparseTensor)
@named_ops
def _shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    return registry.function("cast")(input.dense_shape, out_type or "int32")


@handles(registry.function("size"), SparseTensor)
@named_ops
def _size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    whole = registry.function("reduce_prod")(input.dense_shape)
    return registry.function("cast")(whole, out_type or "int32")


@handles(registry.function("rank"), SparseTensor)
@named_ops
def _rank(input: Any, name: str | None = None) -> Any:
    return registry.function("size")(input.dense_shape)


def operators() -> dict[str, Callable[..., Any]]:
    """The methods of the operators, by their names."""
    multiply, divide = registry.function("multiply"), registry.function("truediv")

    def times(self: Any, other: Any) -> Any:
        return NotImplemented if is_sparse(other) else _beside(multiply, self, other)

    def over(self: Any, other: Any) -> Any:
        return NotImplemented if is_sparse(other) else _beside(divide, self, other)

    def negative(self: Any) -> Any:
        return self.with_values(-self.values)

    return {"__mul__": times, "__rmul__": times, "__truediv__": over, "__neg__": negative}
