"""Converted code in the place of a function's own, for as long as a trace runs that needs it.

A library, `map` or `sorted` calls the user's functions as they are. Where one of them has to be
converted, it gets its converted code while the trace is made, and its own again when that ends,
however it ends. Threads that call it meanwhile get what they would have got: with values in place
of symbols, converted code does what the function's own does.
"""

from __future__ import annotations

import gc
import threading
import types
import weakref
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, Self

from .restart import Restart

__all__ = ["Known", "Substitutions", "is_running", "own_code", "substituted", "substitutions"]


class Known(NamedTuple):
    """A function that a trace needed with `new` in place of the code `old`, its own or a part."""

    function: weakref.ref[types.FunctionType]
    old: types.CodeType
    new: types.CodeType


class _Held:
    """A function that has other code now, and how many traces need that."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function, self.own = function, function.__code__
        self.now = self.own
        self.traces = 0


class _Now(threading.local):
    def __init__(self) -> None:
        self.stack: list[Substitutions] = []


_now = _Now()
_lock = threading.RLock()
_held: dict[int, _Held] = {}  # by the function's id, which is its own while it is held here


def substitutions() -> Substitutions | None:
    """Those of the trace that this thread is making, if any."""
    return _now.stack[-1] if _now.stack else None


def substituted() -> list[types.FunctionType]:
    """The functions that have other code now, for whatever trace."""
    with _lock:
        return [held.function for held in _held.values()]


def own_code(function: types.FunctionType) -> types.CodeType:
    """The code that the program gave a function."""
    with _lock:
        held = _held.get(id(function))
        return function.__code__ if held is None else held.own


def is_running(function: types.FunctionType, code: types.CodeType) -> bool:
    """Whether `code` is a function's own, or that of a function which it makes."""
    return _has_part(own_code(function), code)


def _has_part(code: types.CodeType, part: types.CodeType) -> bool:
    if code is part:
        return True
    return code.co_filename == part.co_filename and any(
        _has_part(inner, part) for inner in code.co_consts if isinstance(inner, types.CodeType)
    )


def _with_part(code: types.CodeType, old: types.CodeType, new: types.CodeType) -> types.CodeType:
    """`code` with `new` in place of `old`, which is all of it or the code of an inner function."""
    if code is old:
        return new
    if old.co_filename != code.co_filename:
        return code
    parts: list[Any] = [
        _with_part(part, old, new) if isinstance(part, types.CodeType) else part
        for part in code.co_consts
    ]
    if all(now is before for now, before in zip(parts, code.co_consts, strict=True)):
        return code
    return code.replace(co_consts=tuple(parts))


class Substitutions:
    """The functions that have converted code while one trace is made.

    `known`: what earlier traces of the same function needed. It is put in place from the start, and
    what this trace finds is added.
    """

    def __init__(self, known: list[Known]) -> None:
        self._known = known
        self._mine: list[_Held] = []
        self._tried: list[types.CodeType] = []
        self._left_later: list[tuple[types.FrameType, types.CodeType]] = []
        # Branches, by their places, after which lists are read that they let grow.
        self._lists: set[Hashable] = set()
        self._numbers: set[Hashable] = set()  # choices, by their places, that stay numbers
        self._met: set[type[Any]] = set()  # classes whose operators have converted code
        self.void = False  # whether the trace has to be made again, for such a list

    def __enter__(self) -> Self:
        _now.stack.append(self)
        self._known[:] = [each for each in self._known if each.function() is not None]
        for each in self._known:
            function = each.function()
            if function is not None:
                self._put(function, each.old, each.new)
        return self

    def __exit__(self, *_: object) -> None:
        _now.stack.remove(self)
        with _lock:
            for held in self._mine:
                held.traces -= 1
                if not held.traces:
                    del _held[id(held.function)]
                    if held.function.__code__ is held.now:  # else the program gave it another
                        held.function.__code__ = held.own
        self._mine.clear()
        self._left_later.clear()

    def try_once(self, code: types.CodeType) -> bool:
        """Whether this trace has not yet tried to convert `code`."""
        if any(tried is code for tried in self._tried):
            return False
        self._tried.append(code)
        return True

    def substitute(
        self, function: types.FunctionType, old: types.CodeType, new: types.CodeType
    ) -> None:
        """Lets `function`, or what it makes, run `new` in place of `old` until the trace ends."""
        if any(each.function() is function and each.old is old for each in self._known):
            return  # since an earlier trace
        self._put(function, old, new)
        self._known.append(Known(weakref.ref(function), old, new))

    def meets(self, kind: type[Any]) -> bool:
        """Whether this trace meets a class for the first time."""
        new = kind not in self._met
        self._met.add(kind)
        return new

    def _put(self, function: types.FunctionType, old: types.CodeType, new: types.CodeType) -> None:
        with _lock:
            held = _held.get(id(function)) or _Held(function)
            if not _has_part(held.own, old) or function.__code__ is not held.now:
                return  # the program gave it other code
            if not any(each is held for each in self._mine):
                held.traces += 1
                self._mine.append(held)
            _held[id(function)] = held
            held.now = function.__code__ = _with_part(held.now, old, new)

    def substitute_when_left(self, frame: types.FrameType, new: types.CodeType) -> None:
        """Does the same for the function that `frame` runs: a frame that was left tells which."""
        self._left_later.append((frame, new))

    def stages_lists(self, branch: Hashable) -> bool:
        """Whether lists that grow on one side of a branch are to be the graph's."""
        return branch in self._lists

    def stage_lists(self, branch: Hashable) -> None:
        """Raises Restart: lists that grow on one side of a branch are to be the graph's.

        Returns if they were to be so already, which did not help. Until somebody asks, they are
        Python's, of which code on that side may want more than a graph can do.
        """
        if branch not in self._lists:
            self._lists.add(branch)
            self.void = True
            raise Restart

    def keeps_numbers(self, choice: Hashable) -> bool:
        """Whether a number that the graph chooses takes the dtype of each tensor that it meets."""
        return choice in self._numbers

    def keep_numbers(self, choices: Iterable[Hashable]) -> None:
        """Raises Restart: numbers of these choices met a tensor of another dtype than theirs.

        Returns if that is so already, which did not help.
        """
        new = set(choices) - self._numbers
        if new:
            self._numbers |= new
            self.void = True
            raise Restart

    def begin_again(self) -> None:
        """The code of the void trace has been left: the next one finds converted code."""
        self.void = False
        left, self._left_later = self._left_later, []
        for frame, new in left:
            for function in gc.get_referents(frame):
                if isinstance(function, types.FunctionType) and is_running(function, frame.f_code):
                    self.substitute(function, frame.f_code, new)
