"""Which objects the sides of a branch may leave a choice of, and the choice as an output."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

from .. import _holdfast
from .._tensors import registry
from .._tracing.journal import Journal
from .._tracing.recorder import recording
from .._tracing.substituted_code import substitutions
from . import messages
from .one_of import OneOf, position_in
from .outputs import ABSENT, Filler, OneOfOutput
from .records import is_plain
from .state import Spec, as_tensor

__all__ = ["are_outside", "choice_of", "note_numbers", "number_of", "places_of"]

_WHICH = Spec(_holdfast.convert(0).dtype, ())


def can_be_chosen(thing: Any, written: Journal) -> bool:
    """Whether what is done with a thing may be done on each side of a branch instead.

    `written` is the journal of the side that gives it: what was made there stays there. An iterator
    moves on while code is traced, on both sides; a dataset is what its elements are made by.
    """
    if type(thing) is OneOf or isinstance(thing, _holdfast.VariableBase):
        return True
    unfit = isinstance(thing, (Iterator, _holdfast.DatasetBase)) or hasattr(
        type(thing), "__carries__"
    )
    if unfit or written.made(thing):
        return False
    known = is_plain(thing) or type(thing) in (list, dict) or callable(thing)
    return known or (hasattr(thing, "__dict__") and not isinstance(thing, types.ModuleType))


def is_choosable_number(value: Any) -> bool:
    """Whether a value is a number that has no dtype of its own, or one of several."""
    if type(value) is OneOf:
        return all(map(is_choosable_number, value.hf_things))
    return type(value) in (int, float, complex)


def number_of(pairing: Any, label: str, at: Any, x: Any, y: Any) -> Any:
    """A number that takes the dtype of what it meets; None for another leaf, and by default."""
    places = substitutions()
    if places is None or not places.keeps_numbers((pairing.site.key, at)):
        return None
    chosen = choice_of(pairing, label, at, x, y)
    return None if chosen is ABSENT else chosen


def note_numbers(numbers: dict[int, Any], outputs: list[Any]) -> None:
    """Remembers which outputs Python would have as numbers without a dtype."""
    recorder = recording()
    if recorder is not None:
        recorder.numbers += [(outputs[i], places) for i, places in numbers.items()]


def places_of(place: Any, *values: Any) -> frozenset[Any]:
    """The places of the choices that make a number: its own, and those of what it is made of."""
    recorder = recording()
    known = [] if recorder is None else recorder.numbers
    inner = [places for symbol, places in known if any(symbol is each for each in values)]
    return frozenset([place]).union(*inner)


def are_outside(*containers: Any) -> bool:
    """Whether they are lists or dicts from outside of the trace, which have other names, too."""
    recorder = recording()
    return recorder is not None and all(
        type(each) in (list, dict) and recorder.place_of(each) is not None for each in containers
    )


def choice_of(pairing: Any, label: str, at: Any, x: Any, y: Any) -> Any:
    """The output for two things of which one is chosen; ABSENT if they can't be.

    `at` tells where the first side put its number out, if it had one.
    """
    numbers = is_choosable_number(x) and is_choosable_number(y)
    chosen = can_be_chosen(x, pairing.a.journal) and can_be_chosen(y, pairing.b.journal)
    if not (numbers or chosen):
        return ABSENT
    things: list[Any] = []
    mine, other = ([position_in(things, each) for each in _things(side)] for side in (x, y))
    say = functools.partial(messages.refuse_objects, pairing.site, label)
    if not (type(x) is OneOf or type(y) is OneOf):
        taken = pairing.predicate
        which: Any = lambda outputs: registry.function("where")(taken, 0, 1)
        return OneOfOutput(things, which, say)
    right = as_tensor(other[0])
    if type(y) is OneOf:
        right = registry.function("gather")(as_tensor(other), y.hf_which)
    if type(x) is not OneOf or at is None:
        first = x.hf_which if type(x) is OneOf else mine[0]
        number = pairing.extra(right, Filler(_WHICH, first)).index
    else:
        number = pairing.at[at]
        pairing.right[number] = right
    return OneOfOutput(things, lambda outputs: outputs[number], say)


def _things(value: Any) -> list[Any]:
    return value.hf_things if type(value) is OneOf else [value]
