"""Two sides of a staged branch become one: what names and places hold afterwards.

Both sides run, each in its own scope, with its own journal and from the same state. Then each thing
that either of them changed is paired: a tensor of one side with a tensor of the other, or with the
value that was there before. A place where nothing was before gets a store under a condition, and a
name that one side leaves unset is remembered as such until somebody reads it.

The first side gives its outputs before the second has run: all its tensors, and numbers as tensors.
Where the second side shows that others are needed, both run again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._flow import control
from .._tensors import registry
from .._tensors.composite import either
from .._tracing.journal import (
    Change,
    Growth,
    Journal,
    Set,
    changes_of,
    note_joined,
)
from .._tracing.locations import MISSING, Location
from .._tracing.moved import move_perhaps
from .._tracing.perhaps import perhaps_of, sides_of
from .._tracing.recorder import recording
from ..errors import fail
from . import messages
from .carried import innermost
from .chosen_objects import are_outside, choice_of, note_numbers, number_of, places_of
from .growing import Lists
from .jumps import VALUE
from .one_of import OneOf
from .outcome import Key, Outcome, is_unset, runs
from .outputs import ABSENT, Filler, Made, OneOfOutput, Output, PerhapsOutput, filled
from .records import (
    containers,
    containers_beside,
    is_record,
    note_one_of_several,
    records_in,
    snapshot,
)
from .redoing import redo, redo_if, refill
from .replaced import added
from .sites import Site
from .state import (
    Again,
    Cells,
    Maybe,
    Spec,
    as_tensor,
    is_number,
    is_tensor,
    is_tensorish,
    leaves_of,
    same_object,
    same_structure,
    spec_of,
    zeros,
)

__all__ = ["merge"]

_ADDS = frozenset({"append", "extend"})
_ATTEMPTS = 8


def merge(
    predicate: Any,
    first: Callable[[], Outcome],
    second: Callable[[], Outcome],
    site: Site,
    cells: Cells,
) -> dict[str, Any]:
    """Runs both sides under `predicate`; the values of the names afterwards.

    Changes of places are performed, so that the journal around sees them.
    """
    journals: dict[int, Journal] = {}

    def side(number: int, run: Callable[[], Outcome]) -> Outcome:
        outcome = run()
        journals[number] = outcome.journal
        return outcome

    pairing = _Pairing(predicate, lambda: side(0, first), lambda: side(1, second), site, cells)
    try:
        outputs = pairing.staged()
        note_numbers(pairing.numbers, outputs)
        for perform in pairing.changes:
            perform(outputs)
        names = {name: made(outputs) for name, made in pairing.names.items()}
        for each in journals.values():
            move_perhaps(each)
        return names
    finally:
        journals.clear()
        vars(pairing).clear()  # it holds functions that hold it, and all of them hold symbols


class _Pairing:
    """Runs both sides and pairs their outputs. What it prepares is made from the joined ones."""

    def __init__(
        self,
        predicate: Any,
        first: Callable[[], Outcome],
        second: Callable[[], Outcome],
        site: Site,
        cells: Cells,
    ) -> None:
        self.predicate, self.sides, self.site = predicate, (first, second), site
        self.lists = Lists(cells, site)
        self.dtypes: dict[tuple[Key, int], Any] = {}  # of numbers of the first side
        self.fillers: list[Filler] = []
        self.whole: dict[int, Any] = {}  # lists, by id, that sides change each in its own order
        self.joined: dict[tuple[int, int], Made] = {}  # what becomes of two objects
        self.places: dict[int, set[tuple[int, int]]] = {}  # the pairs that an object is in, by id
        self.names: dict[str, Made] = {}
        self.changes: list[Callable[[list[Any]], None]] = []

    def staged(self) -> list[Any]:
        """The joined outputs."""
        line = self.site.line
        names = self.site.sides or (f"if in line {line}", f"else of line {line}")
        # Each attempt finds out something about a name, or about lists, however many there are.
        attempts = _ATTEMPTS + 4 * len(self.site.modified)
        while attempts:
            attempts -= 1
            try:
                with self.lists:
                    return control.stage_cond(self.predicate, self.first, self.second, names)
            except Again as again:
                if again.found.get("loop") is self.lists:
                    attempts += self.lists.stage(again.found["lists"])
                elif again.dtypes or again.fillers is not None or "whole" in again.found:
                    self.whole |= again.found.get("whole", {})
                    self.dtypes |= again.dtypes
                    self.fillers = again.fillers if again.fillers is not None else self.fillers
                else:
                    raise  # for a loop around
        fail("E1599", f"the sides of the branch in line {line} never settle")

    def first(self) -> list[Any]:
        """The first side's outputs."""
        self.a = self.sides[0]()
        self.at: dict[tuple[Key, int], int] = {}
        out: list[Any] = []
        for key, value in self.a.entries(self.whole):
            for i, leaf in enumerate(leaves_of(value)):
                known = perhaps_of(leaf)
                if known is not None:
                    self.at[key, i], self.at[("there", *key), i] = len(out), len(out) + 1
                    out += [known.value, known.ran]
                elif type(leaf) is OneOf:
                    self.at[key, i] = len(out)
                    out.append(leaf.hf_which)
                elif is_tensorish(leaf):
                    self.at[key, i] = len(out)
                    out.append(as_tensor(leaf, self.dtypes.get((key, i))))
        self.specs = [spec_of(tensor) for tensor in out]
        return out + [filler.tensor() for filler in self.fillers]

    def second(self) -> list[Any]:
        """The second side's outputs, in the order of the first's."""
        self.b = self.sides[1]()
        if not (self.a.raised or self.b.raised):
            self.lists.look(self.a.journal, self.b.journal)
        self.right: dict[int, Any] = {}
        self.needed: list[tuple[Filler, Any]] = []
        self.joined, self.places = {}, {}
        self.numbers: dict[int, Any] = {}  # outputs that are numbers, and the places of choices
        self.names = {name: self.name(name) for name in self.a.names}
        keys = dict.fromkeys((*self.a.changes, *self.b.changes))
        self.look_at_orders()
        lists = {number: self.whole_list(each) for number, each in self.whole.items()}
        found = [self.change(key) for key in keys if lists.get(key[1]) is None]
        self.changes = [*found, *(each for each in lists.values() if each is not None)]
        fillers = [filler for filler, _ in self.needed]
        if [each.spec for each in fillers] != [each.spec for each in self.fillers]:
            raise Again(fillers=fillers)
        out = [
            self.right[i] if i in self.right else zeros(spec) for i, spec in enumerate(self.specs)
        ]
        return out + [tensor for _, tensor in self.needed]

    # Leaves.

    def extra(self, tensor: Any, filler: Filler) -> Output:
        """An output that the first side fills."""
        self.needed.append((filler, tensor))
        return Output(len(self.specs) + len(self.needed) - 1)

    def pair(self, label: str, at: tuple[Key, int] | None, x: Any, y: Any, strict: bool) -> Any:
        """One leaf of both sides: an output, a value that they share, or ABSENT.

        `at` tells where the first side put `x` out; None if `x` is from before the branch.
        """
        if same_object(x, y):
            return x
        if x is None or y is None or perhaps_of(x) or perhaps_of(y):
            either_way = self.or_none(label, at, x, y, strict)
            if either_way is not None:
                return either_way
        if not (is_tensorish(x) and is_tensorish(y)):
            chosen = choice_of(self, label, at, x, y) if strict else ABSENT
            if strict and chosen is ABSENT:
                messages.refuse_objects(self.site, label, x, y)
            return chosen
        if strict and (chosen := number_of(self, label, at, x, y)) is not None:
            return chosen
        kind = next((each.dtype for each in (x, y) if is_tensor(each)), None)
        numbers = [each for each in (x, y) if is_number(each)]
        together = (
            all(messages.fits(each, kind) for each in numbers)
            if kind is not None
            else type(x) is type(y)
        )
        if not together or (not numbers and x.dtype != y.dtype):
            if strict:
                loop = innermost()
                site = loop.site if loop is not None and label in loop.site.carried else None
                messages.refuse_dtypes(self.site, label, x, y, site)
            return ABSENT
        right = as_tensor(y, kind)
        if at is None:
            return self.extra(right, Filler(Spec(right.dtype, spec_of(right).shape), x))
        where = self.at[at]
        if strict and numbers:
            self.numbers[where] = places_of((self.site.key, at), x, y)
        if self.specs[where].dtype != right.dtype:
            raise Again(dtypes={at: right.dtype})
        self.right[where] = right
        return Output(where)

    def or_none(self, label: str, at: tuple[Key, int] | None, x: Any, y: Any, strict: bool) -> Any:
        """A leaf that a side gives as None, or perhaps; None if a side gives what is no tensor."""
        (mine, first), (other, second) = sides_of(x), sides_of(y)
        # A number that a side stores is stored as such by each call that takes this side.
        fits = is_tensorish if strict else is_tensor
        if not all(each is None or fits(each) for each in (mine, other)):
            return None
        value: Any
        if other is None:
            value = as_tensor(mine) if at is None else Output(self.at[at])
        elif mine is None:
            tensor = as_tensor(other)
            value = self.extra(tensor, Filler(spec_of(tensor)))
        else:
            value = self.pair(label, at, mine, other, strict)
        if value is ABSENT:
            return ABSENT
        flag = None if at is None or not is_tensor(first) else (("there", *at[0]), at[1])
        there = self.either_way(label, flag, first, second)
        why = f"it is None: the way taken in line {self.site.line} leaves it so."
        return PerhapsOutput(value, there, label, why)

    def both(self, label: str, key: Key | None, x: Any, y: Any, strict: bool) -> Made | None:
        """A nested value of both sides; None if they do not go together and need not."""
        if x is y:
            return lambda outputs: x
        known = self.joined.get((id(x), id(y)))
        if known is not None:
            return known  # two names of one object stay two names of one
        if strict and are_outside(x, y):
            return filled(None, [choice_of(self, label, None, x, y)])
        parts = leaves_of(x), leaves_of(y)  # of one object that is in several places, once
        if not same_structure(x, y) or len(parts[0]) != len(parts[1]):
            self.look_at_longer(key, x, y)
            at = None if key is None else (key, 0)
            chosen = choice_of(self, label, at, x, y) if strict else ABSENT
            if chosen is not ABSENT:
                return filled(None, [chosen])
            if strict:
                messages.refuse_objects(self.site, label, x, y)
            return None
        needed = len(self.needed)
        leaves = []
        for i, (mine, other) in enumerate(zip(*parts, strict=True)):
            at = None if key is None else (key, i)
            leaf = self.pair(label, at, mine, other, strict)
            if leaf is ABSENT:
                del self.needed[needed:]
                return None
            leaves.append(leaf)
        made = filled(either(x, y), leaves)
        if not is_record(y):
            return made
        self.joined[id(x), id(y)] = self.noted(label, x, y, made)
        return self.joined[id(x), id(y)]

    def left(self, label: str, key: Key | None, x: Any, y: Any, strict: bool) -> Made | None:
        """The same for what sides leave somewhere: they may have changed what is in it."""
        if x is y:
            return lambda outputs: x
        given = self.a.left.get(id(x), x), self.b.left.get(id(y), y)
        made = self.both(label, key, *given, strict)
        if made is None:
            return None
        if is_record(y):
            copied = given[0] is not x or given[1] is not y
            return self.noted(label, x, y, made) if copied else made
        return self.joining(label, x, y, made) if containers(x) else made

    def joining(self, label: str, x: Any, y: Any, made: Made) -> Made:
        """The same, and that a container from before the branch may be what it gives."""

        def note(outputs: list[Any]) -> Any:
            given = made(outputs)
            self.join(label, given, x, y)
            return given

        return note

    def join(self, label: str, given: Any, x: Any, y: Any) -> None:
        """Remembers which containers may be one of those in what a branch gives."""
        for one, mine, other in containers_beside(given, x, y):
            known = [] if self.a.journal.made(mine) else [mine]
            known += [] if self.b.journal.made(other) else [other]
            if known and one is not mine and one is not other:
                note_joined([one, *known], label, self.site)

    def look_at_longer(self, key: Key | None, x: Any, y: Any) -> None:
        """`if c: values = [*values, x]` in a loop: the loop begins anew, with a list that grows."""
        loop = innermost()
        if loop is None or key is None or key[0] != "name" or key[1] not in loop.site.carried:
            return
        # A function that the body calls has names of its own; and what has grown stays as it is.
        if self.site.home is not loop.site.home or key[1] in loop.replaced.grown:
            return
        if type(x) is not type(y) or type(x) not in (list, tuple):
            return
        new = added(x, y) if len(x) < len(y) else added(y, x)
        if new is not None:
            raise Again(grown={key[1]: spec_of(as_tensor(new))}, loop=loop)

    def noted(self, label: str, x: Any, y: Any, made: Made) -> Made:
        """The same, and that objects which have other names, too, may be what it gives."""
        held = [(self.a.journal, each) for each in records_in(x)]
        held += [(self.b.journal, each) for each in records_in(y)]
        for _, record in held:
            self.places.setdefault(id(record), set()).add((id(x), id(y)))
        given: list[Any] = []  # the one object, once it is there

        def note(outputs: list[Any]) -> Any:
            if not given:
                one = made(outputs)
                given.append(snapshot(one) if one is x or one is y else one)
                known = [
                    record
                    for side, record in held
                    if not side.made(record) or len(self.places[id(record)]) > 1
                ]
                if known:
                    note_one_of_several([*records_in(given[0]), *known], label, self.site)
                self.join(label, given[0], x, y)
            return given[0]

        return note

    def one(self, side: int, key: Key, value: Any, numbers: bool = True) -> Made:
        """A nested value of one side; the other gives zeros, which nobody reads.

        Without `numbers`, only what is a tensor already becomes one.
        """
        leaves: list[Any] = []
        value = (self.a, self.b)[side].left.get(id(value), value)
        for i, leaf in enumerate(leaves_of(value)):
            if (known := perhaps_of(leaf)) is not None:
                leaves.append(self.one_perhaps(side, key, i, known))
            elif type(leaf) is OneOf:
                leaves.append(self.one_of(side, key, i, leaf))
            elif not (is_tensorish(leaf) if numbers else is_tensor(leaf)):
                leaves.append(leaf)
            elif side == 0:
                leaves.append(Output(self.at[key, i]))
            else:
                tensor = as_tensor(leaf)
                leaves.append(self.extra(tensor, Filler(spec_of(tensor))))
        return filled(value, leaves)

    def one_perhaps(self, side: int, key: Key, i: int, known: Any) -> PerhapsOutput:
        """A leaf of one side that may be None."""
        keys = (key, i), (("there", *key), i)
        value, there = [Output(self.at[each]) for each in keys if side == 0] or [
            self.extra(each, Filler(spec_of(each))) for each in (known.value, known.ran)
        ]
        return PerhapsOutput(value, filled(None, [there]), known.name, known.why)

    def one_of(self, side: int, key: Key, i: int, leaf: OneOf) -> OneOfOutput:
        """A leaf of one side that is one of several objects."""
        which = leaf.hf_which
        where = Output(self.at[key, i]) if side == 0 else self.extra(which, Filler(spec_of(which)))
        return OneOfOutput(leaf.hf_things, filled(None, [where]), leaf.hf_say)

    # Names.

    def name(self, name: str) -> Made:
        """The value of a name after the branch."""
        x, y = self.a.names[name], self.b.names[name]
        key: Key = ("name", name)
        unset = [is_unset(x), is_unset(y)]
        raised = bool(self.a.raised or self.b.raised)
        if raised:
            side = 1 if self.a.raised else 0
            if not unset[side]:
                return self.one(side, key, (x, y)[side])
        elif not any(unset):
            label = "return" if name == VALUE else name
            made = self.left(label, key, x, y, True)
            assert made is not None
            return made
        elif not all(unset) and name.startswith("hf__"):
            side = 1 if unset[0] else 0
            return self.one(side, key, (x, y)[side])  # a flag tells whether it is set
        if (perhaps := self.perhaps(name, x, y)) is not None:
            return perhaps
        if not all(unset) and not raised:
            side = 1 if unset[0] else 0
            other = (x, y)[1 - side]
            inner = (other,) if isinstance(other, Maybe) and other.kind == "if" else ()
            maybe = Maybe(name, self.site, side, inner=inner)
            return lambda outputs: maybe
        kept = x if isinstance(x, Maybe) else y
        both = [each for each in (x, y) if isinstance(each, Maybe) and each.kind == "if"]
        if len(both) == 2 or both and self.site.kind == "if":
            kept = Maybe(name, self.site, -1, inner=tuple(both))
        elif runs(kept) and x is not y:
            # A loop on this side may set it, and what it has there does not leave the branch.
            kept = Maybe(name, self.site, 0 if kept is x else 1)
        return lambda outputs: kept

    def perhaps(self, name: str, x: Any, y: Any) -> Made | None:
        """A name that has a value if code ran which jumps decide about; None for another."""
        values = [each.value if runs(each) else each for each in (x, y)]
        ran = [each.ran if runs(each) else not is_unset(each) for each in (x, y)]
        missing, key = [each is False for each in ran], ("name", name)
        sites = [each.site for each in (x, y) if runs(each)] + [self.site]
        jump = next((each for each in sites if each.jumps), None)
        value: Made | None
        if x is y or all(missing):
            return None
        if not any(missing):
            value = self.left(name, key, values[0], values[1], False)
        elif jump is not None:
            side = 1 if missing[0] else 0
            value = self.one(side, key, values[side])
        else:
            return None
        if value is None:
            return None
        site = jump or sites[0]
        given, asked = value, self.ran(name, ran)
        return lambda outputs: Maybe(name, site, 0, "ran", given(outputs), asked(outputs))

    def ran(self, name: str, ran: list[Any]) -> Made:
        """Whether code ran, which each side knows as a tensor or for certain."""
        return self.either_way(name, (("ran", name), 0) if is_tensor(ran[0]) else None, *ran)

    def either_way(self, label: str, at: tuple[Key, int] | None, x: Any, y: Any) -> Made:
        """A truth that each side knows as a tensor or for certain."""
        taken = self.predicate
        if x is y:
            return lambda outputs: x
        if not (is_tensor(x) or is_tensor(y)):
            return lambda outputs: taken if x else registry.function("logical_not")(taken)
        return filled(None, [self.pair(label, at, x, y, True)])

    # Changes.

    def look_at_orders(self) -> None:
        """Raises `Again` for lists that sides change each in its own order: they are one value.

        A side that leaves one as it was has what was in it.
        """
        whole: dict[int, Any] = {}
        raised = self.a.raised or self.b.raised
        for change in () if raised else (*self.a.journal.changes, *self.b.journal.changes):
            container = change.container.read() if isinstance(change, Growth) else None
            sizes = {len(each) for each in self.left_in(container)}
            if len(sizes) == 1 and not (self.in_order(container) and self.in_step(container)):
                whole[id(container)] = container
        if whole.keys() - self.whole.keys():
            raise Again(whole=whole)

    def left_in(self, container: Any) -> list[Any]:
        """What each side leaves in a list of the trace that one of them changes.

        Nothing, if that depends on branches inside of it or before.
        """
        number, sides = id(container), (self.a, self.b)
        unsure = changes_of(container) or any(number in each.journal.conditional for each in sides)
        if unsure or not any(number in each.lists for each in sides):
            return []
        return [each.lists.get(number, container) for each in sides]

    def in_order(self, container: Any) -> bool:
        """Whether what sides do to a container may be paired one by one."""
        if type(container) is not list:
            return self.in_step(container)
        return _ADDS.issuperset(self.a.steps(container) + self.b.steps(container))

    def in_step(self, container: Any) -> bool:
        """Whether the sides call the same methods, one after the other."""
        return self.a.steps(container) == self.b.steps(container)

    def whole_list(self, container: Any) -> Callable[[list[Any]], None] | None:
        """What fills a list after the branch; None if its sides leave what does not go together."""
        number, left = id(container), self.left_in(container)
        if not left:
            return None
        key: Key | None = ("list", number) if number in self.a.lists else None
        made = self.left("a list", key, left[0], left[1], False)
        return None if made is None else lambda outputs: refill(container, made(outputs))

    def change(self, key: Key) -> Callable[[list[Any]], None]:
        """What performs a change after the branch."""
        mine, other = self.a.changes.get(key), self.b.changes.get(key)
        paired = mine is not None and other is not None and mine.condition is None
        if isinstance(mine, Growth):
            paired = paired and self.in_order(mine.container.read())
        if mine is not None and other is not None and paired:
            made = self.left(_label(mine), key, mine.value, other.value, False)
            if made is not None:
                return lambda outputs: redo(mine, made(outputs))
        if mine is None and other is not None and other.condition is None:
            return self.single(1, key, other)
        if other is None and mine is not None and mine.condition is None:
            return self.single(0, key, mine)
        values = None
        if isinstance(mine, Set) and isinstance(other, Set) and paired:
            values = mine.value, other.value
        each = [
            self.under_condition(side, key, change, values)
            for side, change in enumerate((mine, other))
            if change is not None
        ]

        def perform(outputs: list[Any]) -> None:
            for one in each:
                one(outputs)

        return perform

    def single(self, side: int, key: Key, change: Change) -> Callable[[list[Any]], None]:
        """A change of one side: the other gives what was there before, if it can stand for it."""
        if (self.a, self.b)[1 - side].raised:
            alone = self.one(side, key, change.value, numbers=False)
            return lambda outputs: redo(change, alone(outputs))
        if isinstance(change, Growth):
            return self.under_condition(side, key, change)
        value, before = change.value, change.location.read()
        recorder = recording()
        if recorder is not None and before is not MISSING:
            recorder.note(change.location, before)
        made = None
        if before is not MISSING and side == 0:
            made = self.left(_label(change), key, value, before, False)
        elif before is not MISSING:
            made = self.left(_label(change), None, before, value, False)
        if made is not None:
            return lambda outputs: redo(change, made(outputs))
        return self.under_condition(side, key, change)

    def under_condition(
        self, side: int, key: Key, change: Change, both: tuple[Any, Any] | None = None
    ) -> Callable[[list[Any]], None]:
        """A change that happens only where its side is taken. `both`: what each side gives."""
        if isinstance(change, Growth):
            steps = [each.steps(change.container.read()) for each in (self.a, self.b)]
            both = (steps[0], steps[1]) if all(steps) else None
        made = self.one(side, key, change.value, numbers=False)
        if change.condition is not None:
            taken = self.one(side, ("taken", *key), change.condition)
            return lambda outputs: redo_if(
                change, made(outputs), taken(outputs), change.site, change.both
            )
        asked = self.predicate
        if side == 0:
            return lambda outputs: redo_if(change, made(outputs), asked, self.site, both)
        opposite = registry.function("logical_not")
        return lambda outputs: redo_if(change, made(outputs), opposite(asked), self.site, both)


def _label(change: Change) -> str:
    location: Location = change.location if isinstance(change, Set) else change.container
    return location.describe()
