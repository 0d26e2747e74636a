"""Messages of Protocol Buffers, as far as TensorFlow's examples need them.

A message knows its fields by a table. Reading a field that is not set gives an empty value, and
setting anything inside of that value sets the field, as in every such message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, ClassVar, NoReturn, Self, SupportsIndex

from .. import _holdfast
from ..errors import fail

__all__ = ["Field", "MapOf", "Message", "Repeated", "RepeatedMessages"]


class Field:
    """One field: its number, what an unset one holds, and the other fields that it excludes."""

    def __init__(self, number: int, make: Callable[[], Any], one_of: str = "") -> None:
        self.number, self.make, self.one_of = number, make, one_of


class _Held:
    """What a message holds: whoever changes it tells the message."""

    _holder: Message | None = None
    _name = ""

    def _is_empty(self) -> bool:
        """Whether it is as good as not there: a list or a map without entries."""
        return not isinstance(self, Message) and len(self) == 0  # type: ignore[arg-type]

    def _changed(self) -> None:
        if self._holder is not None:
            self._holder._set_by(self._name, self)


class Message(_Held):
    """A message; subclasses say their fields."""

    FIELDS: ClassVar[dict[str, Field]] = {}

    def __init__(self, **fields: Any) -> None:
        self._values: dict[str, Any] = {}
        for name, value in fields.items():
            if name not in self.FIELDS:
                raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
            if value is not None:
                getattr(self, name)._assign(value)

    def __getattr__(self, name: str) -> Any:
        field = type(self).FIELDS.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = self._values.get(name)
        if found is None:
            found = field.make()
            found._holder, found._name = self, name
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.FIELDS:
            raise AttributeError(
                f'Assignment not allowed to message, map, or repeated field "{name}" in protocol '
                f"message object. Use its methods, or `CopyFrom`."
            )
        super().__setattr__(name, value)

    def _set_by(self, name: str, value: Any) -> None:
        group = self.FIELDS[name].one_of
        if group:
            for other, field in self.FIELDS.items():
                if other != name and field.one_of == group:
                    self._values.pop(other, None)
        self._values[name] = value
        self._changed()

    def _assign(self, value: Any) -> None:
        if isinstance(value, dict):
            value = type(self)(**value)
        if not isinstance(value, type(self)):
            raise TypeError(
                f"a field of the kind {type(self).__name__} was given {type(value).__name__}"
            )
        self.MergeFrom(value)
        self._changed()

    # -- bytes

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:
        """The message as bytes, entries of maps by their keys."""
        return b"".join(
            field_bytes
            for name, field in self.FIELDS.items()
            if name in self._values
            for field_bytes in self._values[name]._encoded(field.number)
        )

    SerializePartialToString = SerializeToString

    def ByteSize(self) -> int:
        """How many bytes `SerializeToString` gives."""
        return len(self.SerializeToString())

    def _encoded(self, number: int) -> Iterator[bytes]:
        yield _holdfast.wire_field(number, self.SerializeToString())

    def MergeFromString(self, serialized: bytes) -> int:
        """Adds what bytes hold."""
        if not isinstance(serialized, bytes):
            serialized = bytes(serialized)
        found = _holdfast.wire_fields(serialized)
        if found is None:
            self._refuse_bytes()
        by_number = {field.number: name for name, field in self.FIELDS.items()}
        for number, value in found:
            name = by_number.get(number)
            if name is not None:
                getattr(self, name)._decode(value, self)
        return len(serialized)

    def ParseFromString(self, serialized: bytes) -> int:
        """Becomes what bytes hold."""
        self.Clear()
        return self.MergeFromString(serialized)

    @classmethod
    def FromString(cls, serialized: bytes) -> Self:
        """The message that bytes hold."""
        made = cls()
        made.MergeFromString(serialized)
        return made

    def _decode(self, value: bytes, within: Message) -> None:
        self.MergeFromString(value)
        self._changed()

    def _refuse_bytes(self) -> NoReturn:
        fail(
            "E1302",
            f"the bytes are no {type(self).__name__}",
            "they end too early, or fields are of other kinds than in such a message",
        )

    # -- fields

    def HasField(self, field_name: str) -> bool:
        """Whether a field is set."""
        self._known(field_name)
        return field_name in self._values

    def WhichOneof(self, oneof_group: str) -> str | None:
        """The field of a group that is set."""
        if not any(field.one_of == oneof_group for field in self.FIELDS.values()):
            raise ValueError(f"{type(self).__name__} has no group of fields {oneof_group!r}")
        return next(
            (name for name in self._values if self.FIELDS[name].one_of == oneof_group), None
        )

    def ClearField(self, field_name: str) -> None:
        """Unsets a field."""
        self._known(field_name)
        self._values.pop(field_name, None)
        self._changed()

    def _known(self, name: str) -> None:
        if name not in self.FIELDS:
            raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')

    def Clear(self) -> None:
        """Unsets all fields."""
        self._values = {}
        self._changed()

    def ListFields(self) -> list[tuple[str, Any]]:
        """The fields that are set: names and values."""
        return [
            (name, self._values[name])
            for name in self.FIELDS
            if name in self._values and not self._values[name]._is_empty()
        ]

    def MergeFrom(self, other: Self) -> None:
        """Adds the fields of another one."""
        for name, value in other.ListFields():
            getattr(self, name)._merge(value)
        self._changed()

    _merge = MergeFrom

    def CopyFrom(self, other: Self) -> None:
        """Becomes equal to another one."""
        if other is not self:
            self.Clear()
            self.MergeFrom(other)

    def SetInParent(self) -> None:
        """Sets the field that this message is."""
        self._changed()

    def IsInitialized(self) -> bool:
        """Always: no field is required."""
        return True

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.ListFields() == other.ListFields()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = type(self)()
        made.CopyFrom(self)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).FromString, (self.SerializeToString(),)

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        for name, value in self.ListFields():
            yield from value._text(name)

    def _text(self, name: str) -> Iterator[str]:
        yield f"{name} {{"
        yield from (f"  {line}" for line in self._lines())
        yield "}"


class Repeated(_Held, list[Any]):
    """A list of values of one kind: 1 bytes, 2 floats, 3 integers."""

    def __init__(self, kind: int, check: Callable[[Any], Any], text: Callable[[Any], str]) -> None:
        super().__init__()
        self._kind, self._check, self._as_text = kind, check, text

    def append(self, value: Any) -> None:
        """Adds a value."""
        super().append(self._check(value))
        self._changed()

    def extend(self, values: Iterable[Any]) -> None:
        """Adds values."""
        super().extend([self._check(each) for each in values])
        self._changed()

    MergeFrom = extend

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """Puts a value before another one."""
        super().insert(index, self._check(value))
        self._changed()

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            super().__setitem__(index, [self._check(each) for each in value])
        else:
            super().__setitem__(index, self._check(value))
        self._changed()

    def __iadd__(self, values: Iterable[Any]) -> Self:  # type: ignore[misc]
        self.extend(values)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)

    def _assign(self, values: Any) -> None:
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise TypeError(f"a repeated field was given {values!r}, expected a list")
        self.extend(values)

    def _merge(self, other: Repeated) -> None:
        self.extend(other)

    def _encoded(self, number: int) -> Iterator[bytes]:
        yield _holdfast.wire_list(self._kind, list(self))

    def _text(self, name: str) -> Iterator[str]:
        return (f"{name}: {self._as_text(each)}" for each in self)


class RepeatedMessages(_Held, list[Any]):
    """A list of messages of one kind."""

    def __init__(self, make: Callable[..., Message]) -> None:
        super().__init__()
        self._make = make

    def add(self, **fields: Any) -> Any:
        """A new message at the end."""
        made = self._make(**fields)
        super().append(made)
        self._changed()
        return made

    def append(self, value: Any) -> None:
        """Adds a copy of a message."""
        made = self._make()
        made._assign(value)
        super().append(made)
        self._changed()

    def extend(self, values: Iterable[Any]) -> None:
        """Adds copies of messages."""
        for each in values:
            self.append(each)

    MergeFrom = extend

    def _assign(self, values: Iterable[Any]) -> None:
        self.extend(values)
        self._changed()

    def _merge(self, other: RepeatedMessages) -> None:
        self.extend(other)

    def _encoded(self, number: int) -> Iterator[bytes]:
        for each in self:
            yield _holdfast.wire_field(number, each.SerializeToString())

    def _decode(self, value: bytes, within: Message) -> None:
        self.add().MergeFromString(value)

    def _text(self, name: str) -> Iterator[str]:
        for each in self:
            yield from each._text(name)


class MapOf(_Held, MutableMapping[str, Any]):
    """Messages of one kind by text. One that is not there is made when it is read."""

    def __init__(self, make: Callable[..., Message]) -> None:
        self._make = make
        self._entries: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if not isinstance(key, str):
            raise TypeError(f"a key is {key!r}, expected a text")
        if key not in self._entries:
            self._entries[key] = self._make()
            self._changed()
        return self._entries[key]

    def get_or_create(self, key: str) -> Any:
        """The message of a key, made where there is none."""
        return self[key]

    def __setitem__(self, key: str, value: Any) -> None:
        raise ValueError("May not set values directly, call my_map[key].CopyFrom(value)")

    def __delitem__(self, key: str) -> None:
        del self._entries[key]
        self._changed()

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def get(self, key: str, default: Any = None) -> Any:
        """The message of a key; `default` where there is none."""
        return self._entries.get(key, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return repr(self._entries)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, MapOf):
            return self._entries == other._entries
        return self._entries == other

    __hash__ = None  # type: ignore[assignment]  # it changes

    def _assign(self, values: Any) -> None:
        for key, value in dict(values).items():
            self[key]._assign(value)
        self._changed()

    def _merge(self, other: MapOf) -> None:
        for key, value in other.items():
            self[key].CopyFrom(value)

    def _encoded(self, number: int) -> Iterator[bytes]:
        for key in sorted(self._entries):
            value = self._entries[key].SerializeToString()
            entry = _holdfast.wire_field(1, key.encode()) + _holdfast.wire_field(2, value)
            yield _holdfast.wire_field(number, entry)

    def _decode(self, value: bytes, within: Message) -> None:
        found = _holdfast.wire_fields(value)
        if found is None:
            within._refuse_bytes()
        parts = dict(found)
        try:
            key = parts.get(1, b"").decode()
        except UnicodeDecodeError:
            within._refuse_bytes()
        made = self._make()
        made.MergeFromString(parts.get(2, b""))
        self._entries[key] = made
        self._changed()

    def _text(self, name: str) -> Iterator[str]:
        for key in sorted(self._entries):
            yield f"{name} {{"
            yield f'  key: "{key}"'
            yield from (f"  {line}" for line in self._entries[key]._text("value"))
            yield "}"
