"""The state of a staged loop: what an iteration hands to the next one, and what is left afterwards.

Names that the loop carries are known from its source. Attributes, items and globals that its body
stores into, lists that it appends to, and the dtypes of what is first set inside are known once the
body has been written down: where they matter, it is written down again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._flow import control
from .._tensors import registry
from .._tensors.dtypes import int32
from .._tracing.conditional import refuse_copied, refuse_grown, refuse_stale, refuse_walk
from .._tracing.journal import Change, Growth, Journal, Set, journal, mutate, put, raw_write
from .._tracing.locations import (
    MISSING,
    AttributeLocation,
    CellLocation,
    GlobalLocation,
    ItemLocation,
    Location,
    holds_symbol,
    raw_method,
)
from .._tracing.perhaps import sides_of
from .._tracing.recorder import recording
from ..errors import DiagnosticError, fail
from . import messages
from .entries import (
    Entry,
    dtypes_asked,
    from_sample,
    look_at_objects,
    refuse_made_anew,
    sample,
    spec_of_either,
)
from .growing import Growing
from .lists import StagedList
from .records import containers, inside_records, is_plain, note_new
from .replaced import Replaced, note_copies
from .sites import Site
from .staging import outermost, staging
from .state import (
    UNSET,
    Again,
    Cells,
    Maybe,
    Spec,
    as_tensor,
    given,
    is_number,
    is_tensor,
    is_tensorish,
    leaves_of,
    packed,
    same_object,
    same_structure,
    zeros,
)
from .unset import settled

__all__ = ["Carried", "innermost"]

_ATTEMPTS = 12
_NESTED = (list, tuple, dict)
_TAKES = {"pop", "popleft", "popitem", "remove"}  # what they do depends on what is there
# Methods that may be called as often as you like: once is as good as any number of times.
_REPEATABLE = {
    *("add", "update", "setdefault", "discard", "clear"),
    *("difference_update", "intersection_update"),
}


def innermost() -> Carried | None:
    """The staged loop whose body is being written down, if any."""
    return next((each for each in reversed(staging.active) if isinstance(each, Carried)), None)


class Carried:
    """Runs a loop in the graph. `counter` is the number of the iteration, if it is counted."""

    def __init__(self, site: Site, cells: Cells, counted: bool = False) -> None:
        self.site, self.cells, self.counted = site, cells, counted
        self.counter: Any = None
        self.locations: dict[Any, Location] = {}
        self.samples: dict[Any, Any] = {}  # specs of what is first set inside, by name or key
        self.nones: dict[tuple[Any, int], Spec] = {}  # leaves that some iterations leave None
        self.sometimes: set[str] = set()  # names that a loop in the body sets, if that runs
        self.left: dict[str, Maybe] = {}  # names that some path through the body leaves unset
        self.dtypes: dict[tuple[Any, int], Any] = {}  # of numbers, where the body decides
        self.varying: set[tuple[Any, int]] = set()  # numbers of objects that iterations change
        self.several: dict[Any, list[Any]] = {}  # objects that iterations leave in other places
        self.forgetful: set[Any] = set()  # entries of whose composites iterations know less
        self.options: dict[str, Any] = {}
        self.wanted: dict[str, Any] = {}  # options that the body asks for
        self.effects: list[Change] = []
        self.ran = False  # whether it has to be known if the body ran at all
        note_new(cells)
        self.growing, self.replaced = Growing(cells), Replaced()
        self.entries: list[Entry] = []
        self.before: dict[str, Any] = {}
        self.reads: set[Any] = set()  # places that the body reads before it sets them
        self.variables: Any = ()
        self.stale: dict[int, Any] = {}  # containers that iterations change copies of

    # Attempts.

    def run(self, test: Callable[[], Any], body: Callable[[], None]) -> None:
        """Stages the loop and leaves names and places as it does."""

        def loop(variables: list[Any]) -> list[Any]:
            line = self.site.line
            return control.stage_while(
                lambda *v: self._ask(test, v),
                lambda *v: self._step(body, v),
                variables,
                self.options.get("maximum_iterations"),
                self._invariants(),
                (f"condition in line {line}", f"loop in line {line}"),
            )

        self._attempt(loop)

    def run_by(
        self,
        walk: Callable[..., Any],
        body: Callable[[Any], None],
        go_on: Callable[[], Any] | None,
    ) -> None:
        """The same, walked through by somebody else."""

        def step(element: Any, *variables: Any) -> list[Any]:
            return self._step(lambda: body(element), variables)

        def again(*variables: Any) -> Any:
            assert go_on is not None
            return self._ask(go_on, variables)

        self._attempt(
            lambda variables: list(walk(step, None if go_on is None else again, variables))
        )

    def _attempt(self, loop: Callable[[list[Any]], list[Any]]) -> None:
        # Each attempt finds out something: about a name that is carried, a place, or lists.
        attempts = _ATTEMPTS + 4 * len(self.site.carried)
        found: Again | None = None
        while attempts:
            attempts -= 1
            self.before = self.cells.read_all(self.site.modified)
            variables = self._begin()
            found = None
            try:
                outputs = loop(variables)
            except Again as again:
                if again.found.get("loop", self) is not self:
                    raise  # for a loop around this one
                found = again
            except DiagnosticError as error:
                dtypes = dtypes_asked(error, self.entries, self.dtypes, self.site)
                if not dtypes:
                    raise
                found = Again(dtypes=dtypes)
            finally:
                self.cells.write_all(self.before)
            if found is None:
                self._finish(outputs)
                return
            self._learn(found)
            attempts += self.growing.stage_all(found.found.get("lists", ()), self.site)
        if found is not None and found.found.get("locations"):
            refuse_made_anew(self.site, found.found["locations"][0].describe())
        fail("E1599", f"the state of the loop in line {self.site.line} never settles")

    def _learn(self, again: Again) -> None:
        found = again.found
        self.dtypes |= again.dtypes
        self.samples |= found.get("samples", {})
        self.sometimes |= found.get("sometimes", set())
        self.options |= found.get("options", {})
        self.nones |= found.get("nones", {})
        self.varying |= found.get("varying", set())
        self.several |= found.get("several", {})
        self.forgetful |= found.get("forgetful", set())
        self.ran = self.ran or bool(found.get("ran"))
        self.replaced.learn(found)
        for location in found.get("locations", ()):
            self.locations[location.key] = location

    # State.

    def _begin(self) -> list[Any]:
        """The variables of the first iteration."""
        variables: list[Any] = []
        if self.counted:
            variables.append(as_tensor(0, int32))
        self.entries, self.left = [], {}
        for name in self.site.carried:
            for part in containers(self.before[name]):
                refuse_walk(part)  # iterations have a copy
            self._enter_entry(name, None, self.before[name], variables)
        for location in self.locations.values():
            value = location.read()
            recorder = recording()
            if recorder is not None and value is not MISSING:
                recorder.note(location, value)
            before = UNSET if value is MISSING else value
            known = isinstance(location, (AttributeLocation, ItemLocation))
            name = self.site.set_as(location) if known else ""
            if isinstance(location, (GlobalLocation, CellLocation)):
                name = location.name
            self._enter_entry(name or location.describe(), location, before, variables)
        for entry in self.entries:
            if entry.key in self.sometimes and not entry.was_set:
                entry.flag = len(variables)
                variables.append(as_tensor(False))
        if self._asks_ran():
            variables.append(as_tensor(False))  # whether the body ran
        return variables

    def _asks_ran(self) -> bool:
        return self.ran or any(self._stores_if_ran(entry) for entry in self.entries)

    def _stores_if_ran(self, entry: Entry) -> bool:
        """Whether what it leaves is there only if an iteration ran."""
        return not entry.was_set or entry.key in self.replaced.objects

    def _enter_entry(
        self, name: str, location: Location | None, was: Any, variables: list[Any]
    ) -> None:
        key = location.key if location is not None else name
        start = before = self.replaced.begins(key, was)
        if isinstance(before, Maybe) and before.kind == "ran":
            start = before.value
        if key in self.samples:
            start = from_sample(self.samples[key])
        if start is UNSET or isinstance(start, Maybe):
            return
        entry = Entry(name, location, was, before, start)
        entry.forgets, entry.known = key in self.forgetful, self.several.get(key, [])
        fixed = [
            within and is_number(leaf) and (key, i) not in self.varying
            for i, (leaf, within) in enumerate(
                zip(leaves_of(start), inside_records(start), strict=True)
            )
        ]
        entry.why = f"it is None: no iteration of the loop in line {self.site.line} set it."
        for i, leaf in enumerate(leaves_of(start)):
            if (key, i) in self.nones:
                value, there = sides_of(leaf)
                value = zeros(self.nones[key, i]) if value is None else as_tensor(value)
                entry.slots.append(len(variables))
                entry.there[i] = len(variables) + 1
                variables += [value, as_tensor(there)]
            elif is_tensorish(leaf) and not fixed[i]:
                entry.slots.append(len(variables))
                variables.append(as_tensor(leaf, self.dtypes.get((key, i))))
            else:
                entry.slots.append(None)
        self.entries.append(entry)

    def _enter(self, variables: Any) -> None:
        """Gives names and places the values of an iteration."""
        if self.counted:
            self.counter = variables[0]
        known = {entry.name for entry in self.entries}
        for name in self.site.exposed:
            if name not in known and self.before[name] is UNSET:
                self.cells.write(name, Maybe(name, self.site, 0, "first"))
        copies: dict[int, list[Any]] = {}
        for entry in self.entries:
            value = entry.filled(entry.start, variables)
            entry.note_one_of_several(value, self.site)
            note_copies(entry, value, copies, self.site)
            if entry.location is None:
                self.cells.write(entry.name, self._entering(entry, value, variables))
            elif entry.was_set:
                raw_write(entry.location, value)

    def _entering(self, entry: Entry, value: Any, variables: Any) -> Any:
        """The value of a name as an iteration begins."""
        if entry.was_set or entry.name.startswith("hf__"):
            return value
        if isinstance(entry.before, Maybe) or entry.name in self.site.exposed:
            return self._first_set(entry, value, variables)
        return entry.before  # the body sets it before it reads it

    def _leave(self) -> None:
        self.cells.write_all(self.before)
        for entry in self.entries:
            if entry.location is not None and entry.was_set:
                raw_write(entry.location, entry.was)

    def _ask(self, test: Callable[[], Any], variables: Any) -> Any:
        asked = Journal()
        try:
            with asked:
                self._enter(variables)
                return as_tensor(test())
        finally:
            asked.undo()
            self._leave()

    def _step(self, body: Callable[[], None], variables: Any) -> list[Any]:
        written = Journal()
        staging.active.append(self)
        self.variables = variables
        try:
            with written:
                self._enter(variables)
                body()
            return self._collect(written, variables)
        finally:
            staging.active.pop()
            written.undo_outside()
            self._leave()

    # After an iteration.

    def _collect(self, written: Journal, variables: Any) -> list[Any]:
        """The variables of the next iteration."""
        self._look_at_changes(written)
        self.stale = {
            key: found for key, found in written.stale.items() if not written.made(found[0])
        }
        self._look_at_first_set()
        if self.wanted != self.options:
            raise Again(options=self.wanted)
        out = list(variables)
        if self.counted:
            out[0] = self.counter + 1
        for entry in self.entries:
            for part in containers(self.cells.read(entry.name)) if entry.location is None else ():
                refuse_stale(part, written)
            self._collect_entry(entry, out)
            entry.look_at_left(written)
        refuse_copied(
            written, [each.after for each in self.entries if each.after is not each.start]
        )
        several = look_at_objects(self.entries, {*self.site.exposed, *self.reads}, written)
        if several.keys() - self.several.keys():
            raise Again(several=several)
        if self._asks_ran():
            out[-1] = as_tensor(True)
        return out

    def _look_at_first_set(self) -> None:
        """Names and places that had no value before: what they are given tells what they hold."""
        samples: dict[Any, Any] = {}
        sometimes: set[str] = set()
        known = {entry.key for entry in self.entries}
        for name in self.site.carried:
            value = self.cells.read(name)
            if isinstance(value, Maybe) and value.kind == "ran":
                if name not in self.sometimes:
                    sometimes.add(name)
                value = value.value
            if isinstance(value, Maybe):
                self.left[name] = value
            elif name not in known and value is not UNSET:
                samples[name] = sample(value)
        for key, location in self.locations.items():
            if key not in known and location.read() is not MISSING:
                samples[key] = sample(location.read())
        if samples or sometimes:
            raise Again(samples=samples, sometimes=sometimes)

    def _collect_entry(self, entry: Entry, out: list[Any]) -> None:
        value = self.cells.read(entry.name) if entry.location is None else entry.location.read()
        entry.after = value
        flag = entry.flag
        if isinstance(value, Maybe) and value.kind == "ran" and flag is not None:
            value = entry.after = self._if_set(entry, value, out)
            out[flag] = registry.function("logical_or")(out[flag], value.ran)
            value = value.value
        elif flag is not None:
            out[flag] = as_tensor(True)
        if value is UNSET or value is MISSING or isinstance(value, Maybe):
            return  # some path leaves it unset: the variable stays what it was
        if is_plain(value) or not same_structure(entry.start, value):
            self.replaced.look(entry, value, out, self)
            if not same_structure(entry.start, value):
                self._refuse(entry, entry.start, value)
        if entry.loses_facts(value):
            raise Again(forgetful={entry.key})
        pairs = zip(leaves_of(entry.start), leaves_of(value), entry.slots, strict=True)
        for i, (old, new, slot) in enumerate(pairs):
            if i in entry.there:
                new, there = sides_of(new)
                out[entry.there[i]] = as_tensor(there)
                if new is None or slot is None:
                    continue
                old = out[slot]
            elif (spec := spec_of_either(old, new)) is not None:
                raise Again(nones={(entry.key, i): spec})
            if slot is None:
                if entry.was_set and not same_object(old, new):
                    if is_tensorish(old) and is_tensorish(new):
                        raise Again(varying={(entry.key, i)})
                    self._refuse(entry, old, new)
                continue
            dtype = out[slot].dtype
            if is_number(new) and messages.fits(new, dtype):
                new = as_tensor(new, dtype)
            if not is_tensorish(new):
                self._refuse(entry, old, new)
            tensor = as_tensor(new)
            if tensor.dtype != dtype:
                if is_number(old) and messages.fits(old, tensor.dtype):
                    raise Again(dtypes={(entry.key, i): tensor.dtype})
                messages.refuse_iterations(self.site, entry.name, old, new)
            out[slot] = tensor

    def _refuse(self, entry: Entry, old: Any, new: Any) -> None:
        """A value that is no tensor becomes one: it may if no iteration looks at the old one."""
        unread = (
            entry.name not in self.site.exposed
            if entry.location is None
            else entry.location.key not in self.reads
        )
        if unread and entry.was_set and not is_tensorish(old):
            value = self.cells.read(entry.name) if entry.location is None else entry.location.read()
            raise Again(samples={entry.key: sample(value)})
        messages.refuse_carried(self.site, entry.name, old, new)

    def _look_at_changes(self, written: Journal) -> None:
        """Places that the body stores into become variables, lists that it appends to grow."""
        self.reads = written.reads
        locations: list[Location] = []
        lists: list[tuple[Any, Any]] = []
        staged: set[int] = set()  # their ids
        self.effects = []
        for change in written.changes:
            if isinstance(change, Set):
                if change.location.key in self.locations or written.made(change.location.holder()):
                    continue
                if isinstance(change.value, StagedList) and written.made(change.old):
                    continue  # the list was made inside, and so was what holds it
                if any(map(is_tensorish, leaves_of(change.value))):
                    locations.append(change.location)
                else:
                    self.effects.append(change)
            elif isinstance(change, Growth):
                container = change.container.read()
                if written.made(container):
                    continue
                if id(container) in staged:
                    continue  # the next attempt does all of it in the graph
                element = self.growing.element(container, change, written.before(container))
                if element is not None:
                    lists.append((container, element))
                    staged.add(id(container))
                    continue
                if change.outlives and holds_symbol(change.value):
                    refuse_grown(self.site, container, change.method)
                looked_at = id(container) in written.asked or change.method in _TAKES
                if not change.outlives and change.method not in _REPEATABLE and looked_at:
                    messages.refuse_growth(self.site, container, change.method)
                self.effects.append(change)
        if lists:
            raise Again(lists=lists, loop=outermost([each for each, _ in lists]) or self)
        if locations:
            raise Again(locations=locations)
        asks = any(isinstance(each, Set) or not each.outlives for each in self.effects)
        if asks and not self._asks_ran():
            raise Again(ran=True)

    def slot_of(self, value: Any) -> int | None:
        """Which variable a value is, if it is one of the loop's."""
        for slot, variable in enumerate(self.variables):
            if variable is value:
                return slot
        return None

    def _invariants(self) -> list[Any] | None:
        given: dict[int, Any] = self.options.get("shape_invariants", {})
        if not given:
            return None
        slots = [s for e in self.entries for s in (*e.slots, e.flag) if s is not None]
        count = 1 + max([-1, *slots])
        count += self._asks_ran()
        return [given.get(i) for i in range(max(count, int(self.counted)))]

    # Afterwards.

    def _finish(self, outputs: list[Any]) -> None:
        now = journal()
        if now is not None:
            now.stale |= self.stale
        for entry in self.entries:
            like = entry.start if entry.after is UNSET else entry.after
            if isinstance(like, Maybe) or like is MISSING or not same_structure(entry.start, like):
                like = entry.start
            value = entry.filled(like, outputs)
            entry.note_one_of_several(value, self.site)
            entry.join_left(value, self.site)
            if entry.location is not None:
                ran = outputs[-1] if self._stores_if_ran(entry) else None
                self._store(entry.location, value, ran, entry.was_set)
            elif entry.was_set or entry.name.startswith("hf__"):
                self.cells.write(entry.name, value)
            elif isinstance(entry.after, Maybe) and entry.after.kind != "ran":
                self.cells.write(entry.name, entry.after)
            else:
                maybe = self._first_set(entry, value, outputs)
                # Reads of a name that is never unset are not looked at: it is settled at once.
                looked_at = entry.before is UNSET or isinstance(entry.before, Maybe)
                self.cells.write(entry.name, maybe if looked_at else settled(maybe))
        known = {entry.name for entry in self.entries if entry.location is None}
        for name in self.site.carried:
            if name not in known:
                before = self.before[name]
                self.cells.write(name, self.left.get(name, before) if before is UNSET else before)
        for effect in self.effects:
            if isinstance(effect, Set):
                self._store(effect.location, effect.value, outputs[-1])
            elif effect.outlives:
                _perform(effect)
            else:
                self._grow(effect, outputs[-1])

    def _if_set(self, entry: Entry, inner: Maybe, variables: Any) -> Maybe:
        """What a loop in the body set if it ran, and else what there was."""
        before = entry.filled(entry.start, variables)
        if not same_structure(before, inner.value):
            self._refuse(entry, before, inner.value)
        pairs = zip(leaves_of(inner.value), leaves_of(before), entry.slots, strict=True)
        leaves = [
            new if slot is None else control.cond(inner.ran, given(new), given(old))
            for new, old, slot in pairs
        ]
        value = packed(inner.value, leaves)
        return Maybe(entry.name, inner.site, 0, "ran", value, inner.ran)

    def _first_set(self, entry: Entry, value: Any, variables: Any) -> Any:
        """The value of a name that had none before the loop, or none that a graph could keep."""
        ran = variables[-1 if entry.flag is None else entry.flag]
        if isinstance(entry.before, Maybe) and entry.before.kind == "ran":
            ran = registry.function("logical_or")(entry.before.ran, ran)
        return Maybe(entry.name, self.site, 0, "ran", value, ran)

    def _store(self, location: Location, value: Any, condition: Any, was_set: bool = False) -> None:
        if condition is None:
            put(location, value)
            return
        now = journal()
        if now is None:
            return
        made = Set(location, location.read(), value)
        made.condition, made.site = condition, self.site
        if isinstance(location, ItemLocation):
            now.keep(location.holder())
        # Where there was a value before, what the loop gives is right whether it ran or not.
        made.inside, made.checked = (
            (value, True) if was_set else self._checked(location, value, condition)
        )
        raw_write(location, made.inside)
        now.add(made)
        if not was_set and isinstance(made.old, _NESTED) and isinstance(value, _NESTED):
            now.uncertain[location.key] = made  # how many parts it has depends on the way, too

    def _checked(self, location: Location, value: Any, ran: Any) -> tuple[Any, bool]:
        """The value for code that goes on in the trace: using it stops where no iteration ran."""
        leaves, all_asked = [], True
        words = [location.describe()]
        said = f"the loop in line {self.site.line} did not run to set it."
        for leaf in leaves_of(value):
            asks = is_tensor(leaf) and leaf.dtype.name not in ("variant", "resource")
            all_asked = all_asked and asks
            leaves.append(
                registry.raw_op("EnsureSet", x=leaf, set=ran, words=words, message=said)
                if asks
                else leaf
            )
        return packed(value, leaves), all_asked

    def _grow(self, effect: Growth, ran: Any) -> None:
        """A container of the trace itself is changed in the same way by each iteration, if any."""
        container, now = effect.container.read(), journal()
        if now is None:
            return
        now.keep(container)
        size = len(container)
        raw_method(container, effect.method)(*effect.value, **effect.keywords)
        made = Growth(effect.container, effect.method, effect.value, effect.keywords)
        made.size = size
        made.condition, made.site = ran, self.site
        now.add(made)


def _perform(effect: Growth) -> None:
    container = effect.container.read()
    within = effect.container.within
    mutate(container, within, effect.method, effect.value, effect.keywords)
