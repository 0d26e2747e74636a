"""Values that are a tensor or None, as the run decides: `best = None`, and a loop that may set it.

Code gets a tensor, which stops the program where it is used and there is none. `best is None` asks
the graph. The table here tells such tensors from others: where staged code hands one on, the tensor
and whether it is there travel side by side, and a call that leaves one behind leaves a tensor or
None. A read makes the tensor anew: on the side of a branch where it is known to be there, it is
asked there only.
"""

from __future__ import annotations

import threading
from typing import Any

from .._tensors import registry
from .._tensors.symbols import is_symbol

__all__ = ["Perhaps", "PerhapsSlot", "begin", "end", "perhaps", "perhaps_of", "reread", "sides_of"]


class Perhaps:
    """What stands behind such a tensor. `value` is there where `ran` is true; else it is None."""

    __slots__ = ("_shown", "name", "ran", "value", "why")

    def __init__(self, shown: Any, value: Any, ran: Any, name: str, why: str) -> None:
        self._shown = shown  # kept, so that no other gets its id
        self.value, self.ran, self.name, self.why = value, ran, name, why


class _Traces(threading.local):
    def __init__(self) -> None:
        self.tables: list[dict[int, Perhaps]] = []


_traces = _Traces()


def begin() -> None:
    """A trace begins."""
    _traces.tables.append({})


def end() -> None:
    """The last one that began ends."""
    _traces.tables.pop()


def perhaps(value: Any, ran: Any, name: str, why: str) -> Any:
    """A tensor that is `value` where `ran` is true. `why` says how it comes to be None."""
    if ran is True:
        return value
    words = [name if "`" in name else f"`{name}`"]
    shown = registry.raw_op("EnsureSet", x=value, set=ran, words=words, message=why)
    _traces.tables[-1][id(shown)] = Perhaps(shown, value, ran, name, why)
    return shown


def perhaps_of(value: Any) -> Perhaps | None:
    """What stands behind a value that may be None; None for any other."""
    table = _traces.tables[-1] if _traces.tables else None
    return table.get(id(value)) if table else None


def reread(value: Any) -> Any:
    """A value as the code reads it that runs now."""
    known = perhaps_of(value)
    return value if known is None else perhaps(known.value, known.ran, known.name, known.why)


def sides_of(value: Any) -> tuple[Any, Any]:
    """The tensor, and whether it is there: a tensor, or a bool where that is certain."""
    known = perhaps_of(value)
    return (value, value is not None) if known is None else (known.value, known.ran)


class PerhapsSlot:
    """Where a tensor goes in a structure, or None: the numbers of it, and of what decides."""

    __slots__ = ("index", "name", "ran", "why")

    def __init__(self, index: int, known: Perhaps) -> None:
        self.index, self.ran = index, index + 1
        self.name, self.why = known.name, known.why

    def of(self, tensors: Any) -> Any:
        """What goes there, of the tensors of a run or of a call inside of another trace."""
        value, ran = tensors[self.index], tensors[self.ran]
        if is_symbol(ran):
            return perhaps(value, ran, self.name, self.why) if _traces.tables else value
        return value if bool(ran) else None

    def __repr__(self) -> str:
        return "a tensor or None"
