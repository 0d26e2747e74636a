"""`tf.__operators__`: what Python's operators do to tensors, as functions."""

from __future__ import annotations

from typing import Any

from .._graphs.name_scope import named_ops
from .._tensors.tensor import convert_to_tensor

__all__ = ["NAMES"]


@named_ops
def add(x: Any, y: Any, name: str | None = None) -> Any:
    """`x + y`; texts are put together."""
    return convert_to_tensor(x) + y


def eq(self: Any, other: Any) -> Any:
    """`self == other`, element by element; False where their shapes do not go together."""
    return convert_to_tensor(self) == other


def ne(self: Any, other: Any) -> Any:
    """`self != other`, element by element; True where their shapes do not go together."""
    return convert_to_tensor(self) != other


def getitem(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """`tensor[slice_spec]`; of `var`, the variable that `tensor` was read from, if it is given."""
    return (convert_to_tensor(tensor) if var is None else var)[slice_spec]


NAMES: dict[str, Any] = {f"__operators__.{f.__name__}": f for f in (add, eq, ne, getitem)}
