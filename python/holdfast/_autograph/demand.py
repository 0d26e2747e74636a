"""Conversion on demand: for the user's code that was reached through code we do not convert.

A library, `map` or `sorted` may call a function of the user's that no converted code called. When
that function asks a symbol for its truth, it gets converted code, and the trace begins anew.

The function keeps that code: whoever calls it next, in whatever way, reaches it. In eager code it
does what it did before. A function that its parent makes anew on each call is converted inside the
parent's code.
"""

from __future__ import annotations

import gc
import types
from typing import Any

from .._messages.user_code import is_user_code
from .._tracing import recorder as _places
from .._tracing.restart import Restart
from .compiling import is_converted
from .conversion import converted_form, is_plain
from .identity import ByIdentity

__all__ = ["on_demand"]

_INNER = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"}

_tried: ByIdentity[bool] = ByIdentity()


def on_demand(frame: types.FrameType) -> None:
    """Converts the function that `frame` runs and raises Restart; returns if that can't help.

    It helps once: a converted function that still asks a symbol for a Python value can't be staged.
    """
    recorder = _places.recording()
    if recorder is None:  # a graph by hand: nobody could trace again
        return
    if is_converted(frame.f_code) or not is_user_code(frame.f_code):
        return
    code = _whole(frame)
    if code in _tried:
        return
    _tried[code] = True
    form = converted_form(code, frame.f_globals)
    if form is None or form.code.co_freevars != code.co_freevars:
        return
    if not _replace(code, form.code):
        return
    recorder.restart = True
    raise Restart


def _whole(frame: types.FrameType) -> types.CodeType:
    """The code of the function that a frame belongs to: a comprehension is a part of one."""
    code, outer = frame.f_code, frame.f_back
    while code.co_name in _INNER - {"<lambda>"} and outer is not None:
        if not any(part is code for part in outer.f_code.co_consts):
            break
        code, outer = outer.f_code, outer.f_back
    return code


def _replace(old: types.CodeType, new: types.CodeType) -> bool:
    """Gives every function that runs `old` the code `new`; whether there was any."""
    functions = [f for f in gc.get_referrers(old) if isinstance(f, types.FunctionType)]
    functions = [f for f in functions if f.__code__ is old]
    if any(map(is_plain, functions)):
        return False
    for function in functions:
        function.__code__ = new
    found = bool(functions)
    if "<locals>" in old.co_qualname:
        for function in gc.get_objects():
            if isinstance(function, types.FunctionType):
                code = _with_part(function.__code__, old, new)
                if code is not function.__code__:
                    function.__code__ = code
                    found = True
    return found


def _with_part(code: types.CodeType, old: types.CodeType, new: types.CodeType) -> types.CodeType:
    """`code` with `new` in place of the inner function `old`; itself if it has no such part."""
    if old.co_filename != code.co_filename:
        return code
    parts: list[Any] = []
    changed = False
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            inner = new if part is old else _with_part(part, old, new)
            changed = changed or inner is not part
            part = inner
        parts.append(part)
    return code.replace(co_consts=tuple(parts)) if changed else code
