"""Reading a name that only one path through staged code sets."""

from __future__ import annotations

from typing import Any

from .._flow.checks import Assert
from . import messages
from .state import Maybe

__all__ = ["settled"]


def settled(maybe: Maybe) -> Any:
    """Its value, if the code that sets it ran; E0901 if it is one side of a branch that sets it."""
    if maybe.kind == "if":
        messages.refuse_unset(maybe)
    if maybe.kind == "first":
        messages.refuse_first(maybe)
    line = maybe.site.line
    missed = f"the loop in line {line} did not run to set it"
    if maybe.site.kind == "if":
        missed = f"the way taken in line {line} does not set it"
    Assert(maybe.ran, [f"`{maybe.name}` is read, but {missed}"])
    return maybe.value
