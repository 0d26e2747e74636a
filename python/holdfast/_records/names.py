"""The public names of this folder."""

from __future__ import annotations

from typing import Any

from . import example, parsing
from .writer import TFRecordOptions, TFRecordWriter

__all__ = ["NAMES"]

NAMES: dict[str, Any] = {
    "io.TFRecordOptions": TFRecordOptions,
    "io.TFRecordWriter": TFRecordWriter,
    **example.NAMES,
    **{f"io.{name}": getattr(parsing, name) for name in parsing.__all__},
}
