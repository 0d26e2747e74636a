"""Reading a name that only one path through staged code sets."""

from __future__ import annotations

from typing import Any

from .._tensors import registry
from . import messages
from .state import Maybe

__all__ = ["settled"]


def settled(maybe: Maybe) -> Any:
    """Its value, if the code that sets it ran; E0901 if it is one side of a branch that sets it."""
    if maybe.kind == "if":
        messages.refuse_unset(maybe)
    if maybe.kind == "first":
        messages.refuse_first(maybe)
    name, line = maybe.name, maybe.site.line
    missed, before = f"the loop in line {line} did not run to set it", "loop"
    why = f"no iteration ran, and nothing before line {line} sets `{name}`"
    if maybe.site.kind == "if":
        missed, before = f"the way taken in line {line} does not set it", "`if`"
        why = f"the data took a way that does not set `{name}`"
    fix = f"set `{name}` before the {before} of line {line}"
    source = str(maybe.site.loc()["source"])
    said = {"name": name, "message": missed, "why": why, "fix": fix, "source": source, "line": line}
    registry.raw_op("NeedSet", set=maybe.ran, **said)
    return maybe.value
