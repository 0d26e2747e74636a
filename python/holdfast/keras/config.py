"""`tf.keras.config`: what holds for all layers that say nothing else."""

from __future__ import annotations

import warnings
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
    "disable_flash_attention",
    "disable_interactive_logging",
    "disable_traceback_filtering",
    "dtype_policy",
    "enable_flash_attention",
    "enable_interactive_logging",
    "enable_traceback_filtering",
    "epsilon",
    "floatx",
    "image_data_format",
    "is_flash_attention_enabled",
    "is_interactive_logging_enabled",
    "is_nnx_enabled",
    "is_traceback_filtering_enabled",
    "max_epochs",
    "max_steps_per_epoch",
    "set_backend",
    "set_dtype_policy",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_max_epochs",
    "set_max_steps_per_epoch",
]


class _Said:
    """What the program said last."""

    interactive = True
    max_epochs: int | None = None
    max_steps: int | None = None
    flash_attention: bool | None = None


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
    """Where images have their channels, for layers and ops that are told nothing else."""
    return str(_holdfast.image_data_format())


def set_image_data_format(data_format: str) -> None:
    """Sets where images have their channels; from the start that is "channels_last"."""
    if data_format not in {"channels_first", "channels_last"}:
        fail(
            "E1104",
            f'`data_format` is {data_format!r}, expected "channels_last" or "channels_first"',
        )
    _holdfast.set_image_data_format(data_format)


def enable_interactive_logging() -> None:
    """Progress goes to the standard output, which is so from the start."""
    _Said.interactive = True


def disable_interactive_logging() -> None:
    """Progress goes to the log."""
    _Said.interactive = False


def is_interactive_logging_enabled() -> bool:
    """Whether progress goes to the standard output."""
    return _Said.interactive


def enable_flash_attention() -> None:
    """Takes `disable_flash_attention` back: layers choose how attention is computed."""
    _Said.flash_attention = None


def disable_flash_attention() -> None:
    """Layers of attention that are told nothing else need not use the fused computation.

    It is one of the ways in which attention may be computed; the results are the same.
    """
    _Said.flash_attention = False


def is_flash_attention_enabled() -> bool | None:
    """What was said last; None: nothing, and layers choose how attention is computed."""
    return _Said.flash_attention


def is_nnx_enabled() -> bool:
    """Whether layers are Flax's, which they are not."""
    return False


def _limit(given: Any, argument: str) -> int | None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        fail("E1103", f"`{argument}` is {given!r}, expected None or a whole number of at least 1")
    return given


def max_epochs() -> int | None:
    """How many epochs `fit` makes at most; None: as many as it is told."""
    return _Said.max_epochs


def set_max_epochs(max_epochs: int | None) -> None:
    """Has `fit` make no more epochs than this, so that a program can be tried quickly."""
    _Said.max_epochs = _limit(max_epochs, "max_epochs")


def max_steps_per_epoch() -> int | None:
    """How many batches `fit`, `evaluate` and `predict` take at most; None: all."""
    return _Said.max_steps


def set_max_steps_per_epoch(max_steps_per_epoch: int | None) -> None:
    """Has `fit`, `evaluate` and `predict` take no more batches than this from their data."""
    _Said.max_steps = _limit(max_steps_per_epoch, "max_steps_per_epoch")


def limited(given: int | None, most: int | None, name: str) -> int | None:
    """What a program asked for, or the limit, of which it is told."""
    if most is None or (given is not None and given <= most):
        return given
    warnings.warn(f"Limiting {name} to {most}", stacklevel=3)
    return most
