"""Reading a name that only one path through staged code sets."""

from __future__ import annotations

from typing import Any

from .._flow.checks import Assert
from . import messages
from .state import Maybe

__all__ = ["settled"]


def settled(maybe: Maybe) -> Any:
    """Its value, if the loop that sets it ran; E0901 if it is one side of a branch that sets it."""
    if maybe.kind == "if":
        messages.refuse_unset(maybe)
    if maybe.kind == "first":
        messages.refuse_first(maybe)
    Assert(
        maybe.ran,
        [f"`{maybe.name}` is read, but the loop in line {maybe.site.line} did not run to set it"],
    )
    return maybe.value
