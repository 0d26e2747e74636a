"""Why a function was traced again, and what to do about it."""

from __future__ import annotations

import re
import types
import weakref
from collections import deque
from typing import Any

from .. import _holdfast
from .._messages.diagnostics import Mark, mark, module_alias, warn
from .._messages.logger import get_logger
from .._messages.provenance import type_text
from ..errors import used_here
from .facts import ChangedFact, read_as
from .locations import MISSING
from .signature import Call, is_type

__all__ = ["History", "Miss"]

_IN_A_ROW = 3  # new traces at one call site before it is worth a warning
_PACKAGE = __file__.rpartition("_tracing")[0]
_WITHOUT_REST = 5  # calls, one after the other, of which each was traced: worth a line in the log
_MOST_LOGGED = 2  # such lines of one function


_COLUMNS = 100  # of a headline
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")
_LIST = re.compile(r"a list of \d+")

Miss = _holdfast.Retrace


def _entry_text(entry: Any) -> str:
    if is_type(entry):
        sizes = (
            "..." if entry[1] is None else ",".join("?" if n is None else str(n) for n in entry[1])
        )
        return f"{entry[0].name}[{sizes}]"
    if entry[0] in ("object", "variable"):
        found = entry[1].get()
        return "an object that is gone" if found is None else f"{type(found).__name__} object"
    if len(entry) > 1 and entry[0] in (float, complex):
        return str(entry[1])
    if entry[0] in (list, tuple) and len(entry) > 1 and isinstance(entry[1], int):
        return f"a {entry[0].__name__} of {entry[1]}"
    return repr(entry[1]) if len(entry) > 1 else str(entry[0])


def _guarded(how: str, value: Any) -> str:
    """What a guard saw, in words that are the same on every run."""
    if how == "once":
        return str(value)
    if how == "own class" and isinstance(value, type):
        return value.__name__
    if how == "function":
        if value is MISSING:
            return "gone"
        code, defaults, keywords = value
        given = f"{', '.join(map(repr, defaults or ()))}{keywords or ''}"
        return f"the code of line {code.co_firstlineno} with the defaults ({given})"
    if how == "length" and isinstance(value, int):
        return f"{value} long"
    if isinstance(value, _holdfast.Tensor):
        return type_text(value)
    if how == "bytes" and value is not MISSING:
        return f"{value[0].__name__} of {value[1][:20]!r}"
    return "not there" if value is MISSING else repr(value)


def _kind(was: Any, now: Any) -> str:
    if is_type(was) and is_type(now):
        return "shape" if was[0] == now[0] else "dtype"
    if isinstance(was[0], str) or isinstance(now[0], str):
        return "object"
    return (
        "value" if was[0] is now[0] and not issubclass(was[0], (list, tuple, dict)) else "structure"
    )


class History:
    """The traces of one function: the library's record of them, and what is said about it."""

    def __init__(self, name: str, eager_to_relax: bool) -> None:
        self._name = name
        self._record = _holdfast.TraceHistory(name, 1 if eager_to_relax else 2)
        self._site: Any = None
        self._in_a_row = 0
        self._runs: deque[int] = deque(maxlen=_WITHOUT_REST)  # calls before each of the last traces
        self._logged = 0
        self._read: Mark | None = None  # where the trace read what a guard found changed

    def relax(self, call: Call, before: list[Any]) -> tuple[str, ...]:
        """Counts dimensions that are not as they were; those that keep changing are let go."""
        alike = [key for key in before if _same_but_sizes(key, call.key)]
        if not alike:
            return ()
        tensors = [i for i, entry in enumerate(call.key) if is_type(entry)]
        types, opened = self._record.relax(
            [alike[0][i] for i in tensors], [call.key[i] for i in tensors]
        )
        key = list(call.key)
        for number, i in enumerate(tensors):
            key[i] = call.types[number] = types[number]
        call.key = tuple(key)
        return tuple(f"{call.path(tensors[number])} dimension {axis}" for number, axis in opened)

    def note(
        self,
        call: Call,
        key: Any,
        before: list[Any],
        guard: Any,
        seconds: float,
        relaxed: tuple[str, ...],
    ) -> None:
        """Records a trace for arguments with `key`; warns of a call site that keeps making them."""
        self._read = None
        miss = self._explain(call, key, before, guard, seconds, relaxed)
        self._record.note(miss)
        here = mark()
        site = None if here is None else (here.code, here.lasti)
        self._in_a_row = self._in_a_row + 1 if site == self._site else 1
        self._site = site
        if self._in_a_row >= _IN_A_ROW and miss.kind != "first":
            self._warn(miss, call)

    def note_runs(self, runs: int) -> None:
        """Tells the log of a function that each of the last calls traced anew.

        `runs` counts the calls before this one. Unlike the warning, which is about one call site
        and is shown once, this goes to whoever listens to `tf.get_logger()`.
        """
        self._runs.append(runs)
        often = len(self._runs) == _WITHOUT_REST and runs - self._runs[0] < _WITHOUT_REST
        if not often or self._logged == _MOST_LOGGED:
            return
        self._logged += 1
        last = self._record.last
        assert last is not None
        get_logger().warning(
            "each of the last %d calls of `%s` traced it: `%s` was %s, now %s. Tracing is "
            "expensive; `%s.trace_report()` tells what changed each time, and what it cost.",
            *(_WITHOUT_REST, self._name, last.part, last.was, last.now, self._name),
        )

    def _explain(
        self,
        call: Call,
        key: Any,
        before: list[Any],
        guard: Any,
        seconds: float,
        relaxed: tuple[str, ...],
    ) -> Miss:
        cost = seconds * 1e3
        if not before:
            return Miss("", "", "", "first", cost)
        if isinstance(guard, ChangedFact):
            return Miss(guard.part, guard.was, guard.now, "fact", cost, relaxed)
        if guard is not None and guard.is_partial():
            self._warn_partial(guard)
            return Miss(
                guard.location.describe(), "an array", "changed in place", "guard", cost, relaxed
            )
        if guard is not None:
            self._read = guard.at
            return Miss(
                read_as(guard),
                _guarded(guard.how, guard.was),
                _guarded(guard.how, guard.now()),
                "made" if guard.how == "once" else "guard",
                cost,
                relaxed,
            )
        was = before[0]
        for i, (a, b) in enumerate(zip(was, key, strict=False)):
            if a != b:
                return Miss(
                    call.path(i), _entry_text(a), _entry_text(b), _kind(a, b), cost, relaxed
                )
        return Miss(
            "arguments", f"{len(was)} parts", f"{len(key)} parts", "structure", cost, relaxed
        )

    def _warn(self, miss: Miss, call: Call) -> None:
        parts = miss.relaxed
        relaxed = (
            f"; {' and '.join(parts)} {'are' if len(parts) > 1 else 'is'} unknown from now on"
            if parts
            else ""
        )
        what = {
            "value": "a Python value is part of its trace",
            "shape": "each shape needs a trace",
        }.get(miss.kind, "each change needs a trace")
        part = _quoted(miss.part)
        head = f"`{self._name}` is traced again and again: {part}"
        whole = f"{head} was {miss.was}, now {miss.now}"
        complete = len("warning[W0601]: ") + len(whole) <= _COLUMNS
        change = "" if complete else f" ({miss.was}, now {miss.now})"
        head = whole if complete else f"{head} changes"
        why = f"{part} changes from call to call{change}, and {what}"
        if miss.kind == "made":
            head = f"`{self._name}` is traced again and again: each call makes {miss.was}"
            why = f"{miss.part} is {miss.was} in each call, and only the code itself can make it"
        warn(
            "W0601",
            head,
            labels=[*_read_label(self._read), *used_here("traced here, again")],
            why=f"{why}: {self._record.count} traces so far, which took "
            f"{_rounded(self._record.milliseconds)}{relaxed}",
            fixes=[
                self._as_tensor(miss, call)
                or {"title": self._cure(miss), "applicability": "manual", "edits": []}
            ],
        )

    def _warn_partial(self, guard: Any) -> None:
        name = guard.location.describe()
        warn(
            "W0602",
            f"{name} changed in place since `{self._name}` was traced; such changes may be missed",
            labels=[
                *_read_label(guard.at),
                *used_here("called here: a new trace, since the change was seen"),
            ],
            why=f"the numbers of {name} are part of the trace, and it is too large to be compared "
            "whole at each call: some of its elements are",
            fixes=[
                {
                    "title": f"pass it to `{self._name}` as an argument",
                    "applicability": "manual",
                    "edits": [],
                }
            ],
        )

    def _as_tensor(self, miss: Miss, call: Call) -> dict[str, Any] | None:
        """The edit that wraps a number in a tensor, where the call spells it out."""
        here = mark()
        if here is None or miss.kind != "value" or miss.part not in call.names:
            return None
        names, at = here.names(), call.names.index(miss.part)
        typed = names.keywords.get(miss.part) or (
            names.operands[at] if at < len(names.operands) else None
        )
        if (
            typed is None
            or names.kind != "call"
            or typed.line != typed.end_line
            or typed.text.startswith("*")
        ):
            return None
        new = f"{module_alias()}.constant({typed.text})"
        edit = {
            "file": here.loc()["file"],
            "line": typed.line,
            "col": typed.col,
            "old": typed.text,
            "new": new,
        }
        title = f"give `{miss.part}` as a tensor: one trace serves all its values"
        return {"title": title, "applicability": "maybe", "edits": [edit]}

    def _cure(self, miss: Miss) -> str:
        tf = module_alias()
        if miss.kind == "value":
            return f"give `{miss.part}` as a tensor: `{tf}.constant({miss.now})`"
        if miss.kind == "shape":
            return f"let the signature leave it open: `input_signature=[{_spec(miss, tf)}]`"
        if miss.kind == "object":
            return f"give the same object each time, or make `{miss.part}` outside the loop"
        if miss.kind == "made":
            thing = miss.was.removeprefix("a new ")
            return f"make the {thing} once, before the calls, or only where there is none yet"
        if miss.kind == "fact":
            return (
                f"set {_quoted(miss.part)} once, before the calls; a value that changes belongs "
                "into a Variable, which calls read anew: `weight.assign(...)`"
            )
        if miss.kind == "guard" and miss.now.endswith(" long"):
            part = _quoted(miss.part)
            return f"let {part} keep its length; what it would get, `{self._name}` can return"
        if miss.kind == "guard":
            tensor = f": `{tf}.constant({miss.now})`" if _NUMBER.fullmatch(miss.now) else ""
            part = _quoted(miss.part)
            return f"pass {part} to `{self._name}` as an argument, as a tensor{tensor}"
        if _LIST.fullmatch(miss.was) and _LIST.fullmatch(miss.now):
            one = f"`{tf}.stack({miss.part})`" if miss.part.isidentifier() else f"{tf}.stack"
            return f"give {one}, one tensor, whose length may change, in place of the list"
        return f"give `{miss.part}` the same dtype and structure each time"

    def report(self) -> str:
        """One line a trace."""
        return self._record.report()


def _quoted(part: str) -> str:
    return part if "`" in part else f"`{part}`"


def _read_label(read: Mark | None) -> list[dict[str, Any]]:
    if read is None:
        return []
    text = "read here, while tracing"
    return [{"role": "first_use", "loc": read.loc(), "text": text, "primary": False}]


def _spec(miss: Miss, tf: str) -> str:
    """A specification that both types of a leaf fit: `tf.TensorSpec([None, 3], tf.float32)`."""
    dtype = miss.was.partition("[")[0]
    sizes = [text.partition("[")[2].rstrip("]").split(",") for text in (miss.was, miss.now)]
    if len(sizes[0]) != len(sizes[1]):
        return f"{tf}.TensorSpec(None, {tf}.{dtype})"
    both = ["None" if a != b or a == "?" else a for a, b in zip(*sizes, strict=True)]
    return f"{tf}.TensorSpec([{', '.join(both)}], {tf}.{dtype})"


def _rounded(milliseconds: float) -> str:
    """A cost in words that are the same on every run of the same program."""
    for bound, text in (
        (1e3, "less than a second"),
        (1e4, "some seconds"),
        (6e4, "most of a minute"),
    ):
        if milliseconds < bound:
            return text
    return "more than a minute"


def _same_but_sizes(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return len(a) == len(b) and all(
        x == y or (is_type(x) and is_type(y) and x[0] == y[0]) for x, y in zip(a, b, strict=True)
    )


def _kept_as(made: Mark | None) -> str:
    """The name that a function is given where it is made: of a lambda, the only one it has."""
    names = made.names().assigned_names if made is not None else ()
    return names[0] if len(names) == 1 else ""


class RecreatedFunctions:
    """Functions made anew from the same code, each traced once and dropped."""

    def __init__(self) -> None:
        self._last: weakref.WeakKeyDictionary[types.CodeType, tuple[Any, int]] = (
            weakref.WeakKeyDictionary()
        )

    def note(self, function: Any, code: Any, made: Mark | None) -> None:
        """Called at the first trace of a function that was made at `made`."""
        if not isinstance(code, types.CodeType) or code.co_filename.startswith(_PACKAGE):
            return  # what the package makes for a program is no habit of the program's
        before, count = self._last.get(code, (None, 0))
        gone = before is not None and before() is None
        count = count + 1 if gone else 1
        self._last[code] = (weakref.ref(function), count)
        if count >= _IN_A_ROW:
            name = _kept_as(made) or function.name
            labels = used_here(f"a new `{name}` is traced here, again")
            if made is not None:
                text = f"`{name}` is made here, anew each time"
                maker = {"role": "placed", "loc": made.loc(), "text": text, "primary": False}
                labels.insert(0, maker)
            warn(
                "W0601",
                f"`{name}` is made and traced again and again",
                labels=labels,
                why=f"each function that `{module_alias()}.function` makes has traces of its own;"
                f" {count - 1} like this one were made, traced and dropped before",
                fixes=[
                    {
                        "title": f"make `{name}` once, outside the loop or function that "
                        "makes it now",
                        "applicability": "manual",
                        "edits": [],
                    }
                ],
            )


recreated_functions = RecreatedFunctions()
