"""The hooks of calls: the user's own functions are converted, builtins meet symbols, lists grow."""

from __future__ import annotations

import builtins
import contextvars
import functools
import itertools
import operator
import random
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _holdfast
from .._flow.checks import Assert
from .._messages.diagnostics import mark
from .._tensors import numpy_calls, registry
from .._tensors.symbols import is_symbol
from .._tracing.conditional import is_same, refuse_presence
from .._tracing.journal import journal
from .._tracing.locations import (
    AttributeLocation,
    ContextLocation,
    ItemLocation,
    ReferentLocation,
    leaves,
)
from .._tracing.made_objects import PLAIN_NEW
from .._tracing.moved import current, parts_of
from .._tracing.perhaps import perhaps_of, reread, sides_of
from .._tracing.recorder import recording
from ..errors import DiagnosticError
from . import frames, iterables
from .apart import look_into, takes_apart
from .branch import decided, not_, or_
from .chosen import Chosen, quantified, sum_of
from .conversion import converted_callee
from .in_place import same_parts, watched
from .lists import StagedList, joined
from .lookups import note_class, note_defined, note_special
from .moving import moving
from .one_of import OneOf, each_way, one_of_in, with_thing
from .operators import convert_operators
from .orders import first_by, in_order
from .reads import attribute, attribute_place, fresh
from .storing import ASK_ALL, CONTAINERS, changing, delete_item, put_item, storing
from .walking import iterated, looked_through, own_method, spread

__all__ = [
    "assert_",
    "call",
    "contains",
    "equals_none",
    "is_",
    "is_none",
    "lacks",
    "managed",
    "method",
]

_FRAME = (locals, globals, dir, eval, exec, builtins.super)  # they look at their caller
_RANDOM = (random.Random, np.random.RandomState, np.random.Generator)


def call(function: Any) -> Any:
    """What to call for `function`: itself, its converted form, or something that knows symbols."""
    known = _builtins.get(id(function))
    if known is not None:
        if recording() is None or id(function) in frames.BUILTINS:
            return known
        through = any(function is each for each in _WALKS)
        return functools.partial(_of_parts if through else _of_either, known)
    if type(function) is OneOf:
        return functools.partial(_call_either, function)
    if not _is_active():
        return function
    converted = converted_callee(function)
    if converted is not function:
        return converted
    recorder = recording()
    if recorder is None:  # in a graph by hand, which nobody could begin anew
        if id(function) in _joins():
            return functools.partial(_join, function)
        calls_back = getattr(function, "__module__", None) in _CALL_BACK or _takes_blocks(function)
        return functools.partial(_with_blocks, function) if calls_back else function
    if any(function is each for each in _FRAME):
        return function
    if isinstance(function, type):
        convert_operators(function)
        return functools.partial(_construct, function)
    if isinstance(function, functools.partial):
        inner = call(function.func)
        return functools.partial(inner, *function.args, **function.keywords)
    known = storing(function)
    if known is not None:
        return known
    if isinstance(function, weakref.ref):
        recorder.note(place := ReferentLocation(function), place.read())
    if isinstance(owner := getattr(function, "__self__", None), contextvars.ContextVar):
        recorder.note(value := ContextLocation(owner), value.read())
    if isinstance(owner, _RANDOM):
        here = mark()
        if here is not None:
            recorder.random_calls.append(here)
    return functools.partial(_foreign, function)


def _is_active() -> bool:
    """Whether ops are being written down: only then does it matter whose code runs."""
    return journal() is not None or bool(_holdfast.is_tracing())


def _call_either(function: OneOf, *args: Any, **kwargs: Any) -> Any:
    return each_way(function, lambda each: call(each)(*args, **kwargs), "the choice of a call")


def _of_either(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls what does not know of objects that are one of several, with each of them."""
    one = one_of_in((args, kwargs))
    if one is None:
        return function(*args, **kwargs)

    def use(thing: Any) -> Any:
        given, named = with_thing((args, kwargs), one, thing)
        copies = [(each, each.copy()) for each in parts_of((given, named)) if type(each) is list]
        made = _of_either(function, *given, **named)
        if not all(same_parts(*each) for each in copies):
            one.hf_refuse()  # it changed a copy
        return made

    return each_way(one, use, "the choice of a call")


_WALKS = (enumerate, zip, reversed, iter, map, filter)


def _of_parts(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The same for what goes through the parts of containers later."""
    return function(*map(_parts, args), **{name: _parts(each) for name, each in kwargs.items()})


def _parts(value: Any) -> Any:
    if type(value) is not OneOf or callable(value.hf_things[0]):
        return value
    return spread(value)


# Written in C, they call what they are given: `map`, `sorted`, `functools.reduce`, `accumulate`.
_CALL_BACK = {"builtins", "functools", "_functools", "itertools"}
_CALL_FIRST = (map, filter, functools.reduce, itertools.starmap)


def _called_back(value: Any) -> Any:
    """What C code is given in place of a function of the user's."""
    if type(value) is OneOf:
        return functools.partial(_call_either, value)
    if isinstance(value, (types.FunctionType, types.MethodType)):
        return converted_callee(value)
    return storing(value) or value if isinstance(value, types.BuiltinMethodType) else value


_LOOPS = {"foldl", "foldr", "map_fn", "scan", "vectorized_map", "while_loop"}
_CHOICES = {"case", "cond", "switch_case"}


def _takes_blocks(function: Any) -> bool:
    """Whether it is a function of ours that calls what it is given."""
    name = getattr(function, "__name__", None)
    if name not in _LOOPS | _CHOICES:
        return False
    package = __package__.partition(".")[0]
    spaces = (sys.modules.get(package), sys.modules.get(f"{package}.compat.v1"))
    return any(function is getattr(space, name, None) for space in spaces if space is not None)


def _with_blocks(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls what calls back, with functions of the user's converted."""
    given = {name: _blocks(value) for name, value in kwargs.items()}
    return function(*map(_blocks, args), **given)


def _blocks(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_blocks, value))
    if type(value) is dict:
        return {key: _blocks(part) for key, part in value.items()}
    return _called_back(value)


# They look at what they get, not into it.
_INCURIOUS = {id(each) for each in (isinstance, issubclass, type, id, callable, print, repr)}


def _foreign(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls what is not converted: it may read all of the containers that it gets."""
    if any(function is each for each in _CALL_FIRST) and args and type(args[0]) is OneOf:
        args = (_called_back(args[0]), *args[1:])
    if any(function is each for each in _WALKS):
        args = tuple(map(_parts, args))
    if function is not print and one_of_in((args, kwargs)) is not None:
        return _of_either(functools.partial(_foreign, function), *args, **kwargs)
    if id(function) not in _INCURIOUS:
        args = tuple(map(current, args))
        kwargs = {name: current(value) for name, value in kwargs.items()}
        for value in (*args, *kwargs.values()):
            looked_through(value)
        if takes_apart(function):
            look_into(*args, *kwargs.values())
        if getattr(function, "__module__", None) in _CALL_BACK:
            args = tuple(map(_called_back, args))
            if function in _CALL_FIRST:  # it may be an object with a `__call__`
                args = (converted_callee(args[0]), *args[1:]) if args else args
            kwargs = {name: _called_back(value) for name, value in kwargs.items()}
    look = watched(function, args, kwargs) if id(function) not in _INCURIOUS else None
    try:
        given = _join(function, *args, **kwargs)
    except TypeError as error:
        _explain(function, (*args, *kwargs.values()), error)
        raise
    if look is not None:
        look()
    now = journal()
    if now is not None and sys.getrefcount(given) == 2:  # nobody else knows it: it is new
        now.note_made(given)
    return given


def _explain(function: Any, given: tuple[Any, ...], error: TypeError) -> None:
    """NumPy says in its own words that a size or a bound is no number: E0204 says which."""
    ours = isinstance(error, DiagnosticError)
    if ours or (getattr(function, "__module__", None) or "").partition(".")[0] != "numpy":
        return
    symbol = next((leaf for each in given for leaf in leaves(each) if is_symbol(leaf)), None)
    if symbol is not None:
        numpy_calls.refuse(symbol)


def _join(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls a function that may join the tensors of a list of the graph."""
    name = _joins().get(id(function)) if args and isinstance(args[0], StagedList) else None
    if name is None:
        return function(*args, **kwargs)
    return joined(name, args[0], kwargs.get("axis", args[1] if len(args) > 1 else 0))


def _construct(kind: Any, *args: Any, **kwargs: Any) -> Any:
    """Makes an object; the user's own `__init__` is converted."""
    for name in ("__new__", "__init__"):
        note_defined(kind, name)
    plain = type(kind).__call__ is type.__call__ and kind.__new__ in PLAIN_NEW
    if not plain or converted_callee(kind.__init__) is kind.__init__:
        return _foreign(kind, *args, **kwargs)
    made = fresh(kind.__new__(kind))
    converted_callee(kind.__init__)(made, *args, **kwargs)
    return made


@functools.cache
def _joins() -> dict[int, str]:
    """The functions that take a list of tensors and join them, by identity."""
    package = sys.modules[__package__.partition(".")[0]]
    names = {"stack": "stack", "concat": "concat", "add_n": "add_n"}
    return {id(getattr(package, name)): kind for name, kind in names.items()}


def method(holder: Any, name: str) -> Any:
    """What to call for `holder.name(...)`."""
    holder = current(holder)
    if type(holder) is OneOf:
        return functools.partial(_method_of_either, holder, name)
    if isinstance(holder, CONTAINERS) and journal() is not None:
        kind = type(holder)
        inherited = getattr(kind, name, None)
        if not isinstance(inherited, types.FunctionType):
            changed = changing(holder, name)
            if changed is not None:
                return changed
            if name in ASK_ALL:
                looked_through(holder)
            elif name in ("get", "__getitem__"):
                return functools.partial(_get, holder, name)
    return call(attribute(holder, name))


def _method_of_either(one: OneOf, name: str, *args: Any, **kwargs: Any) -> Any:
    def use(each: Any) -> Any:
        return method(each, name)(*args, **kwargs)

    return each_way(one, use, f"the choice of `.{name}()`")


def _get(container: Any, name: str, key: Any, *default: Any) -> Any:
    recorder = recording()
    if recorder is not None and not is_symbol(key):
        recorder.note_item(container, key)
    return getattr(container, name)(key, *default)


# `with`.


class _Managed:
    """A context manager whose methods are the user's own code."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def __enter__(self) -> Any:
        return converted_callee(type(self._manager).__enter__)(self._manager)

    def __exit__(self, *raised: object) -> Any:
        return converted_callee(type(self._manager).__exit__)(self._manager, *raised)


def managed(manager: Any) -> Any:
    """What a `with` statement enters."""
    if type(manager) is OneOf:
        manager.hf_refuse()
    if not _is_active():
        return manager
    for name in ("__enter__", "__exit__"):
        note_special(manager, name)
    methods = [getattr(type(manager), name, None) for name in ("__enter__", "__exit__")]
    if None in methods or all(converted_callee(each) is each for each in methods):
        return manager
    return _Managed(manager)


# Builtins that meet symbols.


def _len(value: Any) -> Any:
    value = current(value)
    if is_symbol(value):
        size = value.shape[0] if value.shape.rank else None
        if size is not None:
            return size
        return registry.function("shape")(value)[0]
    recorder = recording()
    if recorder is not None and isinstance(value, CONTAINERS):
        recorder.note_length(value)
    if isinstance(value, iterables.Staged):
        return value.length()
    own = own_method(value, "__len__")
    return len(value) if own is None else own()


def _getattr(holder: Any, name: str, *default: Any) -> Any:
    try:
        return attribute(holder, name)
    except AttributeError:
        if not default:
            raise
    recorder = recording()
    if recorder is not None and not isinstance(holder, (types.ModuleType, type)):
        location = AttributeLocation(holder, name)
        recorder.note(location, location.read())
    return default[0]


def _hasattr(holder: Any, name: str) -> bool:
    missing = object()
    refuse_presence(holder, AttributeLocation(holder, name).key)
    return _getattr(holder, name, missing) is not missing


def _setattr(holder: Any, name: str, value: Any) -> None:
    attribute_place(holder, name).value = value


def _delattr(holder: Any, name: str) -> None:
    del attribute_place(holder, name).value


def _extreme(python: Callable[..., Any], path: str) -> Callable[..., Any]:
    def choose(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and _is_row(args[0]):
            return registry.function(f"reduce_{python.__name__}")(args[0], 0)
        if len(args) == 1 and not kwargs and not isinstance(args[0], _holdfast.Tensor):
            values = looked_through(args[0])
            if isinstance(values, StagedList):
                return registry.function(f"reduce_{python.__name__}")(values.stack(), 0)
            args = tuple(iterated(values))
            if len(args) < 2:
                return python(args)
        if len(args) > 1 and not kwargs and any(map(is_symbol, args)):
            return functools.reduce(registry.function(path), args)
        if kwargs.keys() == {"key"} and kwargs["key"] is not None:
            values = args[0] if len(args) == 1 else args
            known = None if is_symbol(values) else list(iterated(values))
            if known is not None:
                return first_by(python, known, call(kwargs["key"]))
        args = tuple(map(looked_through, args))
        return python(*args, **kwargs)

    return choose


def _is_row(value: Any) -> bool:
    """Whether a value is a symbol with elements, so many that Python could walk through them."""
    return is_symbol(value) and value.shape.rank == 1 and bool(value.shape.as_list()[0])


def _sum(values: Any, start: Any = 0) -> Any:
    if isinstance(values, Chosen):
        return sum_of(values, start)
    values = looked_through(values)
    if not isinstance(values, StagedList):
        return sum(iterated(values), start)
    total = registry.function("reduce_sum")(values.stack(), 0)
    return total if isinstance(start, int) and start == 0 else start + total


def _quantified(python: Callable[..., Any], path: str) -> Callable[..., Any]:
    def ask(values: Any) -> Any:
        if is_symbol(values):
            return python(values)  # it says why not
        if isinstance(values, Chosen):
            return quantified(values, python is all)
        known = list(iterated(values))
        if not any(map(is_symbol, known)):
            return python(known)
        decided = [value if is_symbol(value) else bool(value) for value in known]
        return functools.reduce(registry.function(path), decided)

    return ask


def _sorted(values: Any, /, *, key: Any = None, reverse: bool = False) -> Any:
    values = looked_through(values)
    if isinstance(values, StagedList):
        return sorted(values, key=key, reverse=reverse)
    known = list(iterated(values))
    return fresh(in_order(known, None if key is None else call(key), reverse))


def _next(iterator: Any, *default: Any) -> Any:
    return next(moving(iterator), *default)


def _vars(*holder: Any) -> Any:
    return attribute(holder[0], "__dict__") if len(holder) == 1 else vars(*holder)


def _callable(value: Any) -> bool:
    note_special(value, "__call__")
    return callable(value)


def _type(*given: Any, **keywords: Any) -> Any:
    if len(given) > 1:
        return _construct(type, *given, **keywords)
    note_class(*given)
    return type(*given, **keywords)


def _isinstance(value: Any, kinds: Any) -> Any:
    note_class(value)
    there, none = isinstance(value, kinds), isinstance(None, kinds)
    if there == none or perhaps_of(value) is None:
        return there
    return is_none(value) if none else not_(is_none(value))


_builtins: dict[int, Any] = {
    id(operator.setitem): put_item,
    id(operator.delitem): delete_item,
    id(vars): _vars,
    id(next): _next,
    id(sorted): _sorted,
    id(isinstance): _isinstance,
    id(callable): _callable,
    id(type): _type,
    id(sum): _sum,
    id(len): _len,
    id(range): iterables.range_,
    id(enumerate): iterables.enumerate_,
    id(zip): iterables.zip_,
    id(getattr): _getattr,
    id(hasattr): _hasattr,
    id(setattr): _setattr,
    id(delattr): _delattr,
    id(all): _quantified(all, "logical_and"),
    id(any): _quantified(any, "logical_or"),
    id(max): _extreme(max, "maximum"),
    id(min): _extreme(min, "minimum"),
    **frames.BUILTINS,
}


# `is`, `in` and `assert`.


def is_(value: Any, other: Any) -> Any:
    """`value is other`."""
    if value is None or other is None:
        return is_none(other if value is None else value)
    if type(value) is OneOf:
        return each_way(value, lambda each: is_(each, other), "the choice of `is`")
    if type(other) is OneOf:
        return is_(other, value)
    return is_same(current(value), current(other))


def is_none(value: Any) -> Any:
    """`value is None`: of what may be None, the graph is asked."""
    _, there = sides_of(value)
    return not_(there)


def equals_none(value: Any) -> Any:
    """`value == None`."""
    return value == None if perhaps_of(value) is None else is_none(value)


def contains(value: Any, container: Any) -> Any:
    """`value in container`."""
    if type(value) is OneOf or type(container) is OneOf:
        return decided(_of_either(contains, value, container))
    container = current(container)
    recorder = recording()
    if recorder is not None and isinstance(container, CONTAINERS):
        if isinstance(container, (dict, set)) and not is_symbol(value):
            refuse_presence(container, ItemLocation(container, value).key)
            recorder.note_item(container, value)
        else:
            recorder.note_whole(container)
    own = own_method(container, "__contains__")
    if own is not None:
        return decided(own(value))
    if isinstance(container, StagedList):
        return container.holds(value)
    if isinstance(container, (list, tuple)):
        if perhaps_of(value) is not None and any(each is None for each in container):
            others = [each for each in container if each is not None]
            return or_(is_none(value), lambda: contains(reread(value), others))
        if any(each is value for each in container) or any(
            is_same(each, value) for each in container
        ):
            return True
        if any(map(is_symbol, (value, *container))):
            return _quantified(any, "logical_or")([each == value for each in container])
    return value in container


def lacks(value: Any, container: Any) -> Any:
    """`value not in container`."""
    return not_(contains(value, container))


def assert_(condition: Any, message: Callable[[], Any]) -> None:
    """The statement."""
    taken = decided(condition)
    if isinstance(taken, bool):
        if not taken:
            text = message()
            raise AssertionError if text is None else AssertionError(text)
        return
    said = message()
    Assert(taken, [] if said is None else [said])
