"""`tf.keras.constraints`: C++'s classes, by class and by name."""

from __future__ import annotations

from .by_name import fill

__all__ = fill(globals(), "constraints")  # noqa: PLE0605
