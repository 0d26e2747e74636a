"""The part of `tf.compat` that is simply right: text helpers and what TensorFlow 2 does anyway."""

from __future__ import annotations

import os
from typing import Any

from . import _eager
from ._shape import Dimension

__all__ = ["NAMES"]


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text as bytes."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Anything as text."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path object as text."""
    return as_str_any(path.__fspath__()) if isinstance(path, os.PathLike) else path


def _already() -> None:
    """What this switches on is always on."""


NAMES: dict[str, Any] = {
    "compat.as_bytes": as_bytes,
    "compat.as_text": as_text,
    "compat.as_str": as_text,
    "compat.as_str_any": as_str_any,
    "compat.path_to_str": path_to_str,
    "compat.v1.Dimension": Dimension,
    "compat.v1.enable_v2_tensorshape": _already,
    "compat.v1.enable_resource_variables": _already,
    "compat.v1.executing_eagerly": _eager.executing_eagerly,
}
