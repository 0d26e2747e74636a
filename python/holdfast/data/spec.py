"""`tf.data.DatasetSpec`: what is known of a dataset that is part of an element."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._tensors.shape import TensorShape, TensorSpec
from ..errors import fail

__all__ = ["DatasetSpec", "IteratorSpec"]


class _OfElements:
    """A spec that says what the elements of something are."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of an element."""
        return self._element_spec

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether what this specifies may have the elements of `spec_or_value`."""
        return hasattr(spec_or_value, "element_spec") and _fits(
            self._element_spec, spec_or_value.element_spec
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether all that this specifies is what `other` specifies too."""
        return type(other) is type(self) and _is_part(self._element_spec, other._element_spec)

    def most_specific_common_supertype(self, others: Any) -> Any:
        """The spec of what this and all of `others` specify; None where there is none."""
        found = self._element_spec
        for other in others:
            joined = _joined(found, other._element_spec) if type(other) is type(self) else None
            if joined is None:
                return None
            found = joined
        return type(self)(found)

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The same of two."""
        found = self.most_specific_common_supertype([other])
        if found is None:
            fail("E1104", f"{self!r} and {other!r} have nothing in common")
        return found

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, _OfElements)
        return bool(self._element_spec == other._element_spec)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._element_spec,)


class DatasetSpec(_OfElements):
    """What is known of a dataset: the specs of its elements."""

    __slots__ = ()

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        super().__init__(element_spec)
        if TensorShape(dataset_shape).rank != 0:
            fail("E1105", f"`dataset_shape` is {dataset_shape!r}, and datasets stand alone here")

    @property
    def value_type(self) -> type[Any]:
        """The class of what this specifies."""
        return _holdfast.DatasetBase

    @classmethod
    def from_value(cls, value: Any) -> DatasetSpec:
        """The spec of a dataset."""
        return cls(value.element_spec)

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, TensorShape([]))"


class IteratorSpec(_OfElements):
    """What is known of an iterator: the specs of the elements that it gives."""

    __slots__ = ()

    @property
    def value_type(self) -> type[Any]:
        """The class of what this specifies."""
        return _holdfast.DatasetIteratorBase

    @classmethod
    def from_value(cls, value: Any) -> IteratorSpec:
        """The spec of an iterator."""
        return cls(value.element_spec)

    def __repr__(self) -> str:
        return f"IteratorSpec({self._element_spec!r})"


def _fits(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return (
            isinstance(b, tuple)
            and len(a) == len(b)
            and all(_fits(x, y) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_fits(a[k], b[k]) for k in a)
    if isinstance(a, (TensorSpec, _OfElements)):
        return a.is_compatible_with(b)
    return bool(a == b)


def _is_part(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return (
            type(a) is type(b)
            and len(a) == len(b)
            and all(_is_part(x, y) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_is_part(a[k], b[k]) for k in a)
    return bool(a.is_subtype_of(b) if hasattr(a, "is_subtype_of") else a == b)


def _joined(a: Any, b: Any) -> Any:
    """What covers both structures; None where nothing does."""
    if isinstance(a, tuple) and type(a) is type(b) and len(a) == len(b):
        items = [_joined(x, y) for x, y in zip(a, b, strict=True)]
        if any(each is None for each in items):
            return None
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        entries = {key: _joined(a[key], b[key]) for key in a}
        return None if any(each is None for each in entries.values()) else entries
    if type(a) is type(b) and hasattr(a, "most_specific_common_supertype"):
        return a.most_specific_common_supertype([b])
    return a if a == b else None
