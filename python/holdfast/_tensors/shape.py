"""Shapes that may be partly known, and the specifications of tensors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, overload

from .. import _holdfast
from . import dtypes
from .constants import plain_constant
from .dimension import Dimension, size_of
from .shape_proto import TensorShapeProto

__all__ = ["Dimension", "TensorShape", "TensorSpec", "TypeSpec", "broadcast_static_shape"]

Dims: TypeAlias = "tuple[int | None, ...] | None"


class TensorShape:
    """The shape of a tensor: sizes, of which some, or all with their number, may be unknown."""

    __slots__ = ("_dims",)
    _dims: Dims

    def __init__(self, dims: Any) -> None:
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, (tuple, list)):
            self._dims = tuple(map(size_of, dims))
        elif isinstance(dims, (int, str, Dimension)) or not isinstance(dims, Iterable):
            self._dims = (size_of(dims),)
        else:
            self._dims = tuple(map(size_of, dims))

    # What is known.

    @property
    def rank(self) -> int | None:
        """The number of dimensions, None if unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The same as `rank`."""
        return self.rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions as a list, None if their number is unknown."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self) -> list[int | None]:
        """The sizes as a list, None for an unknown one."""
        if self._dims is None:
            raise ValueError("`as_list` of a shape of unknown rank: there is no list of its sizes")
        return list(self._dims)

    def as_proto(self) -> Any:
        """The shape in TensorFlow's format."""
        if self._dims is None:
            return TensorShapeProto(unknown_rank=True)
        return TensorShapeProto(
            [TensorShapeProto.Dim(-1 if size is None else size) for size in self._dims]
        )

    def num_elements(self) -> int | None:
        """How many elements such a tensor has, None if that is unknown."""
        if self._dims is None or None in self._dims:
            return None
        return math.prod(d for d in self._dims if d is not None)

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return self._dims is not None and None not in self._dims

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        """The sizes as a tensor: of int32 where they fit, unless `dtype` says otherwise."""
        if not self.is_fully_defined():
            raise ValueError(f"the shape {self} makes no tensor: not all its sizes are known")
        sizes = self.as_list()
        fits = all(size is None or size < 2**31 for size in sizes)
        return plain_constant(sizes, dtype or (dtypes.int32 if fits else dtypes.int64))

    # Put together.

    def concatenate(self, other: Any) -> TensorShape:
        """These dimensions followed by those of `other`."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return make_shape(self._dims + other._dims)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def merge_with(self, other: Any) -> TensorShape:
        """What both know; ValueError if they contradict each other."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return other if self._dims is None else self
        if not self.is_compatible_with(other):
            raise ValueError(f"no tensor has both the shape {self} and the shape {other}")
        pairs = zip(self._dims, other._dims, strict=True)
        return make_shape(tuple(b if a is None else a for a, b in pairs))

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The narrowest shape that both fit."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return TensorShape(None)
        pairs = zip(self._dims, other._dims, strict=True)
        return make_shape(tuple(a if a == b else None for a, b in pairs))

    def most_specific_common_supertype(self, others: Iterable[Any]) -> TensorShape | None:
        """The narrowest shape that this one and all `others` fit."""
        found = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            found = found.most_specific_compatible_shape(other)
        return found

    # Compared.

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some tensor could have both shapes."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims, strict=True)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every tensor of this shape has the shape `other` too."""
        if not isinstance(other, TensorShape):
            return False
        if other._dims is None:
            return True
        return (
            self._dims is not None
            and len(self._dims) == len(other._dims)
            and all(b is None or a == b for a, b in zip(self._dims, other._dims, strict=True))
        )

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have `rank` dimensions."""
        if self._dims is None:
            return unknown_shape(rank)
        if len(self._dims) != rank:
            raise ValueError(f"the shape {self} has rank {len(self._dims)}, expected {rank}")
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have fewer than `rank` dimensions."""
        if self._dims is not None and len(self._dims) < rank:
            rule = f"expected {rank} or more"
            raise ValueError(f"the shape {self} has rank {len(self._dims)}, {rule}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have more than `rank` dimensions."""
        if self._dims is not None and len(self._dims) > rank:
            rule = f"expected {rank} or less"
            raise ValueError(f"the shape {self} has rank {len(self._dims)}, {rule}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """ValueError unless this shape may have `rank` dimensions."""
        self.with_rank(rank)

    def assert_same_rank(self, other: Any) -> None:
        """ValueError if the numbers of dimensions are known and differ."""
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"the shapes {self} and {other} differ in rank")

    def assert_is_compatible_with(self, other: Any) -> None:
        """ValueError unless some tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"no tensor has both the shape {self} and the shape {other}")

    def assert_is_fully_defined(self) -> None:
        """ValueError unless every size is known."""
        if not self.is_fully_defined():
            raise ValueError(f"the shape {self} has a size that is not known")

    def __eq__(self, other: object) -> bool:
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        return self._dims == other._dims

    def __hash__(self) -> int:
        return hash(self._dims)

    # As a sequence.

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("`len` of a shape of unknown rank")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("a shape of unknown rank has no sizes to go through")
        return iter(self._dims)

    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    @overload
    def __getitem__(self, key: Any) -> int | None: ...
    def __getitem__(self, key: Any) -> TensorShape | int | None:
        if self._dims is not None:
            if isinstance(key, slice):
                return make_shape(self._dims[key])
            size: int | None = self._dims[key]
            return size
        if not isinstance(key, slice):
            return None
        start, stop = key.start or 0, key.stop
        if key.step is not None:
            raise ValueError("a slice of a shape of unknown rank takes no step")
        if stop is None or start < 0 or stop < 0:  # from the end, which is not known
            return TensorShape(None)
        return unknown_shape(max(0, stop - start))

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return TensorShape, (self.dims,)


def make_shape(dims: Dims) -> TensorShape:
    """A shape of sizes that are known to be right."""
    made = object.__new__(TensorShape)
    made._dims = dims
    return made


def as_shape(value: Any) -> TensorShape:
    """`value` as a TensorShape."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of `rank` unknown sizes."""
    return make_shape(None if rank is None else (None,) * rank)


def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The shape that two shapes have after broadcasting, as far as they are known."""
    x, y = as_shape(shape_x)._dims, as_shape(shape_y)._dims
    if x is None or y is None:
        return TensorShape(None)
    rank = max(len(x), len(y))
    sizes: list[int | None] = []
    for a, b in zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y, strict=True):
        if a == 1 or b == 1:
            sizes.append(b if a == 1 else a)
        elif a is None or b is None:
            sizes.append(b if a is None else a)
        elif a == b:
            sizes.append(a)
        else:
            shapes = f"{as_shape(shape_x)} and {as_shape(shape_y)}"
            raise ValueError(f"{shapes} do not broadcast: {a} meets {b}")
    return make_shape(tuple(sizes))


def _of_a_graph(tensor: Any) -> bool:
    known: Any = _holdfast
    return bool(getattr(tensor, "_symbolic", False)) and known.graph_of(tensor) is not None


class TypeSpec:
    """What is known of a value before there is one."""

    __slots__ = ()


class TensorSpec(TypeSpec):
    """What is known of a tensor: shape, dtype and name."""

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The shape such a tensor has."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype such a tensor has."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, None if it has none."""
        return self._name

    @property
    def value_type(self) -> type[Any]:
        """The class of what this specifies."""
        from .._holdfast import Tensor

        return Tensor

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """A copy of `spec`, under another name if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The specification that exactly fits `tensor`."""
        own = tensor.op.name if name is None and _of_a_graph(tensor) else name
        return cls(tensor.shape, tensor.dtype, own)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether dtype and shape may be those of `spec_or_tensor`."""
        other = spec_or_tensor
        if not hasattr(other, "dtype") or not hasattr(other, "shape"):
            return False
        return self._dtype == other.dtype and self._shape.is_compatible_with(other.shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether whatever fits this fits `other` too."""
        return (
            isinstance(other, TensorSpec)
            and self._dtype == other._dtype
            and self._shape.is_subtype_of(other._shape)
            and self._name in (None, other._name)
        )

    def most_specific_compatible_type(self, other: TensorSpec) -> TensorSpec:
        """The narrowest specification that both fit."""
        if self._dtype != other._dtype:
            raise ValueError(f"no TensorSpec fits {self} and {other}: their dtypes differ")
        shape = self._shape.most_specific_compatible_shape(other._shape)
        return TensorSpec(shape, self._dtype, self._name if self._name == other._name else None)

    def most_specific_common_supertype(self, others: Iterable[Any]) -> TensorSpec | None:
        """The narrowest specification that this and all `others` fit."""
        found = self
        for other in others:
            if not isinstance(other, TensorSpec) or other._dtype != self._dtype:
                return None
            found = found.most_specific_compatible_type(other)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return TensorSpec, (self._shape, self._dtype, self._name)


def dimension_value(dimension: Any) -> Any:
    """A dimension as a number, or None: what `shape[i]` is already."""
    return dimension.value if hasattr(dimension, "value") else dimension


def dimension_at_index(shape: Any, index: int) -> Any:
    """Dimension `index` of a shape; one that nothing is known of where the rank is unknown."""
    known = as_shape(shape)
    return Dimension(None if known.rank is None else known[index])
