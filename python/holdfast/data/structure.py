"""Elements: tuples, dicts, named tuples and data classes. A list is a tensor, as TensorFlow has it.

A ragged or sparse tensor is one leaf here; to C++ it is a tuple of its parts, and so is an object
of a data class that says by `__tf_flatten__` what it holds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _holdfast
from .._composites.ragged.tensor import RaggedTensor
from .._composites.ragged.value import RaggedTensorValue
from .._composites.sparse.tensor import SparseTensor, SparseTensorValue
from .._flow.optional import Optional
from .._flow.tensor_array import TensorArray
from .._structures import nesting
from .._tensors.composite import Composite, CompositeSpec
from .._tensors.shape import TensorSpec
from ..errors import fail, unsupported
from .spec import DatasetSpec

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Rebuilt",
    "arguments",
    "flag",
    "flat_leaves",
    "holds_composites",
    "holds_datasets",
    "holds_parts",
    "holds_values",
    "is_own",
    "joined_template",
    "map_leaves",
    "own_parts",
    "packed",
    "spec_of",
    "template_of",
    "whole_number",
    "whole_numbers",
    "with_composites",
]

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def _is_named(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_own(value: Any) -> bool:
    """Whether it is an object of a program's data class that takes part in structures."""
    kind: Any = type(value)
    return dataclasses.is_dataclass(kind) and nesting.is_custom(kind)


class Rebuilt:
    """Makes objects of a data class of what one of them holds, as `tuple` makes tuples."""

    def __init__(self, value: Any) -> None:
        self._kind, self._metadata = type(value), value.__tf_flatten__()[0]

    def __call__(self, *parts: Any) -> Any:
        return self._kind.__tf_unflatten__(self._metadata, parts)


def own_parts(value: Any) -> tuple[Any, ...]:
    """What it holds."""
    return tuple(value.__tf_flatten__()[1])


def with_composites(value: Any) -> Any:
    """The structure with sparse and ragged tensors in place of their values in NumPy's arrays."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if isinstance(value, RaggedTensorValue):
        splits = value.nested_row_splits
        return RaggedTensor.from_nested_row_splits(value.flat_values, splits)
    if _is_named(value):
        return type(value)(*map(with_composites, value))
    if isinstance(value, tuple):
        return tuple(map(with_composites, value))
    if isinstance(value, dict):
        return {key: with_composites(item) for key, item in value.items()}
    if is_own(value):
        return Rebuilt(value)(*map(with_composites, own_parts(value)))
    if isinstance(value, (Optional, TensorArray)):
        kind = type(value).__name__
        unsupported(
            f"{kind} is not supported as a part of a dataset's element",
            "elements, and the states that stages carry, are made of tensors",
            fix="give its `stack()`"
            if kind == "TensorArray"
            else "give `has_value()` and a value beside it",
        )
    return value


def holds_values(value: Any) -> bool:
    """Whether there is a value of a sparse or ragged tensor in a structure."""
    if isinstance(value, (SparseTensorValue, RaggedTensorValue)):
        return True
    if isinstance(value, (tuple, list)):
        return any(map(holds_values, value))
    if is_own(value):
        return any(map(holds_values, own_parts(value)))
    return isinstance(value, dict) and any(map(holds_values, value.values()))


def template_of(value: Any) -> Any:
    """What C++ does not know of a structure: its named tuples, and values of several tensors.

    None where there are none. A dataset in it has a spec where its own elements have such.
    """
    if isinstance(value, _holdfast.DatasetBase):
        value = DatasetSpec.from_value(value)
    if isinstance(value, DatasetSpec):
        return value if template_of(value.element_spec) is not None else None
    if isinstance(value, tuple):
        inside = [template_of(item) for item in value]
        if _is_named(value):
            return type(value), inside
        return (tuple, inside) if any(each is not None for each in inside) else None
    if isinstance(value, dict):
        entries = {key: template_of(item) for key, item in value.items()}
        return (dict, entries) if any(each is not None for each in entries.values()) else None
    if isinstance(value, Composite):
        return value._type_spec
    if is_own(value):
        return Rebuilt(value), [template_of(item) for item in own_parts(value)]
    return value if isinstance(value, CompositeSpec) else None


def holds_composites(template: Any) -> bool:
    """Whether a template has a ragged or sparse tensor."""
    if isinstance(template, tuple):
        _, inside = template
        items = inside.values() if isinstance(inside, dict) else inside
        return any(map(holds_composites, items))
    return isinstance(template, CompositeSpec)


def holds_parts(template: Any) -> bool:
    """Whether C++ has a tuple in place of something: of a ragged or sparse tensor, an object."""
    if isinstance(template, tuple):
        kind, inside = template
        items = inside.values() if isinstance(inside, dict) else inside
        return isinstance(kind, Rebuilt) or any(map(holds_parts, items))
    return isinstance(template, CompositeSpec)


def joined_template(a: Any, b: Any) -> Any:
    """The template of elements of two datasets, whose structures C++ has compared."""
    if isinstance(a, CompositeSpec) and isinstance(b, CompositeSpec):
        return a._joined(b)
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return a
    kind, mine = a
    theirs = b[1]
    if kind is dict:
        return kind, {key: joined_template(each, theirs[key]) for key, each in mine.items()}
    return kind, [joined_template(x, y) for x, y in zip(mine, theirs, strict=True)]


def packed(template: Any, value: Any) -> Any:
    """A structure that C++ gave, of tensors or specs, with what a template has besides."""
    if template is None:
        return value
    if isinstance(template, CompositeSpec):
        return template if isinstance(value[0], TensorSpec) else template._from_components(value)
    if isinstance(template, DatasetSpec):
        if isinstance(value, DatasetSpec):
            return template
        value._template = template_of(template.element_spec)
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
    if is_own(value):
        return Rebuilt(value)(*(map_leaves(change, item) for item in own_parts(value)))
    return change(value)


def flat_leaves(structure: Any) -> list[Any]:
    """The leaves, in the order in which C++ has them."""
    if isinstance(structure, tuple):
        return [leaf for item in structure for leaf in flat_leaves(item)]
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in flat_leaves(structure[key])]
    if is_own(structure):
        return [leaf for item in own_parts(structure) for leaf in flat_leaves(item)]
    return [] if structure is None else [structure]


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


def _plain(given: Any) -> Any:
    """The number or truth that a tensor, a variable or an array of no axes holds, as Python's."""
    held = isinstance(given, (_holdfast.Tensor, _holdfast.VariableBase))
    value: Any = given.numpy() if held else given
    if isinstance(value, (np.ndarray, np.generic)):
        return value.item() if value.ndim == 0 and value.dtype.kind in "biu" else _Array(value)
    return value


class _Array:
    """An array where a number is wanted: in words, and no number."""

    def __init__(self, value: Any) -> None:
        self._words = f"an array {value.dtype}{list(value.shape)}"

    def __repr__(self) -> str:
        return self._words


def flag(value: Any, argument: str) -> bool:
    """True or False, also as a tensor or an array holds it."""
    found = _plain(value)
    if not isinstance(found, bool):
        fail(
            "E1104",
            f"{argument} is {found!r}, expected True or False",
            fix=f"give {argument} as a bool",
        )
    return found


def whole_number(value: Any, argument: str) -> int:
    """An integer, also one that a tensor or an array holds."""
    value = _plain(value)
    if isinstance(value, (bool, type)) or not hasattr(value, "__index__"):
        fail(
            "E1104",
            f"{argument} is {value!r}, expected an integer",
            fix=f"give {argument} as an int",
        )
    found = int(value)
    if not -(2**63) <= found < 2**63:
        fail("E1103", f"{argument} is {found}, which int64 does not hold")
    return found


def whole_numbers(value: Any, argument: str) -> list[int]:
    """Several integers: of a list or a tuple, a range, a tensor or an array of one axis."""
    given = value.numpy() if isinstance(value, _holdfast.Tensor) else value
    if isinstance(given, np.ndarray) and given.ndim == 1:
        given = given.tolist()
    if not isinstance(given, (list, tuple, range)):
        fail("E1104", f"{argument} is {_plain(value)!r}, expected a list of integers")
    return [whole_number(each, argument) for each in given]
