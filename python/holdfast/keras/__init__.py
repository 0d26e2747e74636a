"""`tf.keras`: layers that are C++ classes, and can be subclassed here.

A part of Keras: `Layer`, `Dense`, `Sequential` and what configs need. Other names of Keras raise
E1105, as everywhere in the package.
"""

from __future__ import annotations

from .._names import namespace as _namespace
from . import layers, models, saving, utils
from .models import Sequential

__all__ = ["Sequential", "layers", "models", "saving", "utils"]

for _part in ("", ".layers", ".models", ".saving", ".utils"):
    _namespace.module("keras" + _part)
