"""How ragged tensors print: as NumPy prints an array of arrays, with commas."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..._tensors import registry

__all__ = ["printed", "text_of"]


def text_of(values: Any) -> str:
    """An array, or one of arrays, as nested lists."""
    if not values.size:
        return str(values.tolist())
    return np.array2string(values, separator=", ", formatter={"all": _element})


def _element(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return text_of(value)
    return repr(value) if isinstance(value, (bytes, str)) else str(value)


def printed(flat: Any, splits: list[Any], summarize: int) -> str:
    """What `tf.print` shows: nested lists, of which each end is shown."""
    texts = _quoted(flat) if flat.dtype.name == "string" else _numbers(flat)
    rows: list[str] = [_listed(row, summarize) for row in texts]
    for each in reversed(splits):
        pairs = itertools.pairwise(each.numpy().tolist())
        rows = [_nested(rows[begin:end], summarize) for begin, end in pairs]
    return _nested(rows, summarize)


def _numbers(flat: Any) -> Any:
    texts = registry.function("strings.as_string")(flat).numpy()
    return np.array([text.decode() for text in texts.ravel()], object).reshape(texts.shape)


def _quoted(flat: Any) -> Any:
    def quoted(text: bytes) -> str:
        inside = text.decode("utf-8", "backslashreplace").replace("\\", "\\\\").replace("'", "\\'")
        return f"'{inside}'"

    texts = flat.numpy()
    return np.array([quoted(text) for text in texts.ravel()], object).reshape(texts.shape)


def _listed(part: Any, summarize: int) -> str:
    if not isinstance(part, np.ndarray):
        return str(part)
    return _nested([_listed(each, summarize) for each in part], summarize)


def _nested(texts: list[str], summarize: int) -> str:
    if 0 <= 2 * summarize < len(texts):
        texts = [*texts[:summarize], "...", *texts[len(texts) - summarize :]]
    return f"[{', '.join(texts)}]"
