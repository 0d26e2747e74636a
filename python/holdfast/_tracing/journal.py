"""What Python code changed while it was traced: kept in order, so that it can be taken back.

A staged `if` runs both of its sides, a loop's body may have to be traced again, a whole trace may
be dropped: each time, what was stored in objects and containers goes back to what it was. The
outermost journal of a trace becomes the list of stores that every call performs.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Container
from typing import Any, Self

from .. import _holdfast
from .._tensors.symbols import is_symbol
from .locations import ItemLocation, Location, Object, holds_symbol, leaves, raw_method

__all__ = [
    "Change",
    "Growth",
    "Journal",
    "Set",
    "changes_of",
    "chosen",
    "conditional",
    "conditional_at",
    "conditional_beside",
    "journal",
    "mutate",
    "note_assigned",
    "note_joined",
    "note_read",
    "note_set",
    "one_of_several",
    "open_journals",
    "own_value",
    "put",
    "raw_write",
    "refill",
    "stale",
    "uncertain",
    "was_stored",
    "without_symbols",
    "write",
]


class Set:
    """A value that was put into a place. `old` was there before."""

    __slots__ = ("both", "checked", "condition", "inside", "location", "old", "site", "value")

    def __init__(self, location: Location, old: Any, value: Any) -> None:
        self.location, self.old, self.value = location, old, value
        self.inside: Any = value  # what the place holds while tracing; `value` may come from it
        self.condition: Any = None  # a tensor: performed where it is true
        self.site: Any = None  # the statement that the condition comes from
        # What the sides of that give, if both set the place, to values that do not go together.
        self.both: Any = None
        self.checked = False  # whether `inside` itself asks for the condition when it is used

    def touches(self) -> tuple[Any, ...]:
        """What tells changes of the same thing apart from others."""
        return self.location.key


class Growth:
    """A method of a container that was called to change it, such as `append`."""

    __slots__ = (
        *("both", "condition", "container", "foreign", "inside", "keywords", "method", "site"),
        *("size", "value"),
    )

    def __init__(
        self,
        container: Object,
        method: str,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any] | None = None,
    ) -> None:
        self.container, self.method, self.keywords = container, method, keywords or {}
        self.value: Any = arguments
        self.inside: Any = arguments
        self.condition: Any = None
        self.site: Any = None
        self.both: Any = None  # what both sides of that do to the container, if both change it
        self.foreign = False  # whether code did it that needs a list of Python's own
        self.size = 0  # of a list, how many elements there were before

    def touches(self) -> tuple[Any, ...]:
        """What tells changes of the same thing apart from others."""
        return self.container.key

    @property
    def outlives(self) -> bool:
        """Whether the container outlives the trace: it was read from somewhere."""
        return self.container.within is not None


Change = Set | Growth


class Journal:
    """Changes in order, and how containers looked before the first of theirs."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.keys: set[tuple[Any, ...]] = set()  # of the places that were set
        # Places that hold a Python value which only one side of a staged branch put there.
        self.uncertain: dict[tuple[Any, ...], Set] = {}
        # Changes that only some path through staged code makes, by the id of what they change.
        self.conditional: dict[int, dict[tuple[Any, ...], Change]] = {}
        self._alive: list[Any] = []  # keys hold ids, which must not be given twice
        self._before: dict[int, tuple[Any, Any]] = {}
        self._made: dict[int, Any] = {}
        # Objects, by id, that stand for one of several: with the name and the statement of each.
        self.one_of_several: dict[int, tuple[Any, str, Any]] = {}
        # Containers, by id, that may be one by a staged choice, with its name and statement.
        self.joined: dict[int, list[tuple[list[Any], str, Any]]] = {}
        # Those that another of them may be, which was changed since.
        self.stale: dict[int, tuple[Any, str, Any]] = {}
        self.moved: list[tuple[list[Any], Any]] = []  # lists that loops grow, and marks
        self.reads: set[tuple[Any, ...]] = set()  # places that were read before they were set
        self.asked: set[int] = set()  # containers, by id, of which more than one item was asked for

    def add(self, change: Change) -> None:
        """Writes a change down."""
        self.changes.append(change)
        touched = change.touches()
        for each in _open.journals:
            for members, name, site in each.joined.get(touched[1], ()):
                others = [member for member in members if id(member) != touched[1]]
                self.stale |= {id(other): (other, name, site) for other in others}
        if change.condition is not None:
            key = touched if isinstance(change, Set) else (*touched, len(self.changes))
            self.conditional.setdefault(touched[1], {})[key] = change
        elif touched[1] in self.conditional:
            self.conditional[touched[1]].pop(touched, None)
        if isinstance(change, Set):
            key = change.location.key
            self.keys.add(key)
            self.uncertain.pop(key, None)
            certain = change.condition is None or change.checked or holds_symbol(change.inside)
            if not certain:
                self.uncertain[key] = change
            self._alive.append(change.location.holder())

    def last_set(self, key: tuple[Any, ...]) -> Set:
        """The last change of a place, which is one of `keys`."""
        sets = (each for each in reversed(self.changes) if isinstance(each, Set))
        return next(each for each in sets if each.location.key == key)

    def keep(self, container: Any) -> None:
        """Remembers a container as it is now, unless it was changed before."""
        if id(container) not in self._before:
            self._before[id(container)] = (container, container.copy())

    def changed(self, container: Any) -> bool:
        """Whether the container was changed."""
        return id(container) in self._before

    def before(self, container: Any) -> Any:
        """How a container looked, itself if it was not changed."""
        known = self._before.get(id(container))
        return container if known is None else known[1]

    def made(self, thing: Any) -> bool:
        """Whether an object was made while this was written."""
        return id(thing) in self._made

    def note_made(self, thing: Any) -> None:
        """Remembers that an object was made just now."""
        self._made[id(thing)] = thing

    def adopt(self, inner: Journal) -> None:
        """Takes over what was made while another journal was written inside this one."""
        self._made.update(inner._made)
        self.one_of_several.update(inner.one_of_several)
        for key, groups in inner.joined.items():
            self.joined.setdefault(key, []).extend(groups)
        self.reads |= inner.reads - self.keys
        self.asked |= inner.asked

    def take(self, inner: Journal) -> None:
        """Takes over all that was written in another journal inside this one."""
        for change in inner.changes:
            self.add(change)
        for key, copy in inner._before.items():
            self._before.setdefault(key, copy)

    def undo(self) -> None:
        """Takes everything back."""
        for change in reversed(self.changes):
            if isinstance(change, Set) and not isinstance(change.location, ItemLocation):
                change.location.restore(change.old)
        self.restore(self._before)

    def undo_outside(self) -> None:
        """Takes back what was changed in things that were there before; what was made stays."""
        for change in reversed(self.changes):
            if not isinstance(change, Set) or isinstance(change.location, ItemLocation):
                continue
            if not self.made(change.location.holder()):
                change.location.restore(change.old)
        self.restore(self._before.keys() - self._made.keys())

    def undo_symbols(self) -> None:
        """Takes back what holds tensors without a value; the rest stays, as in plain code."""
        # What a staged branch left holds on one side only, and nobody knows which one it is.
        unsure = {change.touches()[1] for change in self.changes if change.condition is not None}
        for change in reversed(self.changes):
            if not isinstance(change, Set) or isinstance(change.location, ItemLocation):
                continue
            if change.condition is not None or _is_of_trace(change.location.read()):
                change.location.restore(change.old)
        kept = self._before.items()
        self.restore({key for key, (each, _) in kept if key in unsure or _is_of_trace(each)})

    def drop_symbols(self) -> None:
        """Takes back what holds symbols, and forgets that it was there."""
        self.undo_symbols()
        self.changes = [
            each
            for each in self.changes
            if each.condition is None and not holds_symbol(each.inside)
        ]

    def copies(self, containers: Container[int]) -> list[tuple[Any, Any]]:
        """Containers, of those with these ids, and copies of what they were."""
        return [pair for key, pair in self._before.items() if key in containers]

    def restore(self, containers: Container[int]) -> None:
        """Makes containers, by their ids, what they were."""
        refill(self.copies(containers))

    def __enter__(self) -> Self:
        _open.journals.append(self)
        _written.add(self)
        _holdfast.note_journal(1)
        return self

    def __exit__(self, *_: object) -> None:
        _written.discard(self)
        _open.journals.remove(self)
        _holdfast.note_journal(-1)
        if _open.journals:
            _open.journals[-1].adopt(self)


def _is_of_trace(value: Any) -> bool:
    """Whether a nested value holds a symbol, or what stands for a container in a trace."""
    return any(is_symbol(x) or hasattr(type(x), "__leaves_trace__") for x in leaves(value))


def without_symbols(code: Callable[..., Any]) -> Callable[..., Any]:
    """Code that leaves no symbols behind where a trace would take them for its own."""
    around = journal()
    if around is None:
        return code

    def run(*args: Any, **kwargs: Any) -> Any:
        written = Journal()
        try:
            with written:
                return code(*args, **kwargs)
        finally:
            written.drop_symbols()
            around.take(written)

    return run


def refill(containers: list[tuple[Any, Any]]) -> None:
    """Makes each container like the copy beside it."""
    for container, before in containers:
        if isinstance(container, list):
            container[:] = before
        else:
            container.clear()
            (container.extend if isinstance(container, deque) else container.update)(before)


class _Open(threading.local):
    def __init__(self) -> None:
        self.journals: list[Journal] = []
        self.writing: tuple[Any, ...] | None = None  # the key of the place that `write` fills now


_open = _Open()
_written: set[Journal] = set()  # those that are being written, of all threads


def journal() -> Journal | None:
    """The journal of this thread that is being written, if any."""
    return _open.journals[-1] if _open.journals else None


def open_journals(outermost: Journal) -> list[Journal]:
    """The journals that are being written from `outermost` on."""
    journals = _open.journals
    return journals[journals.index(outermost) :] if outermost in journals else []


def was_stored(outermost: Journal, key: tuple[Any, ...]) -> bool:
    """Whether the place with this key got its value since `outermost` was opened."""
    return any(key in each.keys for each in open_journals(outermost))


def own_value(key: tuple[Any, ...], value: Any) -> Any:
    """What this thread's code put into a place that was found to hold `value`.

    Calls of traced functions in other threads store tensors too. In plain code such a race spoils
    one result; a trace that took the other thread's tensors for its own would keep them for good.
    """
    if not isinstance(value, (_holdfast.Tensor, tuple, list, dict)):
        return value
    for each in reversed(_open.journals):
        if key in each.keys:
            own = each.last_set(key).inside
            ours = own is value or not holds_symbol(own)
            return value if ours or not _is_of_another_thread(key, value) else own
    return value


def _is_of_another_thread(key: tuple[Any, ...], value: Any) -> bool:
    """Whether a call put this into a place, or a trace in another thread did."""
    if any(_holdfast.function_inside(leaf) for leaf in leaves(value)):
        return True  # a call: in this thread a trace is being made
    others = [each for each in _written.copy() if each not in _open.journals]
    return any(key in each.keys and each.last_set(key).inside is value for each in others)


def one_of_several(thing: Any) -> tuple[str, Any] | None:
    """The name and the statement of an object that stands for one of several; None for another."""
    for each in _open.journals:
        if id(thing) in each.one_of_several:
            return each.one_of_several[id(thing)][1:]
    return None


def note_joined(members: list[Any], name: str, site: Any, group: list[Any] | None = None) -> None:
    """Remembers containers that may be one and the same; `group` has those that more join."""
    now, group = journal(), members if group is None else group
    if now is not None and len(group) > 1:
        for each in members:
            now.joined.setdefault(id(each), []).append((group, name, site))


def chosen(one: Any, other: Any) -> tuple[str, Any] | None:
    """The name and the statement of a choice by which two things may be one; None if none is."""
    first, second = (
        [group for each in _open.journals for group in each.joined.get(id(thing), ())]
        for thing in (one, other)
    )
    others = {id(member) for members, _, _ in second for member in members}
    for members, name, site in first:
        if not others.isdisjoint(map(id, members)):
            return name, site
    return None


def stale(container: Any, closed: Journal | None = None) -> tuple[str, Any] | None:
    """The name and the statement of a choice by which a changed container may be this one.

    `closed` is a journal that is not being written any more.
    """
    for each in (*_open.journals, *([] if closed is None else [closed])):
        if id(container) in each.stale:
            return each.stale[id(container)][1:]
    return None


def uncertain(key: tuple[Any, ...]) -> Set | None:
    """The store that may or may not have put a Python value into a place."""
    for each in reversed(_open.journals):
        if key in each.uncertain:
            return each.uncertain[key]
        if key in each.keys:
            return None
    return None


def conditional(container: Any) -> list[Change]:
    """The changes of a container or an object that only some path through staged code makes.

    Who wants to know asks for the whole of it, which is written down.
    """
    now = journal()
    if now is not None:
        now.asked.add(id(container))
    return changes_of(container)


def changes_of(container: Any) -> list[Change]:
    """The same for who asks for a part of it."""
    return [
        change
        for each in _open.journals
        for change in each.conditional.get(id(container), {}).values()
    ]


def conditional_at(key: tuple[Any, ...]) -> Change | None:
    """The store into the place with this key that only some path through staged code makes."""
    for each in reversed(_open.journals):
        found = each.conditional.get(key[1], {}).get(key)
        if found is not None:
            return found
        if key in each.keys:
            return None
    return None


def conditional_beside(change: Change) -> list[Change]:
    """This and the other conditional changes of the same place, the oldest first."""
    touched = change.touches()
    return [
        each
        for journal in _open.journals
        for each in journal.changes
        if each.condition is not None and each.touches() == touched
    ]


def note_read(key: tuple[Any, ...]) -> None:
    """Writes down that a place is read."""
    now = journal()
    if now is not None and key not in now.keys:
        now.reads.add(key)


def write(location: Location, value: Any) -> None:
    """Puts a value into a place as an assignment would; the caller writes it down."""
    outer, _open.writing = _open.writing, location.key
    try:
        location.write(value)
    finally:
        _open.writing = outer


def note_assigned(location: Location, value: Any) -> None:
    """Writes down an assignment that an object of ours learns of, unless `write` makes it."""
    if location.key != _open.writing:
        note_set(location, value)


def raw_write(location: Location, value: Any) -> None:
    """Puts a value into a place behind everybody's back."""
    if isinstance(location, ItemLocation):
        write(location, value)
    else:
        location.restore(value)


def note_set(location: Location, value: Any) -> None:
    """Writes down that `value` is about to be put into a place."""
    now = journal()
    if now is not None:
        if isinstance(location, ItemLocation):
            now.keep(location.holder())
        now.add(Set(location, location.read(), value))


def put(location: Location, value: Any) -> None:
    """Puts a value into a place and writes it down."""
    now = journal()
    if now is None:
        write(location, value)
        return
    old = location.read()
    if isinstance(location, ItemLocation):
        now.keep(location.holder())
    write(location, value)
    now.add(Set(location, old, value))


def mutate(
    container: Any,
    within: Location | None,
    method: str,
    args: tuple[Any, ...],
    keywords: dict[str, Any] | None = None,
) -> Any:
    """Calls a method of Python's own that changes a container, and writes it down."""
    now, keywords = journal(), keywords or {}
    call = raw_method(container, method)
    if now is None:
        return call(*args, **keywords)
    now.keep(container)
    given = call(*args, **keywords)
    now.add(Growth(Object(container, within), method, args, keywords))
    return given
