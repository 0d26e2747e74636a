"""Nested structures: lists, tuples, dicts and attrs classes taken apart and put together again.

Dicts are walked in the order of their sorted keys, whatever the order they were filled in.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Mapping, MappingView, Sequence
from typing import Any

from . import _holdfast

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


# As C numbers them: how a class takes part in structures.
_LEAF, _SEQUENCE, _MAPPING, _FIELDS, _CUSTOM = range(5)


@functools.lru_cache(maxsize=512)
def _nesting(kind: Any) -> int:
    if issubclass(kind, (str, bytes, bytearray)):
        return _LEAF
    if issubclass(kind, Mapping):
        return _MAPPING
    if hasattr(kind, "__attrs_attrs__"):
        return _FIELDS
    if hasattr(kind, "__tf_flatten__") and hasattr(kind, "__tf_unflatten__"):
        return _CUSTOM
    return _SEQUENCE if issubclass(kind, (Sequence, MappingView)) else _LEAF


def is_custom(kind: Any) -> bool:
    """Whether a class says itself, by `__tf_flatten__`, what its objects hold."""
    return _nesting(kind) == _CUSTOM


_holdfast.set_nesting_rules(_nesting, (MappingView, range), collections.defaultdict)


def is_nested_type(kind: Any) -> bool:
    """Whether objects of a class hold others: they are no leaves."""
    return _nesting(kind) != _LEAF


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure that holds others: not a leaf."""
    return is_nested_type(type(seq))


def children(structure: Any) -> list[Any]:
    """What `structure` holds, in the order of flattening."""
    return list(_holdfast.nest_children(structure))


def rebuild(structure: Any, children: list[Any]) -> Any:
    """A structure of the same type with other children, given in the order of flattening."""
    return _holdfast.nest_rebuild(structure, children)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure`, in order; `[structure]` if it is a leaf itself.

    `expand_composites` takes apart what is made of several tensors, such as `tf.IndexedSlices`.
    """
    return list(_holdfast.nest_flatten(_expanded(structure) if expand_composites else structure))


class _Parts:
    """Something that is made of tensors, as a structure that holds them."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self._whole), self._whole._tensors()

    @classmethod
    def __tf_unflatten__(cls, kind: Any, tensors: tuple[Any, ...]) -> Any:
        return kind(*tensors)


def _expanded(structure: Any) -> Any:
    """`structure` with its composites as structures; put together again, they are composites."""
    if not is_nested(structure):
        return _Parts(structure) if hasattr(type(structure), "_tensors") else structure
    return rebuild(structure, [_expanded(child) for child in children(structure)])


def pack_sequence_as(
    structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any:
    """A structure like `structure` with the leaves `flat_sequence`."""
    if not is_nested(flat_sequence):
        raise TypeError(
            f"`flat_sequence` is of type {type(flat_sequence).__name__}, expected a sequence of "
            "leaves"
        )
    flat = list(flat_sequence)
    shown = structure
    structure = _expanded(structure) if expand_composites else structure
    if not is_nested(structure):
        if len(flat) != 1:
            raise ValueError(
                f"`structure` is one leaf, and `flat_sequence` has {len(flat)}: {flat}"
            )
        return flat[0]
    atoms = len(flatten(structure))
    if atoms != len(flat):
        raise ValueError(
            f"`structure` has {atoms} leaves, and `flat_sequence` has {len(flat)}: "
            f"{shown} and {flat}"
        )
    return _holdfast.nest_pack(structure, flat)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """A structure like the first, each leaf being `func` of the leaves in its place."""
    if not callable(func):
        raise TypeError(f"`func` is of type {type(func).__name__}, which is not callable")
    if not structure:
        raise ValueError("`map_structure` got a function and no structure")
    check_types = kwargs.pop("check_types", True)
    if kwargs.pop("expand_composites", False):
        structure = tuple(map(_expanded, structure))
    if kwargs:
        raise ValueError(
            f"`map_structure` takes no {', '.join(f'`{key}`' for key in kwargs)}: only "
            "`check_types` and `expand_composites` go by keyword"
        )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types)
    results = [func(*leaves) for leaves in zip(*map(flatten, structure), strict=True)]
    return pack_sequence_as(structure[0], results)


def _shown(value: Any) -> str:
    return f"the {type(value).__name__} {value}"


def _dots(structure: Any) -> str:
    if not is_nested(structure):
        return "."
    return str(pack_sequence_as(structure, [_Dot()] * len(flatten(structure))))


class _Dot:
    def __repr__(self) -> str:
        return "."


def _same_kind(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return True
    if _is_namedtuple(a) and _is_namedtuple(b):
        return type(a).__name__ == type(b).__name__ and a._fields == b._fields
    return type(a) is type(b)


def _difference(a: Any, b: Any, check_types: bool) -> Exception | None:
    if is_nested(a) != is_nested(b):
        nested, leaf = (a, b) if is_nested(a) else (b, a)
        return ValueError(f"{_shown(nested)} is nested, and {_shown(leaf)} is a leaf")
    if not is_nested(a):
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
        found = _difference(x, y, check_types)
        if found is not None:
            return found
    return None


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """ValueError or TypeError unless both are nested in the same way."""
    if bool(expand_composites):  # a tensor of several elements is no answer to a question
        nest1, nest2 = _expanded(nest1), _expanded(nest2)
    found = _difference(nest1, nest2, bool(check_types))
    if found is not None:
        raise type(found)(
            f"the two are nested in different ways: {found}\n"
            f"  one is    {_dots(nest1)}\n  the other {_dots(nest2)}"
        )
