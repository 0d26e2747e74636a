"""`tf.keras.initializers`: C++'s classes, by class and by name."""

from __future__ import annotations

from .by_name import fill

__all__ = fill(globals(), "initializers")  # noqa: PLE0605
