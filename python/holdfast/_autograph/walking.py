"""What code goes through: the parts of containers are noted, steps of the user's own converted."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from .._tensors import registry
from .._tensors.symbols import is_symbol
from .._tracing.moved import current
from .._tracing.recorder import recording
from .compiling import is_converted
from .conversion import converted_callee
from .lookups import note_special
from .moving import moving
from .one_of import OneOf, parts_of_either

__all__ = ["iterated", "looked_through", "own_method", "spread", "unpacked"]

_CONTAINERS = (list, dict, set, deque)


def looked_through(values: Any) -> Any:
    """Something whose parts are about to be read, all of them."""
    values, recorder = current(values), recording()
    if type(values) is OneOf:
        for each in values.hf_things:
            looked_through(each)
    if recorder is not None and isinstance(values, _CONTAINERS):
        recorder.note_whole(values)
    return values


def spread(values: Any) -> Any:
    """What `*` and `**` take the parts of."""
    values = looked_through(values)
    return parts_of_either(values) if type(values) is OneOf else values


def iterated(values: Any) -> Any:
    """What is about to be walked through; an iterator of the user's own steps in converted code."""
    values = spread(values)
    begin = own_method(values, "__iter__")
    if begin is not None:
        values = begin()
    step = own_method(values, "__next__")
    return moving(values) if step is None else _steps(step)


def unpacked(values: Any, count: int) -> Any:
    """What is about to be taken apart into `count` names; into any number of them if that is -1."""
    if count >= 0 and is_symbol(values) and values.shape.rank and values.shape[0] is None:
        # How many rows there are is known when the graph runs, which then has to agree.
        rest = values.shape.as_list()[1:]
        values = registry.function("ensure_shape")(values, [count, *rest])
    return iterated(values)


def _steps(step: Callable[[], Any]) -> Iterator[Any]:
    while True:
        try:
            value = step()
        except StopIteration:
            return
        yield value


def own_method(thing: Any, name: str) -> Any:
    """A special method that the user wrote, converted and bound; None if it is another's."""
    note_special(thing, name)
    found = getattr(type(thing), name, None)
    if recording() is None or not isinstance(found, types.FunctionType):
        return None
    converted = converted_callee(found)
    return types.MethodType(converted, thing) if is_converted(converted.__code__) else None
