"""Changes that a side of a staged branch made, made again around the branch."""

from __future__ import annotations

from typing import Any

from .._tracing.journal import Change, Growth, Set, mutate, put, write
from .._tracing.journal import journal as current_journal
from .._tracing.locations import ItemLocation, Object, raw_method
from .sites import Site

__all__ = ["redo", "redo_if", "refill"]


def refill(container: list[Any], new: list[Any]) -> None:
    """Makes a list hold what another holds, by changes that the trace sees."""
    old = container[:]
    for i, (each, before) in enumerate(zip(new, old, strict=False)):
        if each is not before:
            put(ItemLocation(container, i), each)
    for each in new[len(old) :]:
        mutate(container, None, "append", (each,))
    for _ in old[len(new) :]:
        mutate(container, None, "pop", ())


def redo(change: Change, value: Any) -> None:
    """Makes a change with another value."""
    if isinstance(change, Set):
        put(change.location, value)
        return
    container = change.container.read()
    mutate(container, change.container.within, change.method, value, change.keywords)


def redo_if(change: Change, value: Any, condition: Any, site: Site, both: Any) -> None:
    """The same for a change that happens only where `condition` holds, which `site` decides."""
    now = current_journal()
    if now is None:
        return
    # The symbol of the branch goes into its place: who reads it before the graph has run learns
    # which branch it belongs to.
    made: Change
    if isinstance(change, Set):
        made = Set(change.location, change.location.read(), value)
        if isinstance(change.location, ItemLocation):
            now.keep(change.location.holder())
        write(change.location, change.inside)
    else:
        container = change.container.read()
        now.keep(container)
        size = len(container)
        raw_method(container, change.method)(*change.inside, **change.keywords)
        made = Growth(
            Object(container, change.container.within), change.method, value, change.keywords
        )
        made.size, made.foreign = size, change.foreign
    made.inside, made.condition, made.site, made.both = change.inside, condition, site, both
    now.add(made)
