"""Values of a Python list as the rows of one tensor, where the graph chooses among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._tensors import registry
from .._tensors.symbols import is_symbol
from .state import as_tensor, is_tensor, is_tensorish, spec_of

__all__ = ["chooses", "go_together", "row_at", "stacked"]


def go_together(values: Sequence[Any]) -> bool:
    """Whether values can be rows of one tensor: tensors alike, or numbers of one class."""
    if not all(map(is_tensorish, values)):
        return False
    tensors = [each for each in values if is_tensor(each)]
    if len(tensors) < len(values):
        return not tensors and len(set(map(type, values))) == 1
    return all(spec_of(each) == spec_of(tensors[0]) for each in tensors)


def stacked(values: Sequence[Any]) -> Any:
    """Values that go together, as one tensor."""
    return registry.function("stack")([as_tensor(each) for each in values])


def chooses(index: Any) -> bool:
    """Whether an index is one number that the graph knows."""
    return is_symbol(index) and index.dtype.is_integer and index.shape.rank == 0


def row_at(values: Sequence[Any], index: Any) -> Any:
    """`values[index]` of values that go together; from the end, where the index is below 0."""
    from_begin = registry.function("where")(index < 0, index + len(values), index)
    return registry.function("gather")(stacked(values), from_begin)
