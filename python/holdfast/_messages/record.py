"""Frozen dataclasses that cost nothing to define.

`dataclass(frozen=True, slots=True)` compiles half a dozen functions for each class, which takes a
millisecond that every `import holdfast` would pay for. Records share theirs, and are dataclasses to
whoever asks.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar, NoReturn, Self, dataclass_transform

__all__ = ["Record"]


class _Fields(type):
    """Makes slots of the annotated names of a class, and defaults of their values."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], space: dict[str, Any], **kwargs: Any
    ) -> Any:
        annotated = space.get("__annotations__", {})
        fields = tuple(key for key, kind in annotated.items() if not kind.startswith("ClassVar"))
        space["_DEFAULTS"] = {key: space.pop(key) for key in fields if key in space}
        space["_FIELDS"] = space["__slots__"] = space["__match_args__"] = fields
        return super().__new__(mcs, name, bases, space, **kwargs)


@functools.cache
def _dataclass_of(kind: type[Record]) -> type:
    """The dataclass that Python would make of the same fields."""
    from dataclasses import field, make_dataclass

    def described(key: str) -> Any:
        how: dict[str, Any] = {
            "repr": key not in kind._UNSHOWN,
            "compare": key not in kind._UNCOMPARED,
        }
        default = kind._DEFAULTS.get(key)
        if type(default) is dict:
            how["default_factory"] = default.copy
        elif key in kind._DEFAULTS:
            how["default"] = default
        return field(**how)

    fields = [(key, kind.__annotations__[key], described(key)) for key in kind._FIELDS]
    return make_dataclass(kind.__name__, fields, frozen=True)


class _AsDataclass:
    """What `dataclasses` looks for in a class; made when it is asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, obj: object, owner: type[Record]) -> Any:
        return getattr(_dataclass_of(owner), self._name)


def _frozen() -> type[AttributeError]:
    from dataclasses import FrozenInstanceError

    return FrozenInstanceError


@dataclass_transform(frozen_default=True)
class Record(metaclass=_Fields):
    """Base of classes that say their fields and no `__init__`."""

    _FIELDS: ClassVar[tuple[str, ...]]
    _DEFAULTS: ClassVar[dict[str, Any]]
    __dataclass_fields__: ClassVar[Any] = _AsDataclass()
    __dataclass_params__: ClassVar[Any] = _AsDataclass()
    _UNCOMPARED: ClassVar[tuple[str, ...]] = ()  # fields that do not count for equality
    _UNSHOWN: ClassVar[tuple[str, ...]] = ()  # fields that `repr` leaves out

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fields, kind = self._FIELDS, type(self).__name__
        if len(args) > len(fields):
            raise TypeError(f"{kind}() takes {len(fields)} values, got {len(args)}")
        given = dict(zip(fields, args, strict=False))
        for key in kwargs:
            if key in given or key not in fields:
                wrong = "gets it twice" if key in given else "has no such field"
                raise TypeError(f"{kind}() got {key!r}, and {wrong}")
        given |= kwargs
        for key in fields:
            if key not in given and key not in self._DEFAULTS:
                raise TypeError(f"{kind}() needs {key!r}")
            value = given[key] if key in given else self._DEFAULTS[key]
            # A default that can be changed is not shared.
            object.__setattr__(self, key, value.copy() if type(value) is dict else value)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise _frozen()(f"cannot assign to field {name!r} of a {type(self).__name__}")

    def __delattr__(self, name: str) -> NoReturn:
        raise _frozen()(f"cannot delete field {name!r} of a {type(self).__name__}")

    def as_dict(self) -> dict[str, Any]:
        """The fields by their names."""
        return {key: getattr(self, key) for key in self._FIELDS}

    def replaced(self, **changes: Any) -> Self:
        """Another one, with other values for some fields."""
        return type(self)(**self.as_dict() | changes)

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, k) for k in self._FIELDS if k not in self._UNCOMPARED)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __repr__(self) -> str:
        shown = (f"{k}={getattr(self, k)!r}" for k in self._FIELDS if k not in self._UNSHOWN)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, key) for key in self._FIELDS)
