"""Names of TensorFlow's `Dataset` that are not there yet: they raise E1105."""

from __future__ import annotations

__all__ = ["METHODS"]

METHODS = frozenset(("ragged_batch", "sparse_batch"))
