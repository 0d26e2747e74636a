"""`tf.Module`: a named thing that finds its variables by looking at its own attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from .. import nest
from .._graphs.name_scope import name_scope, scoped
from .variable import Variable

__all__ = ["Module"]

# Where a word of a class's name begins: after small letters, and at the last of several capitals.
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])")

_F = TypeVar("_F", bound=Callable[..., Any])


def _leaves(value: Any) -> Iterator[Any]:
    """The leaves of an attribute; dicts whose keys have no order are walked as they were filled."""
    if isinstance(value, Mapping):
        try:
            keys = sorted(value)
        except TypeError:
            keys = list(value)
        for key in keys:
            yield from _leaves(value[key])
    elif nest.is_nested(value):
        for part in value if isinstance(value, (list, tuple)) else nest.flatten(value):
            yield from _leaves(part)
    else:
        yield value


def _unheard(obj: Any, name: str, value: Any) -> None:
    """Nobody listens."""


_note_store: Callable[[Any, str, Any], None] = _unheard


def set_store_listener(listener: Callable[[Any, str, Any], None]) -> None:
    """Says who hears of each `module.name = value` before it happens."""
    global _note_store
    _note_store = listener


class Module:
    """Base of objects that hold variables and other modules."""

    _IGNORED: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = "_".join(_WORD_BEGINS.split(type(self).__name__)).lower()
        elif not name.isidentifier():
            raise ValueError(f"{name!r} is no name for a module: it has to be a Python identifier")
        self._name = name
        self._scope_name = scoped(name) + "/"

    # Calls of a trace store without it (`_tracing/records.py`): there is nobody to tell.
    def __setattr__(self, name: str, value: Any) -> None:
        _note_store(self, name, value)  # a trace performs the store again at each call
        super().__setattr__(name, value)

    @property
    def name(self) -> str:
        """The name, as given or made from the class's."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The scope in which this module names its variables."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables of this module and of those it holds."""
        return tuple(self._flatten(lambda leaf: isinstance(leaf, Variable)))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those variables that are trainable."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """Those variables that are not trainable."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules that this one holds, at any depth."""
        return tuple(self._flatten(lambda leaf: isinstance(leaf, Module)))

    def _flatten(self, wanted: Callable[[Any], bool]) -> Iterator[Any]:
        seen = {id(self)}
        modules: list[Any] = [self]
        while modules:
            module = modules.pop(0)
            found: list[Any] = []
            for key in sorted(vars(module)):
                if key in type(module)._IGNORED:
                    continue
                for leaf in _leaves(vars(module)[key]):
                    if id(leaf) in seen:
                        continue
                    if wanted(leaf):
                        seen.add(id(leaf))
                        yield leaf
                    if isinstance(leaf, Module):
                        seen.add(id(leaf))
                        found.append(leaf)
            modules[:0] = found  # the parts of a part come before what stands beside it

    @classmethod
    def with_name_scope(cls, method: _F) -> _F:
        """Decorates a method so that it runs in the module's name scope."""

        @functools.wraps(method)
        def scoped_method(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped_method  # type: ignore[return-value]
