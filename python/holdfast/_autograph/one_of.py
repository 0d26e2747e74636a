"""One of several objects from outside of a trace, as a staged condition chooses: `a if c else b`.

What is done with it is done with each of them, in a branch of its own: the graph takes the one that
was chosen. So a read is as late as any other, and a method stores only where its object is taken.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

from .. import _holdfast
from .._tensors import registry
from .._tracing.locations import holds_symbol, leaves
from .._tracing.recorder import recording
from .._tracing.slots import rebuilt

__all__ = [
    "OneOf",
    "each_way",
    "one_of_in",
    "parts_of_either",
    "position_in",
    "staged_by",
    "with_thing",
]

_Stage = Callable[[Any, Callable[[], Any], Callable[[], Any], str], Any]
_stage: _Stage


def staged_by(stage: _Stage) -> None:
    """Says what stages a choice between two expressions: a module above this one."""
    global _stage
    _stage = stage


class OneOf:
    """Stands for one of `hf_things`: the one with the number `hf_which`, which the graph knows."""

    __slots__ = ("__weakref__", "hf_say", "hf_things", "hf_which")

    def __init__(self, things: list[Any], which: Any, say: Callable[..., NoReturn]) -> None:
        self.hf_things, self.hf_which, self.hf_say = things, which, say
        if (recorder := recording()) is not None:
            recorder.chooses = True

    def hf_refuse(self) -> NoReturn:
        """Says that no graph can choose between the objects, where Python has to know."""
        self.hf_say(*self.hf_things[:2])

    def hf_without_which(self) -> OneOf:
        """The same without the symbol, to be kept."""
        return OneOf(self.hf_things, None, self.hf_say)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return each_way(self, lambda each: getattr(each, name), f"the choice of `.{name}`")

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        convert = _holdfast.convert
        return each_way(self, lambda each: convert(each, dtype), "the choice of a tensor")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return each_way(self, lambda each: each(*args, **kwargs), "the choice of a call")

    def __leaves_trace__(self) -> Any:
        """Itself; of numbers a tensor, and of lists with symbols of the trace a new one."""
        if all(type(each) in (int, float, complex) for each in self.hf_things):
            return self.__tf_tensor__()
        if not any(map(holds_symbol, self.hf_things)):
            return self
        return parts_of_either(self)

    def __repr__(self) -> str:
        return f"<one of {', '.join(map(repr, self.hf_things))}>"


def each_way(one: OneOf, use: Callable[[Any], Any], label: str) -> Any:
    """What `use` gives of the object that is chosen. Messages call it `label`."""
    things, which = one.hf_things, one.hf_which

    def of(i: int) -> Any:
        if i == len(things) - 1:
            return use(things[i])
        taken = registry.function("equal")(which, i)
        return _stage(taken, lambda: use(things[i]), lambda: of(i + 1), label)

    return of(0)


def parts_of_either(one: OneOf) -> Any:
    """The parts of containers that are of one form, each as the one that is chosen has it."""
    things = one.hf_things
    kinds = {type(each) for each in things}
    if kinds == {dict} and len({tuple(each) for each in things}) == 1:
        return {key: operator.getitem(one, key) for key in things[0]}
    if not kinds <= {list, deque} or len(set(map(len, things))) > 1:
        one.hf_refuse()
    return [operator.getitem(one, i) for i in range(len(things[0]))]


def one_of_in(value: Any) -> Any:
    """The first part of a nested value that is one of several objects; None if none is."""
    recorder = recording()
    if recorder is None or not recorder.chooses:
        return None
    return next((each for each in leaves(value) if type(each) is OneOf), None)


def with_thing(value: Any, one: OneOf, thing: Any) -> Any:
    """A nested value with `thing` in the place of `one`."""
    return thing if value is one else rebuilt(value, lambda part: with_thing(part, one, thing))


def position_in(things: list[Any], thing: Any) -> int:
    """The number of an object among `things`, which it joins if it is not there."""
    for i, each in enumerate(things):
        if each is thing:
            return i
    things.append(thing)
    return len(things) - 1


def _operator(name: str) -> Callable[..., Any]:
    apply = getattr(operator, name)
    label = f"the choice of `{name.strip('_')}`"
    return lambda self, *others: each_way(self, lambda each: apply(each, *others), label)


def _reflected(name: str) -> Callable[..., Any]:
    apply = getattr(operator, name)
    label = f"the choice of `{name.strip('_')}`"
    return lambda self, other: each_way(self, lambda each: apply(other, each), label)


def _refused(self: OneOf, *_: Any) -> NoReturn:
    self.hf_refuse()


_BINARY: Any = ("add", "and", "floordiv", "lshift", "matmul", "mod", "mul", "or", "pow", "rshift")
_BINARY = (*_BINARY, "sub", "truediv", "xor")
_OTHERS = ("abs", "contains", "eq", "ge", "getitem", "gt", "invert", "le", "lt", "ne", "neg", "pos")
for _name in (*_BINARY, *_OTHERS):
    setattr(OneOf, f"__{_name}__", _operator(f"__{_name}__"))
for _name in _BINARY:
    setattr(OneOf, f"__r{_name}__", _reflected(f"__{_name}__"))
for _name in ("bool", "hash", "iter"):
    setattr(OneOf, f"__{_name}__", _refused)
