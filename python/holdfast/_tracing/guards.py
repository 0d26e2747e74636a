"""What has to be as a trace found it, for the trace to serve another call."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _holdfast
from .._messages.diagnostics import Mark, mark
from .._tensors.plain import same_value
from .locations import MISSING, Location, Object, weak_getter
from .substituted_code import own_code

__all__ = ["BYTES", "AnyGuard", "Definitions", "Guard", "Guards", "Once", "aspect", "remembered"]

BYTES = (bytearray, array, memoryview)  # numbers that change in their place
_MOST_COMPARED = 1 << 20  # bytes of an array that a guard keeps and compares
_SAMPLED = 1 << 12  # elements that are compared of a larger one


class Guard:
    """A condition under which a trace may be used again: a place still holds what was read there.

    how: "identity" or "value"; of a container, "length", "keys", "type" (and length), "array" or
    "bytes"; of an object that never changes, "class"; of another one "own class", of a function
    "function", if they are still there; "same" where two places have to hold one tensor. `at` is
    where the user's code read it.
    """

    __slots__ = ("_was", "at", "how", "location")

    def __init__(self, location: Location, was: Any, how: str, at: Mark | None = None) -> None:
        self.location, self.how, self.at = location, how, at
        self._was = weak_getter(was) if how == "identity" else was

    @property
    def was(self) -> Any:
        """What the trace saw; MISSING if it is gone."""
        return self._was() if self.how == "identity" else self._was

    def now(self) -> Any:
        """What it would see now."""
        value = self.location.read()
        return value if self.how in ("identity", "value", "same") else aspect(self.how, value)

    def holds(self) -> bool:
        """Whether the trace would see the same."""
        value, how = self.location.read(), self.how
        if how == "identity":
            return value is self._was() and value is not MISSING
        if how == "value":
            return value is self._was or same_value(self._was, value)
        if how == "same":
            other = self._was.read()
            return isinstance(value, _holdfast.Tensor) and getattr(other, "_id", 0) == value._id
        if how == "array":
            return isinstance(value, np.ndarray) and _same_array(self._was, value)
        if how in ("own class", "function") and value is MISSING:
            return True  # nobody can ask what is gone
        if how == "function":
            return all(map(operator.is_, aspect(how, value), self._was))
        return bool(aspect(how, value) == self._was)

    def is_partial(self) -> bool:
        """Whether it may miss a change: an array that is too large to be compared as a whole."""
        return self.how == "array" and not self._was[1]

    def describe(self) -> str:
        """What is guarded, in words."""
        return self.location.describe()

    def __repr__(self) -> str:
        return f"<guard: {self.how} of {self.location.describe()}>"


def aspect(how: str, value: Any) -> Any:
    """What a guard compares of a container."""
    if value is MISSING:
        return MISSING
    if how == "length":
        return len(value) if hasattr(value, "__len__") else MISSING
    if how == "type":
        return (type(value), len(value)) if isinstance(value, tuple) else MISSING
    if how in ("class", "own class"):
        return type(value)
    if how == "function":
        return own_code(value), value.__defaults__, value.__kwdefaults__
    if how == "bytes":
        return (type(value), bytes(value)) if isinstance(value, BYTES) else MISSING
    if how == "keys":
        return list(value) if isinstance(value, (dict, set)) else MISSING
    return value


def remembered(values: Any) -> tuple[Any, bool, Any]:
    """The array itself, weakly, and a copy of all or some of its elements to compare it with."""
    whole = values.nbytes <= _MOST_COMPARED
    return weak_getter(values), whole, values.copy() if whole else _sample(values)


def _sample(values: Any) -> Any:
    if not values.flags.c_contiguous:
        return None
    return values.ravel()[:: max(values.size // _SAMPLED, 1)].copy()


def _same_array(was: Any, now: Any) -> bool:
    known, whole, copy = was
    if known() is not now:
        return False
    seen = now if whole else _sample(now)
    if copy is None or seen is None:
        return copy is seen
    alike = copy.dtype == seen.dtype and copy.shape == seen.shape
    return bool(alike and copy.tobytes() == seen.tobytes())


class Definitions:
    """What was looked for in a class and its bases: it has to be defined as it was.

    Python counts the versions of a class, so that a call need not look while the count stands.
    """

    how = "definitions"
    was: Any = None

    def __init__(self, kind: type[Any], at: Mark | None) -> None:
        self.location: Location = Object(kind)
        self.at = at
        self.all: list[Guard] = []

    def add(self, location: Location, defined: Any) -> None:
        """One more that was looked for; MISSING where there was none."""
        how = "value" if defined is MISSING else "identity"
        self.all.append(Guard(location, defined, how, mark()))

    def broken(self) -> Guard | None:
        """The first that is defined otherwise."""
        return next((guard for guard in self.all if not guard.holds()), None)

    def holds(self) -> bool:
        """Whether all are as they were."""
        return self.broken() is None


class Once:
    """Stands among the guards of a trace that leaves an object which only its code can make.

    Each call has to make its own, so the trace serves the first one alone.
    """

    how = "once"

    def __init__(self, thing: Any, place: str) -> None:
        self._place = place
        self.was: Any = f"a new {type(thing).__name__}"
        self.at: Mark | None = None

    @property
    def location(self) -> Any:
        """Where it is left, in words."""
        return self

    def holder(self) -> Any:
        """Nothing that could be gone."""
        return None

    def describe(self) -> str:
        """Where it is left."""
        return self._place

    def now(self) -> str:
        """What the next call makes."""
        return "another"

    def holds(self) -> bool:
        """No other call may use the trace."""
        return False

    def is_partial(self) -> bool:
        """It misses nothing."""
        return False


AnyGuard = Guard | Once | Definitions


class Guards:
    """All guards of a trace."""

    __slots__ = ("all",)

    def __init__(self, guards: list[AnyGuard]) -> None:
        self.all = guards

    def check(self) -> Guard | Once | None:
        """The first guard that does not hold."""
        for guard in self.all:
            if not guard.holds():
                return guard.broken() if isinstance(guard, Definitions) else guard
        return None

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[AnyGuard]:
        return iter(self.all)
