"""How ragged tensors print: as NumPy prints an array of arrays, with commas."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["text_of"]


def text_of(values: Any) -> str:
    """An array, or one of arrays, as nested lists."""
    if not values.size:
        return str(values.tolist())
    return np.array2string(values, separator=", ", formatter={"all": _element})


def _element(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return text_of(value)
    return repr(value) if isinstance(value, (bytes, str)) else str(value)
