"""The stores of a trace: what every call of a function leaves behind in Python objects.

Made from the outermost journal when the trace ends. On the call that was traced the symbols sit in
their places already, and `settle` puts values there; any later call does what the code did, with
its own values: `perform`. What can't stay is taken back when the trace ends: a store under a
condition, which happens where that turns out true, and one that hides what the call has to read.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any

from . import _holdfast, nest
from ._holders import MISSING, ArgumentPlace, ItemPlace, Place, leaves
from ._journal import Change, Growth, Journal, Set, mutate, put
from ._slots import Slot
from ._symbols import is_symbol

__all__ = ["Store", "stores"]


class _Hollow:
    """Makes slots of what each call has a value of its own for.

    That are symbols, and tensors that were read from a place which may hold another one later:
    `known` by their numbers.
    """

    def __init__(self, known: Container[int]) -> None:
        self._known = known

    def varies(self, value: Any) -> bool:
        """Whether a leaf differs from call to call."""
        return isinstance(value, _holdfast.Tensor) and (
            is_symbol(value) or value._id in self._known
        )

    def holds(self, value: Any) -> bool:
        """Whether a nested value holds one that does."""
        return any(map(self.varies, leaves(value)))

    def __call__(self, value: Any, tensors: list[Any]) -> Any:
        """A nested value with slots, whose tensors are appended to `tensors`."""
        if self.varies(value):
            tensors.append(value)
            return Slot(len(tensors) - 1)
        return _rebuilt(value, self, tensors)


def _filled(value: Any, tensors: list[Any]) -> Any:
    if type(value) is Slot:
        return tensors[value.index]
    return _rebuilt(value, _filled, tensors)


def _rebuilt(value: Any, change: Callable[[Any, list[Any]], Any], tensors: list[Any]) -> Any:
    """A copy of what holds symbols or slots, with its parts changed; anything else itself."""
    if isinstance(value, dict):
        parts = {key: change(part, tensors) for key, part in value.items()}
        same = all(parts[key] is part for key, part in value.items())
        if same or type(value) is dict:
            return value if same else parts
    if not nest.is_nested(value) or isinstance(value, range):
        return value
    before = list(nest.children(value))
    after = [change(part, tensors) for part in before]
    if all(new is old for new, old in zip(after, before, strict=True)):
        return value
    return nest.rebuild(value, after)


class Store:
    """One effect on a Python object.

    value: the tensors in what was stored.  condition: a symbol, or None; where it is false the
    store does not happen. Both may be dropped once they are outputs of the graph.
    """

    __slots__ = ("_hollow", "_spots", "condition", "method", "place", "value")

    def __init__(self, change: Change, taken: set[tuple[int, Any]], hollow: _Hollow) -> None:
        self.value: list[Any] | None = []
        self._hollow, self.condition = hollow(change.value, self.value), change.condition
        self.place: Place = change.place if isinstance(change, Set) else change.container
        self.method = "" if isinstance(change, Set) else change.method
        # Of a container that grew: a key in it, and the path to its new item in the value.
        self._spots: list[tuple[Any, tuple[int, ...]]] | None = None
        if isinstance(change, Growth) and change.condition is None and change.inside is not None:
            self._spots = list(_spots(change, taken, hollow))

    @property
    def on_argument(self) -> bool:
        """Whether it changes a container that the caller gave."""
        return isinstance(getattr(self.place, "within", None), ArgumentPlace)

    def perform(self, tensors: list[Any]) -> None:
        """Does it again with the values of another call, in the order of `value`."""
        holder = self.place.holder()
        if holder is MISSING:
            return
        value = _filled(self._hollow, tensors)
        if not self.method:
            put(self.place, value)
            return
        call = getattr(holder, self.method, None)
        if call is not None:
            mutate(holder, self.place, self.method, call, *value)

    def place_of_one(self, shape: list[Any]) -> tuple[Place, int] | None:
        """Where it puts one of the outputs as it is, and which; None where there is more to it."""
        if self.method or type(self._hollow) is not Slot:
            return None
        slot = shape[self._hollow.index]
        return (self.place, slot.index) if type(slot) is Slot else None

    def settle(self, tensors: list[Any]) -> None:
        """Puts values where the call that was traced left symbols."""
        if self._spots is None or self.on_argument:  # the code changed a copy of an argument
            self.perform(tensors)
            return
        holder, value = self.place.holder(), _filled(self._hollow, tensors)
        for key, path in self._spots:
            item = value
            for step in path:
                item = item[step]
            if isinstance(holder, dict) or (holder is not MISSING and key < len(holder)):
                holder[key] = item

    def describe(self) -> str:
        """The place in words."""
        return self.place.describe()


def _items(arguments: tuple[Any, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The objects that a method may have put into its container, and their paths."""
    for i, argument in enumerate(arguments):
        yield (i,), argument
        if isinstance(argument, (list, tuple)):
            for j, part in enumerate(argument):
                yield (i, j), part
        elif isinstance(argument, dict):
            for key, part in argument.items():
                yield (i, key), part


def _spots(
    change: Growth, taken: set[tuple[int, Any]], hollow: _Hollow
) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Where in its container a change left tensors; one that is there twice was put there twice."""
    container = change.container.read()
    if isinstance(container, (set, frozenset)) or container is MISSING:
        return
    pairs = container.items() if isinstance(container, dict) else enumerate(container)
    held: dict[int, list[Any]] = {}
    for key, item in pairs:
        held.setdefault(id(item), []).append(key)
    for path, item in _items(change.inside):
        for key in held.get(id(item), ()) if hollow.holds(item) else ():
            if (id(container), key) not in taken:
                taken.add((id(container), key))
                yield key, path
                break


def stores(journal: Journal, read: set[tuple[Any, ...]], tensors: Container[int]) -> list[Store]:
    """The effects in a journal that hold tensors which differ from call to call, in order.

    `read` are the places that calls read tensors from: they get their tensors back, which the call
    that is being traced reads like any other. `tensors` are the numbers of those tensors.
    """
    hollow = _Hollow(tensors)
    last: dict[tuple[Any, ...], int] = {}
    for i, change in enumerate(journal.changes):
        if isinstance(change, Set) and change.condition is None:
            last[change.touches()] = i
    grown = {
        change.touches()[-1]
        for change in journal.changes
        if isinstance(change, Growth) and _is_outside(change) and hollow.holds(change.value)
    }
    kept = [
        change
        for i, change in enumerate(journal.changes)
        if _is_kept(change, i, last, grown, hollow)
    ]
    taken: set[tuple[int, Any]] = set()
    found = [Store(change, taken, hollow) for change in kept]
    for change in reversed(journal.changes):
        again = isinstance(change, Set) and change.place.key in read
        if again or change.condition is not None:
            _take_back(change)
    return found


def _is_outside(change: Change) -> bool:
    """Whether a container outlives the trace: it was read from somewhere."""
    if isinstance(change, Growth):
        return change.container.within is not None
    return not isinstance(change.place, ItemPlace) or change.place.within is not None


def _is_kept(
    change: Change,
    i: int,
    last: dict[tuple[Any, ...], int],
    grown: set[int],
    hollow: _Hollow,
) -> bool:
    if not _is_outside(change):
        return False
    if isinstance(change, Growth):
        return change.touches()[-1] in grown
    if last.get(change.touches(), i) > i:
        return False  # overwritten
    if isinstance(change.place, ItemPlace) and id(change.place.holder()) in grown:
        return True
    return change.condition is not None or hollow.holds(change.value)


def _take_back(change: Change) -> None:
    if isinstance(change, Set):
        holder = change.place.holder()
        if not isinstance(change.place, ItemPlace):
            change.place.restore(change.old)
        elif change.old is not MISSING:
            holder[change.place.item] = change.old
        elif isinstance(holder, dict):
            holder.pop(change.place.item, None)
        return
    container = change.container.read()
    if change.inside is None:
        return
    new = {id(item) for _, item in _items(change.inside)}
    if isinstance(container, list):
        container[:] = [item for item in container if id(item) not in new]
    elif isinstance(container, dict):
        for key in [key for key, item in container.items() if id(item) in new]:
            del container[key]
