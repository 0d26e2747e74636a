"""The public names of this folder."""

from __future__ import annotations

from typing import Any

from . import example, gfile, parsing
from .csv import decode_csv
from .writer import TFRecordOptions, TFRecordWriter

__all__ = ["NAMES"]

NAMES: dict[str, Any] = {
    "io.TFRecordOptions": TFRecordOptions,
    "io.TFRecordWriter": TFRecordWriter,
    "io.decode_csv": decode_csv,
    **example.NAMES,
    **{f"io.gfile.{name}": getattr(gfile, name) for name in gfile.__all__},
    **{f"io.{name}": getattr(parsing, name) for name in parsing.__all__},
}
