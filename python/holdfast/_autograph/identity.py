"""A map by identity that keeps nothing alive: its entries go when their keys do.

Code objects compare by what they hold, whatever file they are from, so they can't be dict keys.
"""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

__all__ = ["ByIdentity"]

_V = TypeVar("_V")


class ByIdentity(Generic[_V]):
    """Values by the object they belong to."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], _V]] = {}

    def __setitem__(self, key: Any, value: _V) -> None:
        entries, number = self._entries, id(key)

        def forget(gone: weakref.ref[Any]) -> None:
            known = entries.get(number)
            if known is not None and known[0] is gone:
                del entries[number]

        entries[number] = (weakref.ref(key, forget), value)

    def get(self, key: Any) -> _V | None:
        """The value of `key`; None if it has none."""
        known = self._entries.get(id(key))
        return known[1] if known is not None and known[0]() is key else None

    def __contains__(self, key: object) -> bool:
        known = self._entries.get(id(key))
        return known is not None and known[0]() is key

    def __len__(self) -> int:
        return len(self._entries)
