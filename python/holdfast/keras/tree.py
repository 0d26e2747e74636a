"""`tf.keras.tree`: structures of lists, tuples and dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import nest
from .._structures import nesting
from ..errors import fail

__all__ = [
    "MAP_TO_NONE",
    "assert_same_paths",
    "assert_same_structure",
    "flatten",
    "flatten_with_path",
    "is_nested",
    "lists_to_tuples",
    "map_shape_structure",
    "map_structure",
    "map_structure_up_to",
    "pack_sequence_as",
    "traverse",
]


class MAP_TO_NONE:
    """What the function of `traverse` gives where None is to stand."""


def is_nested(structure: Any) -> bool:
    """Whether it holds others: a list, a tuple, a dict."""
    return nest.is_nested(structure)


def flatten(structure: Any) -> list[Any]:
    """The leaves, in order."""
    return nest.flatten(structure)


def _with_path(structure: Any, path: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], Any]]:
    if not nest.is_nested(structure):
        return [(path, structure)]
    keys = sorted(structure) if isinstance(structure, dict) else range(len(structure))
    if hasattr(structure, "_fields"):
        keys = structure._fields
    held = nesting.children(structure)
    return [
        pair for key, one in zip(keys, held, strict=True) for pair in _with_path(one, (*path, key))
    ]


def flatten_with_path(structure: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves with the keys that lead to each."""
    return _with_path(structure, ())


def map_structure(func: Callable[..., Any], *structures: Any, none_is_leaf: bool = True) -> Any:
    """A structure like the first, each leaf being `func` of the leaves in its place."""
    if not structures:
        fail("E1104", "`map_structure` got a function and no structure")
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    if none_is_leaf:
        return nest.map_structure(func, *structures, check_types=False)
    return nest.map_structure(
        lambda *leaves: None if all(v is None for v in leaves) else func(*leaves),
        *structures,
        check_types=False,
    )


def map_structure_up_to(shallow_structure: Any, func: Callable[..., Any], *structures: Any) -> Any:
    """As `map_structure`, where `shallow_structure` says how deep."""
    if not nest.is_nested(shallow_structure):
        return func(*structures)
    held = [nesting.children(s) if nest.is_nested(s) else [] for s in structures]
    for structure, one in zip(structures, held, strict=True):
        if len(one) != len(nesting.children(shallow_structure)):
            fail(
                "E1104",
                f"`map_structure_up_to`: a structure has {len(one)} parts where the shallow one "
                f"has {len(nesting.children(shallow_structure))}",
            )
        places = list(range(len(one)))
        assert_same_structure(
            nesting.rebuild(shallow_structure, places), nesting.rebuild(structure, places)
        )
    parts = [
        map_structure_up_to(part, func, *(one[i] for one in held))
        for i, part in enumerate(nesting.children(shallow_structure))
    ]
    return nesting.rebuild(shallow_structure, parts)


def assert_same_structure(a: Any, b: Any, check_types: Any = None) -> None:
    """Refuses two that are nested in different ways: lists are no tuples, and keys are the same."""
    try:
        nest.assert_same_structure(a, b, check_types=check_types is None or check_types)
    except TypeError as error:  # as Keras has it, where `tf.nest` tells them apart
        raise ValueError(str(error)) from None


def assert_same_paths(a: Any, b: Any) -> None:
    """Refuses two whose leaves have different keys."""
    first = {path for path, _ in flatten_with_path(a)}
    second = {path for path, _ in flatten_with_path(b)}
    if first != second:
        fail(
            "E1104",
            f"the structures have different keys: only in the first {sorted(first - second)}, "
            f"only in the second {sorted(second - first)}",
        )


def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """A structure like `structure` with the leaves `flat_sequence`."""
    return nest.pack_sequence_as(structure, flat_sequence)


def traverse(func: Callable[[Any], Any], structure: Any, top_down: bool = True) -> Any:
    """A copy in which `func` has replaced what it gave something for: None leaves it."""

    def plain(value: Any) -> Any:
        return None if value is MAP_TO_NONE else value

    if top_down:
        found = func(structure)
        if found is not None:
            return plain(found)
    if nest.is_nested(structure):
        parts = [traverse(func, one, top_down) for one in nesting.children(structure)]
        structure = nesting.rebuild(structure, parts)
    if not top_down:
        found = func(structure)
        return structure if found is None else plain(found)
    return structure


def lists_to_tuples(structure: Any) -> Any:
    """Tuples in the place of all lists."""
    if isinstance(structure, list):
        return tuple(map(lists_to_tuples, structure))
    if not nest.is_nested(structure):
        return structure
    return nesting.rebuild(structure, [lists_to_tuples(one) for one in nesting.children(structure)])


def map_shape_structure(func: Callable[[Any], Any], structure: Any) -> Any:
    """As `map_structure`, where a tuple or list of sizes is a leaf."""
    if isinstance(structure, (list, tuple)) and all(
        size is None or isinstance(size, int) for size in structure
    ):
        return func(tuple(structure))
    if not nest.is_nested(structure):
        fail("E1104", f"`map_shape_structure` got {structure!r}, expected shapes")
    return nesting.rebuild(
        structure, [map_shape_structure(func, one) for one in nesting.children(structure)]
    )
