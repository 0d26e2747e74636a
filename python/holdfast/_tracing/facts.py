"""What a trace went by on objects of C++, such as options and weights of Keras' layers."""

from __future__ import annotations

import re
from typing import Any

from .locations import CellLocation, GlobalLocation

__all__ = ["ChangedFact", "changed_fact", "read_as"]

_PATH = re.compile(r"\w+(\.\w+)*")


class ChangedFact:
    """An option or a weight that is not as a trace found it; stands where a broken guard does."""

    def __init__(self, part: str, was: str, now: str) -> None:
        self.part, self.was, self.now = part, was, now


def changed_fact(facts: Any, guards: Any) -> ChangedFact | None:
    """The first thing that is not as it was, named as the program reads the object it is of."""
    change = facts.difference()
    if change is None:
        return None
    part = f"`{change.name}` of {change.of}"
    for guard in guards or ():
        if guard.how == "identity" and change.is_of(guard.was):
            path = read_as(guard)
            if isinstance(guard.location, (GlobalLocation, CellLocation)):
                path = guard.location.name
            if _PATH.fullmatch(path):
                part = f"{path}.{change.name}"
                break
    return ChangedFact(part, change.was, change.now)


def read_as(guard: Any) -> str:
    """What a guard watches: as the user's code reads it, `clock.tick`, else in words."""
    loc = {} if guard.at is None else guard.at.loc()
    line = str(loc.get("source", "")).encode()
    words = line[max(loc.get("col_begin", 0), 0) : max(loc.get("col_end", 0), 0)].decode()
    name = getattr(guard.location, "name", None)
    if isinstance(name, str) and _PATH.fullmatch(words) and words.split(".")[-1] == name:
        return words
    return str(guard.location.describe())
