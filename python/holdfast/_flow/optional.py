"""`tf.experimental.Optional`: a value that may not be there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._structures import nesting
from .._tensors.composite import Composite
from .._tensors.shape import TensorSpec
from ..errors import InvalidArgumentError

__all__ = ["NAMES", "Optional", "OptionalSpec"]


class OptionalSpec:
    """What is known of an `Optional`: the specs of its value."""

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of the value."""
        return self._element_spec

    @property
    def value_type(self) -> type[Any]:
        """The class of what this specifies."""
        return Optional

    @classmethod
    def from_value(cls, value: Optional) -> OptionalSpec:
        """The spec of an `Optional`."""
        return cls(value.element_spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OptionalSpec) and bool(self._element_spec == other._element_spec)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"OptionalSpec({self._element_spec!r})"


class Optional:
    """A value, or none: what the end of an iterator is without an error."""

    def __init__(self, spec: Any, there: Any, value: Callable[[], Any]) -> None:
        self._spec, self._there, self._value = spec, there, value

    @staticmethod
    def from_value(value: Any) -> Optional:
        """One that has a value."""
        flat = nesting.flatten(value, whole=True)
        kept = [v if isinstance(v, Composite) else _holdfast.convert(v) for v in flat]
        specs = [
            v._type_spec if isinstance(v, Composite) else TensorSpec(v.shape, v.dtype) for v in kept
        ]
        whole = nesting.pack_sequence_as(value, kept, whole=True)
        spec = nesting.pack_sequence_as(value, specs, whole=True)
        return Optional(spec, _holdfast.convert(True), lambda: whole)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """One that has none."""
        return Optional(element_spec, _holdfast.convert(False), _refuse)

    def has_value(self, name: str | None = None) -> Any:
        """Whether there is a value, as a bool scalar."""
        return self._there

    def get_value(self, name: str | None = None) -> Any:
        """The value; an error where there is none."""
        return self._value()

    @property
    def element_spec(self) -> Any:
        """The specs of the value."""
        return self._spec

    def __repr__(self) -> str:
        return f"<Optional element_spec={self._spec!r}>"


def _refuse() -> Any:
    raise InvalidArgumentError(None, None, "The given optional does not have a value.")


NAMES = {
    "experimental.Optional": Optional,
    "OptionalSpec": OptionalSpec,
}
