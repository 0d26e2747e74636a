"""Nested structures: lists, tuples, dicts and attrs classes taken apart and put together again.

Dicts are walked in the order of their sorted keys, whatever the order they were filled in. What is
made of several tensors, such as `tf.RaggedTensor`, is taken apart too: functions, loops, tapes and
datasets pass tensors on. With `whole` it is a leaf, as in `tf.nest`, the public face of this.
"""

from __future__ import annotations

import collections
import functools
from array import array
from collections.abc import Callable, Mapping, MappingView, Sequence
from typing import Any

from .. import _holdfast

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


# As C numbers them: how a class takes part in structures.
_LEAF, _SEQUENCE, _MAPPING, _FIELDS, _CUSTOM, _COMPOSITE = range(6)


@functools.lru_cache(maxsize=512)
def _nesting(kind: Any) -> int:
    if issubclass(kind, (str, bytes, bytearray, array, memoryview)):
        return _LEAF
    if issubclass(kind, Mapping):
        return _MAPPING
    if hasattr(kind, "__attrs_attrs__"):
        return _FIELDS
    if hasattr(kind, "__tf_flatten__") and hasattr(kind, "__tf_unflatten__"):
        return _COMPOSITE if hasattr(kind, "_is_composite") else _CUSTOM
    return _SEQUENCE if issubclass(kind, (Sequence, MappingView)) else _LEAF


def is_custom(kind: Any) -> bool:
    """Whether a class says itself, by `__tf_flatten__`, what its objects hold."""
    return _nesting(kind) in (_CUSTOM, _COMPOSITE)


def is_composite(value: Any) -> bool:
    """Whether it is made of several tensors, and one value to the user."""
    kind: Any = type(value)
    return _nesting(kind) == _COMPOSITE


_holdfast.set_nesting_rules(_nesting, (MappingView, range), collections.defaultdict)


def value_type(value: Any) -> type[Any]:
    """The class of a value; of a specification of several tensors, that of what it specifies."""
    return value.value_type if is_composite(value) else type(value)


def is_nested_type(kind: Any) -> bool:
    """Whether objects of a class hold others: they are no leaves."""
    return _nesting(kind) != _LEAF


def is_nested(seq: Any, whole: bool = False) -> bool:
    """Whether `seq` is a structure that holds others: not a leaf."""
    kind: Any = type(seq)
    found = _nesting(kind)
    return found != _LEAF and not (whole and found == _COMPOSITE)


def children(structure: Any) -> list[Any]:
    """What `structure` holds, in the order of flattening."""
    return list(_holdfast.nest_children(structure))


def rebuild(structure: Any, children: list[Any]) -> Any:
    """A structure of the same type with other children, given in the order of flattening."""
    return _holdfast.nest_rebuild(structure, children)


def flatten(structure: Any, whole: bool = False) -> list[Any]:
    """The leaves of `structure`, in order; `[structure]` if it is a leaf itself."""
    return list(_holdfast.nest_flatten(structure, whole))


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any], whole: bool = False) -> Any:
    """A structure like `structure` with the leaves `flat_sequence`."""
    if not is_nested(flat_sequence):
        raise TypeError(
            f"`flat_sequence` is of type {type(flat_sequence).__name__}, expected a sequence of "
            "leaves"
        )
    flat = list(flat_sequence)
    if not is_nested(structure, whole):
        if len(flat) != 1:
            raise ValueError(
                f"`structure` is one leaf, and `flat_sequence` has {len(flat)}: {flat}"
            )
        return flat[0]
    atoms = len(flatten(structure, whole))
    if atoms != len(flat):
        raise ValueError(
            f"`structure` has {atoms} leaves, and `flat_sequence` has {len(flat)}: "
            f"{structure} and {flat}"
        )
    return _holdfast.nest_pack(structure, flat, whole)


def map_structure(
    func: Callable[..., Any], *structure: Any, check_types: bool = True, whole: bool = False
) -> Any:
    """A structure like the first, each leaf being `func` of the leaves in its place."""
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, whole)
    flat = [flatten(each, whole) for each in structure]
    results = [func(*leaves) for leaves in zip(*flat, strict=True)]
    return pack_sequence_as(structure[0], results, whole)


def _shown(value: Any) -> str:
    return f"the {type(value).__name__} {value}"


def _dots(structure: Any, whole: bool) -> str:
    if not is_nested(structure, whole):
        return "."
    if is_composite(structure):  # a text of dots alone would not say what they are part of
        return f"{type(structure).__name__}(...)"
    return str(rebuild(structure, [_Text(_dots(c, whole)) for c in children(structure)]))


class _Text(str):
    """Shows itself without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _same_kind(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return True
    if _is_namedtuple(a) and _is_namedtuple(b):
        return type(a).__name__ == type(b).__name__ and a._fields == b._fields
    return value_type(a) is value_type(b)


def _difference(a: Any, b: Any, check_types: bool, whole: bool) -> Exception | None:
    if is_nested(a, whole) != is_nested(b, whole):
        nested, leaf = (a, b) if is_nested(a, whole) else (b, a)
        return ValueError(f"{_shown(nested)} is nested, and {_shown(leaf)} is a leaf")
    if not is_nested(a, whole):
        return None
    if check_types and not _same_kind(a, b):
        return TypeError(f"{_shown(a)} and {_shown(b)} are of two types")
    if check_types and isinstance(a, Mapping) and set(a) != set(b):
        return ValueError(f"the keys of one are {list(a)}, of the other {list(b)}")
    mine, theirs = children(a), children(b)
    if len(mine) != len(theirs):
        return ValueError(
            f"{_shown(a)} holds {len(mine)} parts, and {_shown(b)} holds {len(theirs)}"
        )
    for x, y in zip(mine, theirs, strict=True):
        found = _difference(x, y, check_types, whole)
        if found is not None:
            return found
    return None


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, whole: bool = False
) -> None:
    """ValueError or TypeError unless both are nested in the same way."""
    found = _difference(nest1, nest2, check_types, whole)
    if found is not None:
        raise type(found)(
            f"the two are nested in different ways: {found}\n"
            f"  one is    {_dots(nest1, whole)}\n  the other {_dots(nest2, whole)}"
        )
