"""Frames as the program's own text has them, for converted code that asks for its caller.

A block of a staged statement runs as a function of its own, called by ours: a program that counts
frames, as `collections.namedtuple` does to find its module, would count those too.
"""

from __future__ import annotations

import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from .compiling import is_block

__all__ = ["BUILTINS", "own_names"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _frames() -> Iterator[types.FrameType]:
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE) and not is_block(code):
            yield frame
        frame = frame.f_back


def own_names() -> set[str]:
    """The names that the converted function that runs shares with its blocks, and nobody else."""
    names: set[str] = set()
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            names.update(code.co_cellvars)
            if not is_block(code):
                break
        frame = frame.f_back
    return names


def _getframe(depth: int = 0, /) -> types.FrameType:
    for i, frame in enumerate(_frames()):
        if i >= depth:
            return frame
    raise ValueError("call stack is not deep enough")


def _module_name(depth: int = 0) -> str | None:
    for i, frame in enumerate(_frames()):
        if i >= depth:
            found: str | None = frame.f_globals.get("__name__")
            return found
    return None


BUILTINS: dict[int, Callable[..., Any]] = {
    id(sys._getframe): _getframe,
    id(inspect.currentframe): _getframe,
}
if hasattr(sys, "_getframemodulename"):  # since Python 3.12
    BUILTINS[id(sys._getframemodulename)] = _module_name
