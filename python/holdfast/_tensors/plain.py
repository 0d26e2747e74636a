"""Plain values: those that code can only tell apart by what they say."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["is_nan", "is_plain", "same_value"]

_PLAIN = (int, float, complex, str, bytes, bool, type(None), type(...), range, np.generic)


def is_plain(value: Any) -> bool:
    """Whether a value is compared by what it says: numbers, strings, and tuples of them."""
    if isinstance(value, (tuple, frozenset)):
        return type(value) in (tuple, frozenset) and all(map(is_plain, value))
    return isinstance(value, _PLAIN)


def same_value(was: Any, now: Any) -> bool:
    """Whether two plain values are the same for code that reads them."""
    if type(was) is not type(now):
        return False
    if isinstance(was, tuple):
        return len(was) == len(now) and all(map(same_value, was, now))
    if isinstance(was, (float, complex)):  # zeros have a sign, and one NaN is like another
        return repr(was) == repr(now) or (is_nan(was) and is_nan(now))
    return bool(was == now or (is_nan(was) and is_nan(now)))


def is_nan(value: Any) -> bool:
    """Whether a plain value is no number; two of these are alike, and not equal."""
    return bool(value != value)  # noqa: PLR0124 (of all numbers only NaN differs from itself)
