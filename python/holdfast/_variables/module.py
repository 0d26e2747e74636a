"""`tf.Module`: a named thing that finds its variables by looking at its own attributes.

The class is C++'s, `ModuleObject`, and so is the walk over what modules hold. Python adds what it
alone can see: the attributes.
"""

from __future__ import annotations

import copyreg
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, SupportsIndex, TypeVar

from .. import _holdfast
from .._graphs.name_scope import name_scope, scoped
from .._structures import nesting

__all__ = ["Module", "leaves"]

# Where a word of a class's name begins: after small letters, and at the last of several capitals.
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])")

_F = TypeVar("_F", bound=Callable[..., Any])


def leaves(value: Any, by_name: bool = True, around: tuple[int, ...] = ()) -> Iterator[Any]:
    """The leaves of an attribute; dicts whose keys have no order are walked as they were filled.

    A list that holds itself is walked once: `around` are those that the value is inside of.
    """
    if id(value) in around:
        return
    if isinstance(value, Mapping):
        try:
            keys = sorted(value) if by_name else list(value)
        except TypeError:
            keys = list(value)
        for key in keys:
            yield from leaves(value[key], by_name, (*around, id(value)))
    elif nesting.is_nested(value):
        for part in value if isinstance(value, (list, tuple)) else nesting.flatten(value):
            yield from leaves(part, by_name, (*around, id(value)))
    else:
        yield value


def _unheard(obj: Any, name: str, value: Any) -> None:
    """Nobody listens."""


_note_store: Callable[[Any, str, Any], None] = _unheard


def set_store_listener(listener: Callable[[Any, str, Any], None]) -> None:
    """Says who hears of each `module.name = value` before it happens."""
    global _note_store
    _note_store = listener


_note_kept: Callable[[Any, str, Any], None] = _unheard


def set_kept_listener(listener: Callable[[Any, str, Any], None]) -> None:
    """Says who hears of each `module.name = value` once it has happened."""
    global _note_kept
    _note_kept = listener


_heard: dict[str, Callable[[Any, str], None]] = {}


def set_method_listener(names: set[str], listener: Callable[[Any, str], None]) -> None:
    """Says who hears that an object was given an attribute that is a method of classes."""
    _heard.update(dict.fromkeys(names, listener))


def _parts(module: Any) -> list[_holdfast.Object]:
    """The variables and modules among the attributes of a module, by the attributes' names.

    Those of a layer stand in the order in which they were stored, as Keras has its weights.
    """
    attributes = getattr(module, "__dict__", {})
    ignored = getattr(type(module), "_IGNORED", ())
    by_name = not isinstance(module, _holdfast.LayerBase)
    return [
        leaf
        for key in (sorted(attributes) if by_name else list(attributes))
        if key not in ignored
        for leaf in leaves(attributes[key], by_name)
        if isinstance(leaf, _holdfast.Object)
    ]


def snake_case(name: str) -> str:
    """A class's name as the name of an object of it."""
    return "_".join(_WORD_BEGINS.split(name)).lower()


class Module(_holdfast.ModuleBase):
    """Base of objects that hold variables and other modules."""

    _IGNORED: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = snake_case(type(self).__name__)
        elif not name.isidentifier():
            raise ValueError(f"{name!r} is no name for a module: it has to be a Python identifier")
        self._name = name
        self._scope_name = scoped(name) + "/"

    # Calls of a trace store without it (`_tracing/records.py`): there is nobody to tell.
    def __setattr__(self, name: str, value: Any) -> None:
        _note_store(self, name, value)  # a trace performs the store again at each call
        super().__setattr__(name, value)
        _note_kept(self, name, value)
        if name in _heard:
            _heard[name](self, name)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        if name in _heard:
            _heard[name](self, name)

    @property
    def name(self) -> str:
        """The name, as given or made from the class's."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The scope in which this module names its variables."""
        return name_scope(self._scope_name)

    @classmethod
    def with_name_scope(cls, method: _F) -> _F:
        """Decorates a method so that it runs in the module's name scope."""

        @functools.wraps(method)
        def scoped_method(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped_method  # type: ignore[return-value]

    # Copies and files: the names are C++'s, the rest lies in attributes.

    def __getstate__(self) -> Any:
        state = dict(vars(self)) or None
        slots = {
            name: getattr(self, name)
            for name in copyreg._slotnames(type(self))  # type: ignore[attr-defined]
            if hasattr(self, name)
        }
        return (state, slots) if slots else state

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        made = super().__reduce_ex__(max(2, int(protocol)))
        if isinstance(made, str) or made[0] not in (
            copyreg.__newobj__,  # type: ignore[attr-defined]
            copyreg.__newobj_ex__,  # type: ignore[attr-defined]
        ):
            return made  # a class that says itself how it is made
        return _revive, (self._name, self._scope_name, made[0], *made[1]), *made[2:]


def _revive(name: str, scope_name: str, make: Callable[..., Any], *args: Any) -> Any:
    made = make(*args)
    made._name, made._scope_name = name, scope_name
    return made


_holdfast.set_class("Module", Module)
_holdfast.set_parts(_parts)
