"""`tf.keras.layers.Dense`: the C++ class."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .layer import Layer, checked_name, layer_dtype, refuse_options

__all__ = ["Dense"]


class Dense(_holdfast.DenseBase, Layer):
    """`activation(inputs @ kernel + bias)`, over the last axis."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        *,
        trainable: bool = True,
        dtype: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        refuse_options(
            type(self).__name__,
            kwargs
            | {
                "kernel_regularizer": kernel_regularizer,
                "bias_regularizer": bias_regularizer,
                "activity_regularizer": activity_regularizer,
            },
        )
        _holdfast.dense_options(
            self,
            units,
            activation,
            bool(use_bias),
            kernel_initializer,
            bias_initializer,
            kernel_constraint,
            bias_constraint,
            checked_name(name, type(self)),
            bool(trainable),
            layer_dtype(dtype),
        )

    @property
    def activation(self) -> Any:
        """The activation: a function, or the name of one; None if there is none."""
        return _holdfast.dense_activation(self)


_holdfast.set_class("Dense", Dense)
