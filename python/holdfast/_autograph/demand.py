"""Conversion on demand: for the user's code that was reached through code we do not convert.

A library, `map` or `sorted` may call a function of the user's that no converted code called. When
that function asks a symbol for its truth, it gets converted code, and the trace begins anew.

The function has that code while the trace runs, and its own again afterwards. One that its parent
makes anew on each call is converted inside the parent's code.
"""

from __future__ import annotations

import gc
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

from .._messages.user_code import is_user_code
from .._tracing.recorder import recording
from .._tracing.restart import Restart
from .._tracing.substituted_code import (
    Substitutions,
    is_running,
    own_code,
    substituted,
    substitutions,
)
from .compiling import is_converted
from .conversion import converted_form, is_plain

__all__ = ["on_demand"]

_COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
_LOOKED_AT = 20_000  # values, after which a search ends


def on_demand(frame: types.FrameType) -> None:
    """Converts the function that `frame` runs and raises Restart; returns if that can't help.

    It helps once: a converted function that still asks a symbol for a Python value can't be staged.
    """
    recorder, places = recording(), substitutions()
    if recorder is None or places is None:  # a graph by hand: nobody could trace again
        return
    if is_converted(frame.f_code) or not is_user_code(frame.f_code):
        return
    whole = _whole(frame)
    if not _convert(places, whole):
        return
    caller = whole.f_back
    while caller is not None and is_user_code(caller.f_code) and not is_converted(caller.f_code):
        # What staged code gives back, such as a list that grew in it, is for converted code.
        caller = _whole(caller)
        _convert(places, caller)
        caller = caller.f_back
    recorder.restart = True
    raise Restart


def _convert(places: Substitutions, frame: types.FrameType) -> bool:
    """Lets the function that `frame` runs have converted code; whether that may help."""
    code = frame.f_code
    if not places.try_once(code):
        return False
    form = converted_form(code, frame.f_globals)
    if form is None or form.code.co_freevars != code.co_freevars:
        return False
    return _replace(places, frame, form.code)


def _whole(frame: types.FrameType) -> types.FrameType:
    """The frame of the function that a frame belongs to: a comprehension is a part of one."""
    while frame.f_code.co_name in _COMPREHENSIONS and frame.f_back is not None:
        if not any(part is frame.f_code for part in frame.f_back.f_code.co_consts):
            break
        frame = frame.f_back
    return frame


def _replace(places: Substitutions, frame: types.FrameType, new: types.CodeType) -> bool:
    """Lets every function that runs the code of `frame` run `new`; whether that may help."""
    old = frame.f_code
    made = "<locals>" in old.co_qualname  # perhaps anew, so who makes it counts too
    objects = gc.get_objects() if made else gc.get_referrers(old)
    functions = [f for f in _functions(frame, objects) if is_running(f, old)]
    if any(is_plain(f) for f in functions if own_code(f) is old):
        return False
    for function in functions:
        places.substitute(function, old, new)
    if not functions:
        places.substitute_when_left(frame, new)
    return True


def _functions(frame: types.FrameType, found: list[Any]) -> Iterator[types.FunctionType]:
    """The functions among `found`; where a program froze its objects, those in reach too.

    The collector shows no object that `gc.freeze` set aside.
    """
    seen: set[int] = set()
    found = [*found, *substituted()]
    if gc.get_freeze_count():
        found += _within_reach(frame)
    for each in found:
        if isinstance(each, types.FunctionType) and id(each) not in seen:
            seen.add(id(each))
            yield each


def _within_reach(frame: types.FrameType | None) -> Iterator[Any]:
    """What the program's names lead to, the nearest first."""
    waiting: deque[Any] = deque()
    spaces: set[int] = set()
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            if id(space) not in spaces and is_user_code(frame.f_code):
                spaces.add(id(space))
                waiting.extend(list(space.values()))
        frame = frame.f_back
    seen: set[int] = set()
    while waiting and len(seen) < _LOOKED_AT:
        thing = waiting.popleft()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        yield thing
        if not isinstance(thing, types.ModuleType):
            # A function leads to its closure, a class to its methods, a container to its parts.
            waiting.extend(part for part in gc.get_referents(thing) if not _is_space(part))


def _is_space(part: Any) -> bool:
    """Whether it is a module's names, in which everything is."""
    return type(part) is dict and "__builtins__" in part
