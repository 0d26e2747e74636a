"""Nested structures: lists, tuples, dicts and attrs classes taken apart and put together again.

Dicts are walked in the order of their sorted keys, whatever the order they were filled in.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence
from typing import Any

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def _is_attrs(value: Any) -> bool:
    return hasattr(type(value), "__attrs_attrs__")


def _is_custom(value: Any) -> bool:
    """Whether a class takes part through `__tf_flatten__` and `__tf_unflatten__`."""
    return hasattr(type(value), "__tf_flatten__") and hasattr(type(value), "__tf_unflatten__")


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


@functools.lru_cache(maxsize=512)
def _nests(kind: Any) -> bool:
    if issubclass(kind, (list, tuple, dict)):
        return True
    if issubclass(kind, (str, bytes, bytearray)):
        return False
    if issubclass(kind, (Mapping, Sequence, MappingView)) or hasattr(kind, "__attrs_attrs__"):
        return True
    return hasattr(kind, "__tf_flatten__") and hasattr(kind, "__tf_unflatten__")


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure that holds others: not a leaf."""
    return _nests(type(seq))  # type: ignore[arg-type]


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("the keys of this dict have no order, which flattening needs") from None


def children(structure: Any) -> Iterator[Any]:
    """What `structure` holds, in the order of flattening."""
    if isinstance(structure, Mapping):
        for key in _sorted_keys(structure):
            yield structure[key]
    elif _is_attrs(structure):
        for field in type(structure).__attrs_attrs__:
            yield getattr(structure, field.name)
    elif _is_custom(structure):
        yield from structure.__tf_flatten__()[1]
    else:
        yield from structure


def rebuild(structure: Any, children: list[Any]) -> Any:
    """A structure of the same type with other children, given in the order of flattening."""
    kind = type(structure)
    if isinstance(structure, Mapping):
        values = dict(zip(_sorted_keys(structure), children, strict=True))
        pairs = [(key, values[key]) for key in structure]  # the order it was filled in
        if isinstance(structure, collections.defaultdict):
            return kind(structure.default_factory, pairs)
        return kind(pairs)
    if _is_namedtuple(structure):
        return kind(*children)
    if _is_attrs(structure):
        return kind(*children)
    if _is_custom(structure):
        return kind.__tf_unflatten__(structure.__tf_flatten__()[0], tuple(children))
    if isinstance(structure, (MappingView, range)):
        return children
    return kind(children)


# No closures that call themselves: such cycles would keep the leaves until the next collection.
def _gather(part: Any, out: list[Any]) -> None:
    if is_nested(part):
        for child in children(part):
            _gather(child, out)
    else:
        out.append(part)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure`, in order; `[structure]` if it is a leaf itself.

    `expand_composites` takes apart what is made of several tensors, such as `tf.IndexedSlices`.
    """
    out: list[Any] = []
    _gather(_expanded(structure) if expand_composites else structure, out)
    return out


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


def _packed(part: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(part):
        return next(leaves)
    return rebuild(part, [_packed(child, leaves) for child in children(part)])


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
    return _packed(structure, iter(flat))


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
    mine, theirs = list(children(a)), list(children(b))
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
