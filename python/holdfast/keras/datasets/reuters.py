"""`tf.keras.datasets.reuters`: news, and what they are about."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import fail
from .cached import Parts, cached
from .pickled import read_npz
from .words import as_rows, kept_words, shifted, short_ones, word_index

__all__ = ["get_label_names", "get_word_index", "load_data"]

_TOPICS = """
cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves ship
cotton carcass crude nat-gas cpi money-fx interest gnp meal-feed alum oilseed gold tin
strategic-metal livestock retail ipi iron-steel rubber heat jobs lei bop zinc orange pet-chem
dlr gas silver wpi hog lead
"""


def load_data(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int | None = 3,
    **kwargs: Any,
) -> Parts:
    """`(x_train, y_train), (x_test, y_test)`: texts as lists of numbers of words, and topics."""
    if kwargs:
        fail("E1104", f"`reuters.load_data` has no option `{next(iter(kwargs))}`")
    texts, labels = read_npz(cached(path, "reuters.npz"), "x", "y")
    order = np.arange(len(texts))
    np.random.RandomState(seed).shuffle(order)
    rows, labels = shifted(texts[order], start_char, index_from), labels[order]
    if maxlen:
        rows, labels = short_ones(maxlen, rows, labels)
        if not rows:
            fail("E1103", f"`maxlen` is {maxlen}, and no text is that short")
    rows = kept_words(rows, num_words, skip_top, oov_char)
    first = int(len(rows) * (1 - test_split))
    return (
        (as_rows(rows[:first]), np.array(labels[:first])),
        (as_rows(rows[first:]), np.array(labels[first:])),
    )


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """The number of each word, before `index_from` is added."""
    return word_index(path, "reuters_word_index.json")


def get_label_names() -> tuple[str, ...]:
    """What each topic is called."""
    return tuple(_TOPICS.split())
