"""Two sides of a staged branch become one: what names and places hold afterwards.

Both sides run, each in its own scope, with its own journal and from the same state. Then each thing
that either of them changed is paired: a tensor of one side with a tensor of the other, or with the
value that was there before. A place where nothing was before gets a store under a condition, and a
name that one side leaves unset is remembered as such until somebody reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._holders import MISSING, ItemPlace, Object, Place
from .._journal import Change, Growth, Journal, Set, journal, mutate, put
from .._places import recording
from . import _messages
from ._jumps import VALUE
from ._sites import Site
from ._state import (
    UNSET,
    Maybe,
    as_tensor,
    is_number,
    is_tensor,
    is_tensorish,
    leaves_of,
    packed,
    same_structure,
    spec_of,
    zeros,
)

__all__ = ["Outcome", "merge"]

Key = tuple[Any, ...]

_ABSENT: Any = object()  # one side has nothing to give


class Outcome:
    """What one side did: the values of names, its changes by what they touch, or what it raised."""

    def __init__(self, names: dict[str, Any], journal: Journal, raised: str = "") -> None:
        self.names, self.raised = names, raised
        self.changes: dict[Key, Change] = {}
        count: dict[Key, int] = {}
        for change in journal.changes:
            touched: Key = change.touches()
            if isinstance(change, Growth):
                count[touched] = count.get(touched, 0) + 1
                touched = (*touched, change.method, count[touched])
            key = (*touched, id(change.condition) if change.condition is not None else 0)
            self.changes.pop(key, None)  # of several stores into a place the last one counts
            self.changes[key] = change


def merge(
    predicate: Any, first: Callable[[], Outcome], second: Callable[[], Outcome], site: Site
) -> dict[str, Any]:
    """Runs both sides under `predicate`; the values of the names afterwards.

    Changes of places are performed, so that the journal around sees them.
    """
    from .. import _control

    branches = _control.Branches(predicate, site.describe())
    with branches.side(0):
        a = first()
    with branches.side(1):
        b = second()
    pairing = _Pairing(branches, site, a, b)
    names = {name: pairing.name(name) for name in a.names}
    changes = [pairing.change(key) for key in dict.fromkeys((*a.changes, *b.changes))]
    outputs = branches.join(pairing.left, pairing.right)
    for each in changes:
        each(outputs)
    return {name: made(outputs) for name, made in names.items()}


Made = Callable[[list[Any]], Any]


class _Pairing:
    """Collects the outputs of both sides; what it gives out is filled in from the joined ones."""

    def __init__(self, branches: Any, site: Site, a: Outcome, b: Outcome) -> None:
        self.branches, self.site, self.a, self.b = branches, site, a, b
        self.left: list[Any] = []
        self.right: list[Any] = []

    # Leaves.

    def tensor(self, side: int, value: Any, dtype: Any = None) -> Any:
        """A leaf as a tensor of its side."""
        if is_tensor(value):
            return value
        with self.branches.side(side):
            return as_tensor(value, dtype)

    def add(self, x: Any, y: Any) -> int:
        self.left.append(x)
        self.right.append(y)
        return len(self.left) - 1

    def pair(self, label: str, x: Any, y: Any, strict: bool) -> Any:
        """One leaf of both sides: its output as a function, a value that both share, or _ABSENT."""
        if x is y or _equal(x, y):
            return x
        if not (is_tensorish(x) and is_tensorish(y)):
            if not strict:
                return _ABSENT
            _messages.refuse_objects(self.site, label, x, y)
        kind = next((v.dtype for v in (x, y) if is_tensor(v)), None)
        for value in (x, y):
            if kind is not None and is_number(value) and not _messages.fits(value, kind):
                if not strict:
                    return _ABSENT
                _messages.refuse_dtypes(self.site, label, x, y)
        left, right = self.tensor(0, x, kind), self.tensor(1, y, kind)
        if left.dtype != right.dtype:
            if not strict:
                return _ABSENT
            _messages.refuse_dtypes(self.site, label, x, y)
        return _Output(self.add(left, right))

    def both(self, label: str, x: Any, y: Any, strict: bool = True) -> Made | None:
        """A nested value of both sides; None if they do not go together and need not."""
        if x is y:
            return lambda outputs: x
        if not same_structure(x, y):
            if not strict:
                return None
            _messages.refuse_objects(self.site, label, x, y)
        size = len(self.left)
        leaves = []
        for mine, other in zip(leaves_of(x), leaves_of(y), strict=True):
            leaf = self.pair(label, mine, other, strict)
            if leaf is _ABSENT:
                del self.left[size:], self.right[size:]
                return None
            leaves.append(leaf)
        return _filled(x, leaves)

    def one(self, side: int, value: Any) -> Made:
        """A nested value of one side; the other gives zeros, which nobody reads."""
        leaves: list[Any] = []
        for leaf in leaves_of(value):
            if not is_tensorish(leaf):
                leaves.append(leaf)
                continue
            mine = self.tensor(side, leaf)
            with self.branches.side(1 - side):
                other = zeros(spec_of(mine))
            leaves.append(_Output(self.add(*((other, mine) if side else (mine, other)))))
        return _filled(value, leaves)

    # Names.

    def name(self, name: str) -> Made:
        """The value of a name after the branch."""
        x, y = self.a.names[name], self.b.names[name]
        if self.a.raised:
            return self.alone(1, y)
        if self.b.raised:
            return self.alone(0, x)
        unset = [x is UNSET or isinstance(x, Maybe), y is UNSET or isinstance(y, Maybe)]
        if not any(unset):
            return self.both("return" if name == VALUE else name, x, y)  # type: ignore[return-value]
        if all(unset):
            kept = x if isinstance(x, Maybe) else y
            return lambda outputs: kept
        side = 1 if unset[0] else 0
        if name.startswith("ag__"):
            return self.one(side, y if side else x)  # a flag tells whether it is set
        maybe = Maybe(name, self.site, side)
        return lambda outputs: maybe

    def alone(self, side: int, value: Any) -> Made:
        if value is UNSET or isinstance(value, Maybe):
            return lambda outputs: value
        return self.one(side, value)

    # Changes.

    def change(self, key: Key) -> Callable[[list[Any]], None]:
        """What performs a change after the branch."""
        mine, other = self.a.changes.get(key), self.b.changes.get(key)
        if mine is not None and other is not None and mine.condition is None:
            label = _label(mine)
            made = self.both(label, mine.value, other.value, strict=isinstance(mine, Set))
            if made is not None:
                return lambda outputs: _perform(mine, made(outputs))
        if mine is None and isinstance(other, Set) and other.condition is None:
            return self.single(1, other)
        if other is None and isinstance(mine, Set) and mine.condition is None:
            return self.single(0, mine)
        each = [
            self.under_condition(side, change)
            for side, change in enumerate((mine, other))
            if change is not None
        ]

        def perform(outputs: list[Any]) -> None:
            for one in each:
                one(outputs)

        return perform

    def single(self, side: int, change: Set) -> Callable[[list[Any]], None]:
        """A store of one side: the other gives what was there before, if it can stand for it."""
        if (self.a, self.b)[1 - side].raised:
            alone = self.one(side, change.value)
            return lambda outputs: _perform(change, alone(outputs))
        before = change.place.read()
        recorder = recording()
        if recorder is not None and before is not MISSING:
            recorder.note(change.place, before)
        pair = (before, change.value) if side else (change.value, before)
        made = None if before is MISSING else self.both(_label(change), *pair, strict=False)
        if made is not None:
            return lambda outputs: _perform(change, made(outputs))
        if not any(map(is_tensorish, leaves_of(change.value))):
            _messages.refuse_object(self.site, _label(change), change.value)
        return self.under_condition(side, change)

    def under_condition(self, side: int, change: Change) -> Callable[[list[Any]], None]:
        """A change that happens only where its side is taken."""
        made = self.one(side, change.value)
        taken = change.condition
        if taken is None:
            taken = True
        with self.branches.side(side):
            mine = as_tensor(taken)
        with self.branches.side(1 - side):
            other = as_tensor(False)
        at = self.add(*((other, mine) if side else (mine, other)))
        return lambda outputs: _perform(change, made(outputs), outputs[at])


class _Output:
    """Stands for a joined output."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def _filled(like: Any, leaves: list[Any]) -> Made:
    def fill(outputs: list[Any]) -> Any:
        return packed(
            like,
            [outputs[leaf.index] if isinstance(leaf, _Output) else leaf for leaf in leaves],
        )

    return fill


def _equal(x: Any, y: Any) -> bool:
    """Whether two values that are no tensors say the same."""
    if is_tensor(x) or is_tensor(y) or type(x) is not type(y):
        return False
    same = x == y
    return bool(same) if isinstance(same, bool) else bool(getattr(same, "all", bool)())


def _label(change: Change) -> str:
    place: Place = change.place if isinstance(change, Set) else change.container
    return place.describe()


def _perform(change: Change, value: Any, condition: Any = None) -> None:
    now = journal()
    if condition is None:
        if isinstance(change, Set):
            put(change.place, value)
        else:
            container = change.container.read()
            call = getattr(container, change.method)
            mutate(container, change.container.within, change.method, call, *value)
        return
    if now is None:
        return
    # The symbol of the branch goes into its place: who reads it before the graph has run learns
    # which branch it belongs to.
    made: Change
    if isinstance(change, Set):
        made = Set(change.place, change.place.read(), value)
        if isinstance(change.place, ItemPlace):
            now.keep(change.place.holder())
        change.place.write(change.inside)
    else:
        container = change.container.read()
        now.keep(container)
        getattr(container, change.method)(*change.inside)
        made = Growth(Object(container, change.container.within), change.method, value)
    made.inside, made.condition = change.inside, condition
    now.add(made)
