"""What datasets of texts have in common: words as numbers, by how often they occur."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from ...errors import fail
from .cached import cached

__all__ = ["kept_words", "shifted", "short_ones", "word_index"]

Texts = list[list[int]]


def shifted(texts: Any, start_char: int | None, index_from: int | None) -> Texts:
    """Texts with a mark at their begin, and numbers that leave room for such marks."""
    start = [] if start_char is None else [start_char]
    by = index_from or 0
    return [start + [int(word) + by for word in text] for text in texts]


def short_ones(maxlen: int, texts: Texts, labels: Any) -> tuple[Texts, Any]:
    """Those that are shorter than `maxlen`."""
    kept = [i for i, text in enumerate(texts) if len(text) < maxlen]
    return [texts[i] for i in kept], [labels[i] for i in kept]


def kept_words(texts: Texts, num_words: int | None, skip_top: int, oov_char: int | None) -> Texts:
    """Words that are neither too rare nor too usual; `oov_char` stands for the others."""
    limit = num_words or max(max(text) for text in texts)
    if oov_char is None:
        return [[word for word in text if skip_top <= word < limit] for text in texts]
    return [[word if skip_top <= word < limit else oov_char for word in text] for text in texts]


def as_rows(texts: Texts) -> Any:
    """An array of lists, also where all have one length."""
    out = np.empty(len(texts), dtype=object)
    out[:] = texts
    return out


def word_index(path: str, file: str) -> dict[str, int]:
    """The number of each word."""
    where = cached(path, file)
    try:
        found = json.loads(pathlib.Path(where).read_text(encoding="utf-8"))
    except ValueError as error:
        fail("E1104", f"a list of words is no JSON: {error}", where)
    if not isinstance(found, dict):
        fail("E1104", f"a list of words holds a {type(found).__name__}", where)
    return found
