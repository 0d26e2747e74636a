"""`tf.keras.KerasTensor`: what a symbol of a model is an instance of."""

from __future__ import annotations

from typing import Any

from .. import _holdfast, nest
from ..errors import unsupported
from .inputs import Input

__all__ = ["KerasTensor", "symbols_like"]


class _Symbols(type):
    """Symbols are tensors of ours: whether one is a model's is asked of the tensor itself."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _holdfast.Tensor) and bool(_holdfast.is_model_symbol(value))


class KerasTensor(metaclass=_Symbols):
    """A symbol for a value: what `Input` gives, and what layers and ops give for it."""

    def __new__(
        cls,
        shape: Any,
        dtype: Any = "float32",
        sparse: bool = False,
        ragged: bool = False,
        record_history: bool = True,
        name: str | None = None,
    ) -> Any:
        """A symbol whose `shape` is that of the whole batch."""
        if not record_history:
            unsupported(
                "`KerasTensor` with `record_history=False` is not supported",
                "a symbol always knows where it comes from",
            )
        name = name or _holdfast.unique_layer_name("keras_tensor")
        return Input(batch_shape=shape, dtype=dtype, sparse=sparse, ragged=ragged, name=name)


def symbols_like(values: Any) -> Any:
    """A symbol for each tensor of a structure, of its dtype and shape; all else as it is."""

    def like(value: Any) -> Any:
        if not isinstance(value, _holdfast.Tensor):
            return value
        shape = None if value.shape.rank is None else tuple(value.shape.as_list())
        made = _holdfast.keras_input(None, shape, None, value.dtype, "keras_tensor")
        mask = _holdfast.keras_mask(value)
        if mask is not None:
            made._keras_mask = symbols_like(mask)
        return made

    return nest.map_structure(like, values)
