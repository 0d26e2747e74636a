"""`tf.keras.config`: what holds for all layers that say nothing else."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._tensors.dtypes import as_dtype
from ..debugging import (
    disable_traceback_filtering,
    enable_traceback_filtering,
    is_traceback_filtering_enabled,
)
from ..errors import fail, unsupported
from .mixed_precision import dtype_policy, set_dtype_policy

__all__ = [
    "backend",
    "disable_interactive_logging",
    "disable_traceback_filtering",
    "dtype_policy",
    "enable_interactive_logging",
    "enable_traceback_filtering",
    "epsilon",
    "floatx",
    "image_data_format",
    "is_flash_attention_enabled",
    "is_interactive_logging_enabled",
    "is_nnx_enabled",
    "is_traceback_filtering_enabled",
    "set_backend",
    "set_dtype_policy",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
]


class _Said:
    """What the program said last."""

    interactive = True


def backend() -> str:
    """What Keras runs on: TensorFlow's programming model."""
    return "tensorflow"


def set_backend(backend: str) -> None:
    """There is one backend."""
    if backend != "tensorflow":
        unsupported(f'the backend "{backend}" is not supported', "Holdfast is the backend itself")


def epsilon() -> float:
    """The small number that keeps formulas finite."""
    return float(_holdfast.keras_epsilon())


def set_epsilon(value: float) -> None:
    """Sets the small number that keeps formulas finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        fail("E1104", f"`value` of `set_epsilon` is {value!r}, expected a number")
    _holdfast.set_keras_epsilon(float(value))


def floatx() -> str:
    """The name of the dtype of floats that say none."""
    return str(_holdfast.keras_floatx())


def set_floatx(value: Any) -> None:
    """Sets the dtype of floats that say none; a policy that was the same goes along."""
    before = floatx()
    _holdfast.set_keras_floatx(as_dtype(value))
    if dtype_policy().name == before:
        set_dtype_policy(floatx())


def image_data_format() -> str:
    """Where images have their channels: "channels_last"."""
    return "channels_last"


def set_image_data_format(data_format: str) -> None:
    """Images have their channels last; a layer may be told otherwise by its `data_format`."""
    if data_format not in {"channels_first", "channels_last"}:
        fail(
            "E1104",
            f'`data_format` is {data_format!r}, expected "channels_last" or "channels_first"',
        )
    if data_format != "channels_last":
        unsupported(
            'the data format "channels_first" is not supported for all layers at once',
            "layers that say nothing have their channels last",
            fix='say `data_format="channels_first"` where a layer is made',
        )


def enable_interactive_logging() -> None:
    """Progress goes to the standard output, which is so from the start."""
    _Said.interactive = True


def disable_interactive_logging() -> None:
    """Progress goes to the log."""
    _Said.interactive = False


def is_interactive_logging_enabled() -> bool:
    """Whether progress goes to the standard output."""
    return _Said.interactive


def is_flash_attention_enabled() -> None:
    """Not said: layers choose how attention is computed."""


def is_nnx_enabled() -> bool:
    """Whether layers are Flax's, which they are not."""
    return False
