"""`tf.keras.datasets.imdb`: reviews of films, and whether they are good."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import fail
from .cached import Parts, cached
from .pickled import read_npz
from .words import as_rows, kept_words, shifted, short_ones, word_index

__all__ = ["get_word_index", "load_data"]


def load_data(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int | None = 3,
    **kwargs: Any,
) -> Parts:
    """`(x_train, y_train), (x_test, y_test)`: texts as lists of numbers of words, and 0 or 1."""
    if kwargs:
        fail("E1104", f"`imdb.load_data` has no option `{next(iter(kwargs))}`")
    file = cached(path, "imdb.npz")
    x, y, x_test, y_test = read_npz(file, "x_train", "y_train", "x_test", "y_test")
    random = np.random.RandomState(seed)
    parts: list[tuple[Any, Any]] = []
    for texts, labels in ((x, y), (x_test, y_test)):
        order = np.arange(len(texts))
        random.shuffle(order)
        rows = shifted(texts[order], start_char, index_from)
        part = (rows, labels[order])
        parts.append(short_ones(maxlen, *part) if maxlen else part)
    if any(not texts for texts, _ in parts):
        fail("E1103", f"`maxlen` is {maxlen}, and no text is that short", fix="give a larger one")
    first = len(parts[0][0])
    texts = kept_words([*parts[0][0], *parts[1][0]], num_words, skip_top, oov_char)
    return (
        (as_rows(texts[:first]), np.array(parts[0][1])),
        (as_rows(texts[first:]), np.array(parts[1][1])),
    )


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """The number of each word, before `index_from` is added."""
    return word_index(path, "imdb_word_index.json")
