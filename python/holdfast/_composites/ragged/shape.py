"""`tf.experimental.DynamicRaggedShape`: the shape of a ragged tensor, rows and all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._tensors import registry
from ..._tensors.shape import TensorShape
from ..._tensors.tensor import get_static_value
from . import partition

__all__ = ["DynamicRaggedShape"]

_cast = registry.function("cast")


class DynamicRaggedShape:
    """The splits of the ragged axes, and the sizes of those inside."""

    __slots__ = ("_inner", "_splits", "_static")

    def __init__(self, splits: Sequence[Any], inner: Any, static: TensorShape) -> None:
        self._splits, self._inner, self._static = tuple(splits), inner, static

    @classmethod
    def of(cls, value: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of a ragged tensor."""
        kind = value.row_splits.dtype if dtype is None else dtype
        splits = [_cast(each, kind) for each in value.nested_row_splits]
        inner = registry.function("shape")(value.flat_values, kind)
        return cls(splits, inner, value.shape)

    @property
    def dtype(self) -> Any:
        """The dtype of its numbers."""
        return self._inner.dtype

    @property
    def rank(self) -> int | None:
        """How many axes there are."""
        return self._static.rank

    @property
    def num_row_partitions(self) -> int:
        """How many axes have splits."""
        return len(self._splits)

    @property
    def inner_shape(self) -> Any:
        """The shape of the innermost values."""
        return self._inner

    @property
    def static_lengths(self) -> list[Any]:
        """How long each axis is; a tuple of the lengths of a ragged one."""
        found: list[Any] = []
        for i, splits in enumerate(self._splits):
            if not i:
                rows = splits.shape.num_elements()
                found.append(None if rows is None else rows - 1)
            known = get_static_value(partition.lengths_of(splits))
            uniform = self._static[i + 1] if self._static.rank else None
            if uniform is not None:
                found.append(uniform)
            else:
                found.append(None if known is None else tuple(known.tolist()))
        inner = get_static_value(self._inner, partial=True)
        sizes = [] if inner is None else [None if n is None else int(n) for n in inner]
        return [*found, *sizes[1:]]

    def row_partitions(self) -> tuple[Any, ...]:
        """The splits of each ragged axis."""
        return self._splits

    def is_uniform(self, axis: int) -> bool:
        """Whether all rows of an axis are known to be as long."""
        return axis == 0 or axis > len(self._splits) or self._static[axis] is not None

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int) and index == 0:
            return partition.row_count(self._splits[0])
        if isinstance(index, int) and index > len(self._splits):
            return self._inner[index - len(self._splits)]
        raise ValueError(f"axis {index!r} of this shape is ragged: its rows differ in length")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DynamicRaggedShape):
            return NotImplemented
        return self.static_lengths == other.static_lengths

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lengths = ", ".join(map(str, self.static_lengths))
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={len(self._splits)}>"
