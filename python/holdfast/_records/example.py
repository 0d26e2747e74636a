"""`tf.train.Example` and its parts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .. import _holdfast
from .message import Field, MapOf, Message, Repeated, RepeatedMessages

__all__ = ["NAMES"]


def _bytes(value: Any) -> bytes:
    if not isinstance(value, (bytes, bytearray)):
        raise TypeError(f"{value!r} has type {type(value).__name__}, but expected bytes")
    return bytes(value)


def _float(value: Any) -> float:
    if isinstance(value, (str, bytes)) or not hasattr(type(value), "__float__"):
        if not hasattr(type(value), "__index__"):
            raise TypeError(f"must be real number, not {type(value).__name__}")
        value = operator.index(value)
    with np.errstate(over="ignore"):
        return float(np.float32(float(value)))


def _int(value: Any) -> int:
    found = int(value) if isinstance(value, np.bool_) else operator.index(value)
    if not -(2**63) <= found < 2**63:
        raise ValueError(f"Value out of range: {found}")
    return found


_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


def _bytes_text(value: bytes) -> str:
    inside = "".join(
        _ESCAPES.get(each) or (chr(each) if 32 <= each < 127 else f"\\{each:03o}") for each in value
    )
    return f'"{inside}"'


def _float_text(value: float) -> str:
    for digits in range(6, 9):
        text = f"{value:.{digits}g}"
        if np.float32(text) == np.float32(value):
            return text
    return f"{value:.9g}"


class _List(Message):
    """A list of values, packed into one field."""

    KIND: ClassVar[int]

    def _decode(self, value: bytes, within: Message) -> None:
        # The other lists of a feature are let go, also where this one is empty.
        found = _holdfast.wire_values(self.KIND, value)
        if found is None:
            within._refuse_bytes()
        self.value.extend(found)
        self._changed()

    def MergeFromString(self, serialized: bytes) -> int:
        """Adds what bytes hold."""
        self._decode(bytes(serialized), self)
        return len(serialized)


def _values(kind: int, check: Callable[[Any], Any], text: Callable[[Any], str]) -> dict[str, Field]:
    return {"value": Field(1, lambda: Repeated(kind, check, text))}


class BytesList(_List):
    """A list of bytes."""

    KIND = 1
    FIELDS = _values(1, _bytes, _bytes_text)


class FloatList(_List):
    """A list of float32 numbers."""

    KIND = 2
    FIELDS = _values(2, _float, _float_text)


class Int64List(_List):
    """A list of int64 numbers."""

    KIND = 3
    FIELDS = _values(3, _int, str)


class Feature(Message):
    """One list, of one of three kinds."""

    FIELDS: ClassVar[dict[str, Field]] = {
        "bytes_list": Field(1, BytesList, "kind"),
        "float_list": Field(2, FloatList, "kind"),
        "int64_list": Field(3, Int64List, "kind"),
    }


class Features(Message):
    """Features by name."""

    FIELDS: ClassVar[dict[str, Field]] = {"feature": Field(1, lambda: MapOf(Feature))}


class FeatureList(Message):
    """One feature for each step of a sequence."""

    FIELDS: ClassVar[dict[str, Field]] = {"feature": Field(1, lambda: RepeatedMessages(Feature))}


class FeatureLists(Message):
    """Lists of features by name."""

    FIELDS: ClassVar[dict[str, Field]] = {"feature_list": Field(1, lambda: MapOf(FeatureList))}


class Example(Message):
    """What one record of a dataset holds."""

    FIELDS: ClassVar[dict[str, Field]] = {"features": Field(1, Features)}


class SequenceExample(Message):
    """An example with features for each step of a sequence."""

    FIELDS: ClassVar[dict[str, Field]] = {
        "context": Field(1, Features),
        "feature_lists": Field(2, FeatureLists),
    }


NAMES: dict[str, Any] = {
    f"train.{each.__name__}": each
    for each in (
        *(BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList),
        *(Int64List, SequenceExample),
    )
}
