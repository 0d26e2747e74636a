"""What travels through a staged loop under one name or in one place."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NoReturn

from .._tensors.composite import after_iteration, each_time, facts_of
from .._tensors.dtypes import as_dtype
from .._tracing.journal import Journal, Set, note_joined
from .._tracing.locations import Location
from .._tracing.perhaps import perhaps, perhaps_of
from .._tracing.recorder import recording
from ..errors import DiagnosticError, fail
from . import messages
from .records import containers_beside, inside_records, note_one_of_several, records_in
from .sites import Site
from .state import (
    UNSET,
    Spec,
    as_tensor,
    is_number,
    is_tensorish,
    leaves_of,
    packed,
    spec_of,
    zeros,
)

__all__ = [
    "Entry",
    "dtypes_asked",
    "from_sample",
    "look_at_objects",
    "refuse_made_anew",
    "sample",
    "spec_of_either",
]


class Entry:
    """One name or place that travels through the loop."""

    def __init__(
        self, name: str, location: Location | None, was: Any, before: Any, start: Any
    ) -> None:
        self.name, self.location, self.before = name, location, before
        self.was = was  # what the place holds around the loop; `before` may stand for it
        self.start = start  # the value of the first iteration, nested, tensors and others
        self.after: Any = UNSET  # how the last iteration leaves it, for the structure
        self.slots: list[int | None] = []
        self._around: dict[int, Any] = {}
        self.known: list[Any] = []  # objects that the program knows by other names, too
        self.forgets = False  # whether iterations change what is known of its composites
        self.flag: int | None = None  # of a name that not each iteration sets: whether one has
        self.there: dict[int, int] = {}  # of leaves that may be None: what tells whether they are
        self.why = ""  # they are

    def look_at_left(self, written: Journal) -> None:
        """Finds what an iteration left of containers and objects from around the loop."""
        parts = [part for (part,) in containers_beside(self.after)]
        self._around = {id(part): part for part in parts if not written.made(part)}
        left = [] if self.after is self.start else records_in(self.after)
        self.known = [each for each in left if not written.made(each)]

    def note_one_of_several(self, value: Any, site: Site) -> None:
        """An object that travels is the one from before the loop, or that of an iteration."""
        if value is self.before or not (self.was_set or self.known):
            return
        before = records_in(self.before) if self.was_set else []
        note_one_of_several([*records_in(value), *self.known, *before], self.name, site)

    def join_left(self, value: Any, site: Site) -> None:
        """After the loop its containers may be those from before, or what an iteration left.

        One from outside of the trace that the loop replaced is let go: that it may be the one,
        where no iteration ran, would keep programs from changing the new one.
        """
        recorder, named = recording(), self.was_set and self.location is None
        start = self.start if self.was_set else self.after
        for one, first, left in containers_beside(value, start, self.after):
            outside = recorder is not None and recorder.home_of(first) is not None
            known = [first] if named and not outside else []
            known += [left] if id(left) in self._around else []
            if known and all(one is not each for each in known):
                note_joined([one, *known], self.name, site)

    @property
    def key(self) -> Any:
        return self.location.key if self.location is not None else self.name

    @property
    def was_set(self) -> bool:
        """Whether there was a value to begin with."""
        return self.before is self.start

    def filled(self, like: Any, variables: Any) -> Any:
        """A value nested as `like`, with variables where it holds tensors."""
        leaves = [
            leaf if slot is None else variables[slot]
            for leaf, slot in zip(leaves_of(like), self.slots, strict=True)
        ]
        for i, slot in self.there.items():
            leaves[i] = perhaps(leaves[i], variables[slot], self.name, self.why)
        known = each_time(like) if self.forgets else after_iteration(like, self.start, same=False)
        return packed(known, leaves)

    def loses_facts(self, value: Any) -> bool:
        """Whether less is known of the composites of `value` than of those it began with."""
        if self.forgets:
            return False
        return facts_of(after_iteration(self.start, value, same=True)) != facts_of(self.start)


def spec_of_either(old: Any, new: Any) -> Spec | None:
    """What a leaf is like that is None before or after an iteration, and else a tensor."""
    known = perhaps_of(old), perhaps_of(new)
    if not (any(known) or (old is None) != (new is None)):
        return None
    values = [each if one is None else one.value for each, one in zip((old, new), known)]
    there = [each for each in values if each is not None]
    if not there or not all(map(is_tensorish, there)):
        return None
    return spec_of(as_tensor(there[-1] if is_number(there[0]) else there[0]))


def dtypes_asked(
    error: DiagnosticError, entries: list[Entry], known: Container[Any], site: Site
) -> dict[tuple[Any, int], Any]:
    """Dtypes for numbers that clashed as tensors: as Python numbers they would have followed.

    `i = 0` before a loop that compares it with an int64 tensor is an int64 inside. The numbers of
    `known` have theirs.
    """
    if error.code != "E1101":
        return {}
    said = error.diagnostic
    operands = [info for info in (said.subject, *said.others) if info is not None]
    names = {info.py_name for info in operands}
    found: dict[tuple[Any, int], Any] = {}
    for entry in entries:
        for i, leaf in enumerate(leaves_of(entry.start)):
            if not is_number(leaf) or (entry.key, i) in known or entry.name not in names:
                continue
            others = [as_dtype(x.dtype) for x in operands if x.py_name != entry.name]
            for dtype in others:
                if messages.fits(leaf, dtype):
                    found[entry.key, i] = dtype
                elif dtype.is_floating and not isinstance(leaf, complex):
                    messages.refuse_iterations(site, entry.name, leaf, zeros(Spec(dtype, ())))
    return found


def look_at_objects(
    entries: list[Entry], read: Container[Any], written: Journal
) -> dict[Any, list[Any]]:
    """Finds objects that an iteration leaves in several places, which then get one each.

    It returns those from around the loop which it changes, where the next iteration reads them.
    """
    sets = {id(each.location.holder()) for each in written.changes if isinstance(each, Set)}
    changed = {
        entry.key: entry.known
        for entry in entries
        if entry.key in read and any(id(each) in sets for each in entry.known)
    }
    places: dict[int, list[Entry]] = {}
    for entry in entries:
        for record in records_in(entry.after):
            places.setdefault(id(record), []).append(entry)
    for entry in entries:
        shared = [each for each in records_in(entry.after) if len(places[id(each)]) > 1]
        entry.known = [*entry.known, *shared]
    return changed


def sample(value: Any) -> Any:
    """A value with specs in place of its tensors, which belong to an attempt."""
    leaves = [
        spec_of(as_tensor(leaf))
        if is_tensorish(leaf) and not (within and is_number(leaf))
        else leaf
        for leaf, within in zip(leaves_of(value), inside_records(value), strict=True)
    ]
    return packed(value, leaves)


def from_sample(sample: Any) -> Any:
    """The value to begin with: zeros that nobody reads."""
    leaves = [zeros(leaf) if isinstance(leaf, Spec) else leaf for leaf in leaves_of(sample)]
    return packed(sample, leaves)


def refuse_made_anew(site: Site, place: str) -> NoReturn:
    """Each attempt finds another object to carry: iterations make it, by code of their own."""
    fail(
        "E1105",
        f"the `{site.kind}` loop in line {site.line} sets {place} that an iteration makes",
        "code that is not converted made it, and the graph can't tell it from what was there "
        "before the loop.",
        fix="make it before the loop",
        labels=[{"role": "used", "loc": site.loc(), "text": "staged here", "primary": True}],
        op=site.kind,
    )
