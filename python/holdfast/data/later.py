"""Stages whose arguments are tensors of a graph: they are made when an iteration begins."""

from __future__ import annotations

import functools
import inspect
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .. import _holdfast
from .._structures import nesting
from .._tensors.symbols import is_symbol
from .probing import in_stage, is_probing

__all__ = ["made_later"]


_F = TypeVar("_F", bound=Callable[..., Any])


def made_later(*names: str) -> Callable[[_F], _F]:
    """A stage, or a source, that is made of values once there are some.

    `names` are the arguments that may be tensors of a graph. Such a stage is a `flat_map` over one
    element, which holds them and the dataset: its function gets their values.
    """

    def decorate(stage: _F) -> _F:
        signature = inspect.signature(stage)
        of_dataset = "self" in signature.parameters

        @functools.wraps(stage)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not _holdfast.is_tracing() or is_probing() or in_stage():
                return stage(*args, **kwargs)
            given = signature.bind(*args, **kwargs)
            open_ = [name for name in names if _is_open(given.arguments.get(name))]
            if not open_:
                return stage(*args, **kwargs)
            dataset = given.arguments["self"] if of_dataset else None
            return _later(stage, dataset, given, open_)

        return cast(_F, call)

    return decorate


def _is_open(value: Any) -> bool:
    return value is not None and any(map(is_symbol, nesting.flatten(value)))


def _later(stage: Any, dataset: Any, given: inspect.BoundArguments, open_: list[str]) -> Any:
    parts = {name: nesting.flatten(given.arguments[name]) for name in open_}
    tensors = tuple(leaf for flat in parts.values() for leaf in flat if is_symbol(leaf))

    def make(values: Any, inner: Any = None) -> Any:
        # Iterations may begin on several threads: each has arguments of its own.
        now = inspect.BoundArguments(given.signature, OrderedDict(given.arguments))
        left = iter(values)
        for name, flat in parts.items():
            known = [next(left) if is_symbol(leaf) else leaf for leaf in flat]
            now.arguments[name] = nesting.pack_sequence_as(given.arguments[name], known)
        if inner is not None:
            inner._template, inner._options = dataset._template, dataset._options
            now.arguments["self"] = inner
        return stage(*now.args, **now.kwargs)

    source: Any = sys.modules["holdfast"].data.Dataset
    whole = source.from_tensors((tensors,) if dataset is None else (tensors, dataset))
    return whole.flat_map(make)
