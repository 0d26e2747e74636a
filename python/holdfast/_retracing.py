"""Why a function was traced again, and what to do about it."""

from __future__ import annotations

import dataclasses
import types
import weakref
from collections import deque
from typing import Any

from ._diagnostics import mark, module_alias, warn
from ._shape import TensorShape
from ._signature import Call, is_type
from .errors import used_here

__all__ = ["History", "Miss"]

_IN_A_ROW = 3  # new traces at one call site before it is worth a warning
_MOST_SHOWN = 128  # traces that a report tells of, the last ones


@dataclasses.dataclass(frozen=True, slots=True)
class Miss:
    """One trace: which leaf of the arguments was not as before, and what tracing cost."""

    leaf: str
    was: str
    now: str
    kind: str  # "first", "value", "shape", "dtype", "structure", "object" or "guard"
    milliseconds: float
    relaxed: tuple[str, ...] = ()

    def __str__(self) -> str:
        cost = f"{self.milliseconds:.1f} ms"
        if self.kind == "first":
            return f"first call  ({cost})"
        relaxed = f"; relaxed {', '.join(self.relaxed)}" if self.relaxed else ""
        return f"{self.leaf}: was {self.was}, now {self.now}{relaxed}  ({cost})"


def _entry_text(entry: Any) -> str:
    if is_type(entry):
        return f"{entry[0].name}{TensorShape(entry[1])}"
    if entry[0] in ("object", "variable"):
        return f"{type(entry[1].get()).__name__} object"
    return repr(entry[1]) if len(entry) > 1 else str(entry[0])


def _kind(was: Any, now: Any) -> str:
    if is_type(was) and is_type(now):
        return "shape" if was[0] == now[0] else "dtype"
    if isinstance(was[0], str) or isinstance(now[0], str):
        return "object"
    return "value" if was[0] is now[0] and not issubclass(was[0], (list, tuple, dict)) else "structure"


class History:
    """The traces of one function, and the dimensions that keep changing."""

    def __init__(self, name: str, eager_to_relax: bool) -> None:
        self._name = name
        self._needed = 1 if eager_to_relax else 2  # misses on a dimension before it is relaxed
        self._dims: dict[tuple[int, int], int] = {}
        self.misses: deque[Miss] = deque(maxlen=_MOST_SHOWN)
        self.count = 0
        self._milliseconds = 0.0
        self._site: Any = None
        self._in_a_row = 0

    def relax(self, call: Call, before: list[Any]) -> tuple[str, ...]:
        """Counts the dimensions that are not as in an earlier trace; makes those unknown that keep changing."""
        alike = [key for key in before if _same_but_sizes(key, call.key)]
        if not alike:
            return ()
        tensors = [i for i, entry in enumerate(call.key) if is_type(entry)]
        relaxed = []
        key = list(call.key)
        for number, i in enumerate(tensors):
            dtype, dims = call.key[i]
            known = alike[0][i][1]
            if dims is None or known is None or len(dims) != len(known):
                continue
            open_dims = list(dims)
            for axis, (old, new) in enumerate(zip(known, dims, strict=True)):
                if old is not None and old != new:
                    self._dims[number, axis] = self._dims.get((number, axis), 0) + 1
                if old is None or self._dims.get((number, axis), 0) >= self._needed:
                    open_dims[axis] = None
                    if old is not None:
                        relaxed.append(f"{call.path(i)} dimension {axis}")
            key[i] = (dtype, tuple(open_dims))
            call.types[number] = key[i]
        call.key = tuple(key)
        return tuple(relaxed)

    def note(
        self, call: Call, key: Any, before: list[Any], guard: Any, seconds: float, relaxed: tuple[str, ...]
    ) -> None:
        """Records a trace for arguments with `key`; warns when one call site makes a new one again and again."""
        miss = self._explain(call, key, before, guard, seconds, relaxed)
        self.misses.append(miss)
        self.count += 1
        self._milliseconds += miss.milliseconds
        here = mark()
        site = None if here is None else (here.code, here.lasti)
        self._in_a_row = self._in_a_row + 1 if site == self._site else 1
        self._site = site
        if self._in_a_row >= _IN_A_ROW and miss.kind != "first":
            self._warn(miss)

    def _explain(
        self, call: Call, key: Any, before: list[Any], guard: Any, seconds: float, relaxed: tuple[str, ...]
    ) -> Miss:
        cost = seconds * 1e3
        if not before:
            return Miss("", "", "", "first", cost)
        if guard is not None:
            return Miss(guard.place.describe(), repr(guard.was), repr(guard.now()), "guard", cost, relaxed)
        was = before[0]
        for i, (a, b) in enumerate(zip(was, key, strict=False)):
            if a != b:
                return Miss(call.path(i), _entry_text(a), _entry_text(b), _kind(a, b), cost, relaxed)
        return Miss("arguments", f"{len(was)} parts", f"{len(key)} parts", "structure", cost, relaxed)

    def _warn(self, miss: Miss) -> None:
        relaxed = f"; {', '.join(miss.relaxed)} is unknown from now on" if miss.relaxed else ""
        warn(
            "W0601",
            f"`{self._name}` is traced again and again: `{miss.leaf}` was {miss.was}, now {miss.now}",
            labels=used_here("traced here, again"),
            why=f"`{miss.leaf}` is part of what a trace is for; {self.count} traces so far"
            f" took {_rounded(self._milliseconds)}{relaxed}",
            fixes=[{"title": self._cure(miss), "applicability": "manual", "edits": []}],
        )

    def _cure(self, miss: Miss) -> str:
        tf = module_alias()
        if miss.kind == "value":
            return f"give `{miss.leaf}` as a tensor: `{tf}.constant({miss.now})`"
        if miss.kind == "shape":
            return f"say that it varies: `input_signature=[{tf}.TensorSpec([None, ...])]`"
        if miss.kind == "object":
            return f"give the same object each time, or make `{miss.leaf}` outside the loop"
        if miss.kind == "guard":
            return f"pass {miss.leaf} as an argument, as a tensor"
        return f"give `{miss.leaf}` the same dtype and structure each time"

    def report(self) -> str:
        """One line a trace."""
        earlier = self.count - len(self.misses)
        lines = [f"{self._name}: {self.count} traces"]
        if earlier:
            lines.append(f"  ... {earlier} earlier ones")
        lines += [f"  {i}. {miss}" for i, miss in enumerate(self.misses, earlier + 1)]
        return "\n".join(lines)


def _rounded(milliseconds: float) -> str:
    """A cost in words that are the same on every run of the same program."""
    for bound, text in ((10, "a few milliseconds"), (100, "tens of milliseconds"), (1000, "a good part of a second")):
        if milliseconds < bound:
            return text
    return "more than a second"


def _same_but_sizes(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return len(a) == len(b) and all(
        x == y or (is_type(x) and is_type(y) and x[0] == y[0]) for x, y in zip(a, b, strict=True)
    )


class Remade:
    """Functions made anew from the same code, each traced once and dropped."""

    def __init__(self) -> None:
        self._last: weakref.WeakKeyDictionary[types.CodeType, tuple[Any, int]] = weakref.WeakKeyDictionary()

    def note(self, function: Any, code: Any) -> None:
        """Called at the first trace of a function."""
        if not isinstance(code, types.CodeType):
            return
        before, count = self._last.get(code, (None, 0))
        gone = before is not None and before() is None
        count = count + 1 if gone else 1
        self._last[code] = (weakref.ref(function), count)
        if count >= _IN_A_ROW:
            warn(
                "W0601",
                f"`{function.name}` is made and traced again and again",
                labels=used_here("a new function is traced here, again"),
                why=f"each `tf.function` has traces of its own, and the {count - 1} before this one are gone",
                fixes=[
                    {
                        "title": "make the traced function once, outside the loop",
                        "applicability": "manual",
                        "edits": [],
                    }
                ],
            )


remade = Remade()
