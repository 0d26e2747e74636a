"""Values of traced functions, handed out: `tf.keep` and `peek`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Self

from .. import _holdfast
from .._tensors.symbols import is_symbol

__all__ = ["Kept", "keep", "keeping", "peek"]


class _Now(threading.local):
    def __init__(self) -> None:
        self.lists: list[list[Kept]] = []


_now = _Now()


class Kept:
    """A symbol that each call of its function gives a value, as a store does to a place."""

    condition: Any = None
    on_argument = False

    def __init__(self, symbol: Any) -> None:
        self._symbol = symbol
        self.value: Any = symbol

    def perform(self, value: Any) -> None:
        """The value of a call."""
        _holdfast.keep_value(self._symbol, value)

    settle = perform


class keeping:
    """While a function is traced: the symbols that are to be kept."""

    def __init__(self) -> None:
        self.kept: list[Kept] = []

    def __enter__(self) -> Self:
        _now.lists.append(self.kept)
        return self

    def __exit__(self, *_: object) -> None:
        _now.lists.pop()


def keep(tensor: Any) -> Any:
    """`tensor`, whose value stays readable: after each call of the function it is that call's.

    Stores in attributes, dicts, lists and globals need no `keep`: they are repeated by each call.
    """
    if is_symbol(tensor) and _now.lists:
        _now.lists[-1].append(Kept(tensor))
    return tensor


def peek(tensor: Any, feed: Mapping[Any, Any] | None = None) -> Any:
    """The value that a symbolic tensor has for given inputs of its graph.

    `feed` maps inputs, by name or as symbols, to values.
    """
    given = [
        (key if isinstance(key, str) else _holdfast.scope_of(key)["node"], _holdfast.convert(value))
        for key, value in (feed or {}).items()
    ]
    return _holdfast.peek(_holdfast.convert(tensor), given)
