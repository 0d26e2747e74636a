"""`tf.keras.preprocessing`: older names of what `tf.keras.utils` has."""

from __future__ import annotations

from ..._names import boundary as _boundary
from ..._names import namespace as _namespace
from ..utils import (
    image_dataset_from_directory,
    text_dataset_from_directory,
    timeseries_dataset_from_array,
)
from . import image, sequence

__all__ = [
    "image",
    "image_dataset_from_directory",
    "sequence",
    "text_dataset_from_directory",
    "timeseries_dataset_from_array",
]

for _part in ("", ".image", ".sequence"):
    _namespace.module("keras.preprocessing" + _part)
_boundary.close("keras.preprocessing")
