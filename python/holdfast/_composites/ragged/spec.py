"""`tf.RaggedTensorSpec`: what is known of a ragged tensor."""

from __future__ import annotations

from typing import Any

from ... import _holdfast
from ..._tensors import registry
from ..._tensors.composite import CompositeSpec
from ..._tensors.dtypes import DType, as_dtype, float32, int32, int64
from ..._tensors.shape import TensorShape, TensorSpec, as_shape
from ...errors import fail

__all__ = ["RaggedTensorSpec"]


class RaggedTensorSpec(CompositeSpec):
    """What is known of a ragged tensor: shape, dtype, how many axes have splits, their dtype."""

    __slots__ = ("_dtype", "_ragged_rank", "_row_splits_dtype", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = int64,
        flat_values_spec: Any = None,
    ) -> None:
        if flat_values_spec is not None:
            fail("E1105", "`flat_values_spec` of a RaggedTensorSpec is not supported")
        self._shape: TensorShape = as_shape(shape)
        self._dtype: DType = as_dtype(dtype)
        self._row_splits_dtype: DType = as_dtype(row_splits_dtype)
        if self._row_splits_dtype not in (int32, int64):
            fail(
                "E1104",
                f"`row_splits_dtype` is {self._row_splits_dtype.name}, expected int32 or int64",
            )
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                fail("E1104", "a RaggedTensorSpec of an unknown rank needs `ragged_rank`")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            fail("E1104", f"`ragged_rank` is {ragged_rank!r}, expected an int")
        if rank is not None and not ragged_rank < max(rank, 1):
            fail(
                "E1103", f"`ragged_rank` is {ragged_rank}, and the shape {self._shape} has no room"
            )
        self._ragged_rank = ragged_rank

    @property
    def shape(self) -> TensorShape:
        """The shape, None for ragged axes."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        """How many axes have splits."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The dtype of the splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> None:
        """None: the innermost values are a tensor."""
        return None

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The specification that exactly fits a ragged tensor."""
        spec: RaggedTensorSpec = value._type_spec
        return spec

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    def _with_shape(self, shape: Any, added: int) -> Any:
        rank = self._ragged_rank + added
        if rank < 0:  # the rows of a tensor are tensors
            return TensorSpec(shape, self._dtype)
        return RaggedTensorSpec(shape, self._dtype, rank, self._row_splits_dtype)

    def _piece_specs(self) -> list[TensorSpec]:
        rank, shape = self._ragged_rank, self._shape
        inner = None if shape.rank is None else [None, *shape.as_list()[rank + 1 :]]
        lengths = [TensorSpec([None], self._row_splits_dtype)] * rank
        return [
            TensorSpec([1], self._row_splits_dtype),
            *lengths,
            TensorSpec(inner, self._dtype),
        ]

    def _pieces(self, value: Any, i: Any) -> list[Any]:
        cast, splits = registry.function("cast"), self._row_splits_dtype
        if self._ragged_rank == 0:  # a tensor
            flat = _holdfast.convert(value, self._dtype)
            count = registry.function("shape")(flat, out_type=splits)[:1]
            return [count, flat]
        if not isinstance(value, self.value_type) or value.ragged_rank != self._ragged_rank:
            fail("E1104", f"the function of `map_fn` gave {value!r}, expected {self!r}")
        lengths = [cast(each, splits) for each in value.nested_row_lengths()]
        count = registry.function("reshape")(cast(value.nrows(), splits), [1])
        return [count, *lengths, value.flat_values]

    def _from_pieces(self, pieces: list[Any], n: Any) -> Any:
        *lengths, flat = pieces
        return self.value_type.from_nested_row_lengths(flat, lengths, validate=False)

    def _facts(self) -> tuple[int | None, ...]:
        if self._shape.rank is None:
            return (None,) * self._ragged_rank
        return tuple(self._shape.as_list()[1 : self._ragged_rank + 1])

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rank = self._ragged_rank
        if self._shape.rank is None:
            flat = TensorShape(None)
            counts: list[int | None] = [None] * rank
        else:
            sizes = self._shape.as_list()
            flat = TensorShape([None, *sizes[rank + 1 :]]) if rank else self._shape
            counts, known = [], sizes[0] if sizes else None
            for size in sizes[1 : rank + 1]:
                counts.append(known)
                known = None if known is None or size is None else known * size
            if rank and known is not None:
                flat = TensorShape([known, *sizes[rank + 1 :]])
        splits = (None if n is None else n + 1 for n in counts)
        return (
            TensorSpec(flat, self._dtype),
            *(TensorSpec([n], self._row_splits_dtype) for n in splits),
        )
