"""Variables in parts: each part a Variable of its own, cut along one axis."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import _holdfast
from .._graphs.control import ordered
from .._graphs.name_scope import name_scope
from .._tensors import operators, registry
from .._tensors.conversions import register_tensor_conversion_function
from .._tensors.dtypes import as_dtype
from .._tensors.shape import TensorShape, as_shape
from ..errors import fail

__all__ = [
    "PartitionInfo",
    "PartitionedVariable",
    "SaveSliceInfo",
    "fixed_size_partitioner",
    "min_max_variable_partitioner",
    "partitions_of",
    "slices",
    "variable_axis_size_partitioner",
]


class PartitionInfo:
    """Which part of a whole an initializer is asked for."""

    def __init__(self, full_shape: Any, var_offset: Any) -> None:
        for what, given in (("full_shape", full_shape), ("var_offset", var_offset)):
            if not isinstance(given, (list, tuple)):
                kind = type(given).__name__
                fail("E1104", f"`{what}` is of type {kind}, expected a list of numbers")
        if len(full_shape) != len(var_offset):
            raise ValueError(f"`var_offset` {var_offset} is no place in `full_shape` {full_shape}")
        if any(at < 0 or at >= size for at, size in zip(var_offset, full_shape, strict=True)):
            raise ValueError(f"`var_offset` {var_offset} is outside of `full_shape` {full_shape}")
        self.full_shape, self.var_offset = list(full_shape), list(var_offset)

    def single_offset(self, shape: Any) -> int:
        """Where a part of this shape begins along the axis that is cut."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else int(self.var_offset[axis])

    def single_slice_dim(self, shape: Any) -> int | None:
        """The axis along which a part of this shape is cut out; None: it is the whole."""
        if not isinstance(shape, (list, tuple)):
            fail("E1104", f"`shape` is of type {type(shape).__name__}, expected a list of numbers")
        if len(shape) != len(self.full_shape):
            raise ValueError(f"`shape` {shape} is no part of {self.full_shape}")
        for size, at, whole in zip(shape, self.var_offset, self.full_shape, strict=True):
            if at + size > whole:
                raise ValueError(f"a part {shape} at {self.var_offset} leaves {self.full_shape}")
        cut = [i for i, whole in enumerate(self.full_shape) if shape[i] != whole]
        if len(cut) > 1:
            raise ValueError(f"a part {shape} of {self.full_shape} is cut along more than one axis")
        return cut[0] if cut else None


@dataclasses.dataclass
class SaveSliceInfo:
    """Which part of a whole a variable holds, for who saves it."""

    full_name: str = ""
    full_shape: Any = None
    var_offset: Any = None
    var_shape: Any = None

    @property
    def spec(self) -> str:
        """The same as text: the whole's shape, then begin and length along each axis."""
        whole = " ".join(str(size) for size in self.full_shape)
        pairs = zip(self.var_offset, self.var_shape, strict=True)
        return f"{whole} " + ":".join(f"{at},{size}" for at, size in pairs)


def partitions_of(partitioner: Any, shape: TensorShape, dtype: Any) -> list[int]:
    """How many parts each axis is cut into."""
    if not shape.is_fully_defined():
        raise ValueError(f"a variable in parts has a full shape, and this one is {shape}")
    if not shape.rank:
        raise ValueError("a scalar can't be cut into parts")
    found = partitioner(shape=shape, dtype=dtype)
    if not isinstance(found, Sequence) or isinstance(found, str):
        kind = type(found).__name__
        fail("E1104", f"`partitioner` gave a {kind}, expected a list with a number per axis")
    if len(found) != shape.rank:
        raise ValueError(f"`partitioner` gave {list(found)} for the shape {shape}")
    if any(count < 1 for count in found):
        raise ValueError(f"`partitioner` gave {list(found)}: no axis has less than one part")
    if sum(count > 1 for count in found) > 1:
        raise ValueError(f"`partitioner` gave {list(found)}: only one axis can be cut into parts")
    return [int(count) for count in found]


def slices(shape: list[int], partitions: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Where each part begins, and its shape. The first ones are longer by one, if any are."""
    axis = max(range(len(partitions)), key=lambda i: partitions[i])
    count = partitions[axis]
    if shape[axis] < count:
        raise ValueError(f"an axis of {shape[axis]} can't be cut into {count} parts")
    length, longer = divmod(shape[axis], count)
    offset = [0] * len(shape)
    for number in range(count):
        part = list(shape)
        part[axis] = length + (number < longer)
        yield list(offset), part
        offset[axis] += part[axis]


@operators.overload
class PartitionedVariable:
    """Variables that are one tensor, put together along an axis."""

    def __init__(
        self, name: str, shape: Any, dtype: Any, variable_list: Any, partitions: Any
    ) -> None:
        if not isinstance(variable_list, (list, tuple)):
            kind = type(variable_list).__name__
            fail("E1104", f"`variable_list` is of type {kind}, expected a list of variables")
        if not isinstance(partitions, (list, tuple)):
            kind = type(partitions).__name__
            fail("E1104", f"`partitions` is of type {kind}, expected a list of numbers")
        if any(count < 1 for count in partitions):
            raise ValueError(f"`partitions` is {list(partitions)}: no axis has less than one part")
        if not variable_list:
            raise ValueError("`variable_list` is empty, and a variable has at least one part")
        self._name, self._dtype, self._shape = name, as_dtype(dtype), as_shape(shape)
        self._variables, self._cut = list(variable_list), [int(count) for count in partitions]
        self._whole: Any = None

    @property
    def name(self) -> str:
        """The name of the whole, without the parts' numbers."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of every part."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def _get_variable_list(self) -> list[Any]:
        return self._variables

    def _get_partitions(self) -> list[int]:
        return self._cut

    def _partition_axes(self) -> list[int]:
        return [i for i, count in enumerate(self._cut) if count > 1] or [0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variables)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"parts {self._cut} are cut along more than one axis")
        return self._cut[axes[0]]

    @property
    def op(self) -> Any:
        """The operation that puts the parts together."""
        return self.as_tensor().op

    def _concat(self) -> Any:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(f"parts {self._cut} are cut along more than one axis")
        identity = registry.function("identity")
        with name_scope(""):
            if len(self._variables) == 1:
                return identity(self._variables[0].read(), name=self._name)
            with name_scope(f"{self._name}/ConcatPartitions/"):
                whole = registry.function("concat")([v.read() for v in self._variables], axes[0])
            return identity(whole, name=self._name)

    def as_tensor(self) -> Any:
        """The whole. What it is computed by depends on nothing that comes before."""
        graph = _holdfast.current_graph()
        if graph is None:
            return self._concat()
        with ordered(graph, None):
            return self._concat()

    _as_operand = as_tensor
    _as_graph_element = as_tensor

    def __getitem__(self, key: Any) -> Any:
        return self.as_tensor()[key]

    def _apply(self, method: str, value: Any, read_value: bool, **options: Any) -> list[Any]:
        if isinstance(value, (list, tuple)) and len(value) == len(self._variables):
            parts = list(value)
        else:
            axis = self._partition_axes()[0]
            sizes = [v.shape[axis] for v in self._variables]
            parts = registry.function("split")(value, sizes, axis)
        done = [
            getattr(variable, method)(part, read_value=read_value, **options)
            for variable, part in zip(self._variables, parts, strict=True)
        ]
        return done if read_value else [op for op in done if op is not None]

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Gives each part its share of `value`."""
        return self._apply("assign", value, read_value, name=name)

    def assign_add(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Adds to each part its share of `value`."""
        return self._apply("assign_add", value, read_value, name=name)

    def assign_sub(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Subtracts from each part its share of `value`."""
        return self._apply("assign_sub", value, read_value, name=name)

    def __repr__(self) -> str:
        parts = len(self._variables)
        kind = f"shape={self._shape} dtype={self._dtype.name}"
        return f"<PartitionedVariable '{self._name}' {kind} of {parts} parts>"


def _whole(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
    return value.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _whole)


# What says how to cut.


def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Callable[..., list[int]]:
    """Cuts `axis` so that no part is larger than `max_shard_bytes`, if that can be done."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("`max_shard_bytes` and `bytes_per_string_element` are at least 1")
    if max_shards is not None and max_shards < 1:
        raise ValueError(f"`max_shards` is {max_shards}, expected at least 1")

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        dims = _dims_to_cut(shape, axis)
        kind = as_dtype(dtype)
        size = bytes_per_string_element if kind.name == "string" else kind.size
        row = size * (math.prod(dims) // dims[axis] if dims[axis] else 0)
        rows = max(1, max_shard_bytes // row) if row else max(1, dims[axis])
        count = max(1, math.ceil(dims[axis] / rows))
        parts = [1] * len(dims)
        parts[axis] = count if max_shards is None else min(max_shards, count)
        return parts

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Callable[..., list[int]]:
    """Cuts `axis` into at most `max_partitions`, of at least `min_slice_size` bytes each."""

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        dims = _dims_to_cut(shape, axis)
        kind = as_dtype(dtype)
        size = bytes_per_string_element if kind.name == "string" else kind.size
        wanted = max(1, math.ceil(math.prod(dims) * size / min_slice_size))
        parts = [1] * len(dims)
        parts[axis] = max(1, min(wanted, max_partitions, dims[axis]))
        return parts

    return partitioner


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Callable[..., list[int]]:
    """Cuts `axis` into `num_shards` parts, or as many as it is long."""

    def partitioner(shape: Any, **_: Any) -> list[int]:
        dims = _dims_to_cut(shape, axis)
        parts = [1] * len(dims)
        parts[axis] = min(num_shards, dims[axis])
        return parts

    return partitioner


def _dims_to_cut(shape: Any, axis: int) -> list[int]:
    known = as_shape(shape)
    if not known.is_fully_defined():
        raise ValueError(f"only a full shape can be cut into parts, and this one is {known}")
    dims = [int(size or 0) for size in known.as_list()]
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"`axis` is {axis}, and the shape {known} has {len(dims)} axes")
    return dims
