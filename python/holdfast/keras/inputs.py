"""`tf.keras.Input`: a value that a model is given."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._tensors.dtypes import as_dtype
from ..errors import fail, unsupported

__all__ = ["Input"]


def Input(
    shape: Any = None,
    batch_size: int | None = None,
    dtype: Any = None,
    sparse: bool | None = None,
    ragged: bool | None = None,
    batch_shape: Any = None,
    name: str | None = None,
    tensor: Any = None,
    optional: bool = False,
) -> Any:
    """A symbol for a value that a model is given; `shape` is that of one example.

    For one that is `optional`, calls may give None; the layers that take it get None then.
    """
    for option, value in (("sparse", sparse), ("ragged", ragged)):
        if value:
            unsupported(f"`Input` with `{option}` is not supported", "an Input is a dense tensor")
    if tensor is not None:
        if not _holdfast.is_model_symbol(tensor):
            fail(
                "E1104",
                "`tensor` of `Input` has a value, expected a symbol of a model",
                fix="leave it out, and call the model on the tensor",
            )
        return tensor
    if shape is None and batch_shape is None:
        fail("E1104", "`Input` needs `shape`", fix="give it: `tf.keras.Input(shape=(28, 28))`")
    if shape is not None and batch_shape is not None:
        fail("E1104", "`Input` takes `shape` or `batch_shape`, not both")
    if isinstance(shape, int):
        shape = (shape,)
    wanted = None if dtype is None else as_dtype(dtype)
    return _holdfast.keras_input(
        None if shape is None else tuple(shape),
        None if batch_shape is None else tuple(batch_shape),
        batch_size,
        wanted,
        name or "",
        bool(optional),
    )
