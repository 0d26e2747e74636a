"""Stages whose arguments are tensors of a graph: they are made when an iteration begins."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .. import _holdfast
from .._structures import nesting
from .._tensors.symbols import is_symbol
from .._variables.variable import Variable
from .probing import in_stage, is_probing
from .rebinding import rebound, symbols_in

__all__ = ["made_later"]


_F = TypeVar("_F", bound=Callable[..., Any])
_numbers = itertools.count(1)


def made_later(*names: str, functions: tuple[str, ...] = ()) -> Callable[[_F], _F]:
    """A stage, or a source, that is made of values once there are some.

    `names` are the arguments that may be tensors of a graph, `functions` those that may use such
    and are called with values. Such a stage is a `flat_map` over one element, which holds them and
    the dataset: its function gets their values.
    """

    def decorate(stage: _F) -> _F:
        signature = inspect.signature(stage)
        of_dataset = "self" in signature.parameters

        @functools.wraps(stage)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not _holdfast.is_tracing() or is_probing() or in_stage():
                return stage(*map(_read, args), **{key: _read(v) for key, v in kwargs.items()})
            given = signature.bind(*args, **kwargs)
            for name in names:
                if name in given.arguments:
                    given.arguments[name] = nesting.map_structure(_read, given.arguments[name])
            open_ = [name for name in names if _is_open(given.arguments.get(name))]
            code = [name for name in functions if symbols_in(given.arguments.get(name))]
            if not open_ and not code:
                return stage(*given.args, **given.kwargs)
            dataset = given.arguments["self"] if of_dataset else None
            return _later(stage, dataset, given, open_, code)

        return cast(_F, call)

    return decorate


def _read(value: Any) -> Any:
    """The value of a variable, as it is now."""
    return _holdfast.convert(value) if isinstance(value, Variable) else value


def _is_open(value: Any) -> bool:
    return value is not None and any(map(is_symbol, nesting.flatten(value)))


def _later(
    stage: Any, dataset: Any, given: inspect.BoundArguments, open_: list[str], code: list[str]
) -> Any:
    parts = {name: nesting.flatten(given.arguments[name]) for name in open_}
    used = {name: symbols_in(given.arguments[name]) for name in code}
    own = [leaf for flat in parts.values() for leaf in flat if is_symbol(leaf)]
    tensors = (*own, *(symbol for found in used.values() for symbol in found))
    which = next(_numbers)

    def make(values: Any, inner: Any = None) -> Any:
        # An iteration makes it once: a shuffle goes on in its next epoch.
        made = None if is_probing() else _holdfast.data_made_by(which)
        if made is None:
            made = fresh(values, inner)
            if not is_probing():
                _holdfast.data_keep(which, made)
        return made

    def fresh(values: Any, inner: Any) -> Any:
        # Iterations may begin on several threads: each has arguments of its own.
        now = inspect.BoundArguments(given.signature, OrderedDict(given.arguments))
        left = iter(values)
        for name, flat in parts.items():
            known = [next(left) if is_symbol(leaf) else leaf for leaf in flat]
            now.arguments[name] = nesting.pack_sequence_as(given.arguments[name], known)
        for name, found in used.items():
            known = [next(left) for _ in found]
            now.arguments[name] = rebound(given.arguments[name], found, known)
        if inner is not None:
            inner._template, inner._options = dataset._template, dataset._options
            now.arguments["self"] = inner
        return stage(*now.args, **now.kwargs)

    source: Any = sys.modules["holdfast"].data.Dataset
    whole = source.from_tensors((tensors,) if dataset is None else (tensors, dataset))
    return whole.flat_map(make)
