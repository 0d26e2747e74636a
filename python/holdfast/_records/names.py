"""The public names of this folder."""

from __future__ import annotations

from typing import Any

from .writer import TFRecordOptions, TFRecordWriter

__all__ = ["NAMES"]

NAMES: dict[str, Any] = {
    "io.TFRecordOptions": TFRecordOptions,
    "io.TFRecordWriter": TFRecordWriter,
}
