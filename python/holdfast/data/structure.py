"""Elements: tuples, dicts and named tuples of tensors. A list is a tensor, as TensorFlow has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._tensors.shape import TensorSpec
from ..errors import fail
from .spec import DatasetSpec

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "arguments",
    "holds_datasets",
    "map_leaves",
    "packed",
    "spec_of",
    "template_of",
    "whole_number",
]

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def _is_named(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def template_of(value: Any) -> Any:
    """What C++ does not know of a structure: its named tuples. None where there are none."""
    if isinstance(value, tuple):
        inside = [template_of(item) for item in value]
        if _is_named(value):
            return type(value), inside
        return (tuple, inside) if any(each is not None for each in inside) else None
    if isinstance(value, dict):
        entries = {key: template_of(item) for key, item in value.items()}
        return (dict, entries) if any(each is not None for each in entries.values()) else None
    return None


def packed(template: Any, value: Any) -> Any:
    """A structure that C++ gave, with the named tuples of a template."""
    if template is None:
        return value
    kind, inside = template
    if kind is dict:
        return {key: packed(inside[key], item) for key, item in value.items()}
    items = [packed(each, item) for each, item in zip(inside, value, strict=True)]
    return tuple(items) if kind is tuple else kind(*items)


def map_leaves(change: Callable[[Any], Any], value: Any) -> Any:
    """The structure with `change` of each leaf; None stays."""
    if value is None:
        return None
    if _is_named(value):
        return type(value)(*(map_leaves(change, item) for item in value))
    if isinstance(value, tuple):
        return tuple(map_leaves(change, item) for item in value)
    if isinstance(value, dict):
        return {key: map_leaves(change, item) for key, item in value.items()}
    return change(value)


def spec_of(dataset: Any) -> Any:
    """The specs of a dataset's elements, as C++ holds them."""
    return _holdfast.data_spec(dataset, TensorSpec, DatasetSpec)


def holds_datasets(specs: Any) -> bool:
    """Whether there is a dataset among what specs stand for."""
    found: list[bool] = []
    map_leaves(lambda spec: found.append(isinstance(spec, DatasetSpec)), specs)
    return any(found)


def arguments(element: Any) -> tuple[Any, ...]:
    """How a function is called with an element: a plain tuple is several arguments."""
    return element if type(element) is tuple else (element,)


def whole_number(value: Any, argument: str) -> int:
    """An integer, also one that a tensor or an array holds."""
    if isinstance(value, _holdfast.Tensor):
        value = value.numpy()
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        ndim = getattr(value, "ndim", None)
        if ndim != 0 or getattr(value, "dtype", None) is None or value.dtype.kind not in "iu":
            fail(
                "E1104",
                f"{argument} is {value!r}, expected an integer",
                fix=f"give {argument} as an int",
            )
        value = value.item()
    found = int(value)
    if not -(2**63) <= found < 2**63:
        fail("E1103", f"{argument} is {found}, which int64 does not hold")
    return found
