"""A dataset as an argument of a traced function: one trace serves all of one element spec."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._tensors.symbols import is_symbol
from .iterator import kind_of

__all__ = ["DatasetArgument"]


class DatasetArgument:
    """What a function is traced for and called with in place of a dataset."""

    def __init__(self, said: _Said, carrier: Any) -> None:
        self._said, self._carrier = said, carrier

    @classmethod
    def of(cls, dataset: Any) -> DatasetArgument:
        """That of a dataset."""
        said = _Said(kind_of(dataset), dataset._options)
        return cls(said, _holdfast.data_carrier(dataset))

    def __tf_flatten__(self) -> tuple[Any, tuple[Any]]:
        return (self._said,), (self._carrier,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Any:
        (said,), (carrier,) = metadata, components
        if not is_symbol(carrier):
            return cls(said, carrier)
        made = _holdfast.data_argument(carrier, said.kind.promised)
        made._template, made._options = said.kind.template, said.options
        return made


class _Said:
    """What a trace knows of it: the specs of its elements, and its options."""

    def __init__(self, kind: Any, options: Any) -> None:
        self.kind, self.options = kind, options
        self._words = repr(options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Said) and self.kind == other.kind and self._words == other._words

    def __hash__(self) -> int:
        return hash((self.kind, self._words))
