"""`tf.keras.layers.InputLayer`: what a model begins with, among its layers."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from ..errors import fail
from . import declared
from .configs import made_by_python
from .inputs import Input
from .layer import Layer

__all__ = ["InputLayer"]


@made_by_python
class InputLayer(declared.base_type("layers.InputLayer"), Layer):  # type: ignore[misc]
    """An `Input` as a layer: `Model.layers` has one for each; a Sequential may begin with one."""

    def __init__(
        self,
        shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        sparse: bool | None = None,
        ragged: bool | None = None,
        batch_shape: Any = None,
        input_tensor: Any = None,
        optional: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if shape is None:
            shape = kwargs.pop("input_shape", None)
        if batch_shape is None:
            batch_shape = kwargs.pop("batch_input_shape", None)
        if kwargs:
            fail("E1104", f"`InputLayer` has no option `{next(iter(kwargs))}`")
        symbol = Input(
            shape, batch_size, dtype, sparse, ragged, batch_shape, name, input_tensor, optional
        )
        Layer.__init__(self, name=symbol.name.partition(":")[0], dtype=symbol.dtype.name)
        _holdfast.set_input_of_layer(self, symbol)

    @property
    def output(self) -> Any:
        """The symbol."""
        return _holdfast.input_of_layer(self)

    input = output

    @property
    def batch_shape(self) -> tuple[int | None, ...]:
        """The shape of the symbol, with the batch."""
        return tuple(self.output.shape.as_list())


declared.register({"path": "layers.InputLayer"}, InputLayer)
