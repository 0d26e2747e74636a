"""`tf.keras.preprocessing.sequence`."""

from __future__ import annotations

from ..utils import pad_sequences

__all__ = ["pad_sequences"]
