"""Nested structures: lists, tuples, dicts and attrs classes taken apart and put together again.

Dicts are walked in the order of their sorted keys, whatever the order they were filled in.
`expand_composites` also takes apart what is made of several tensors, such as `tf.RaggedTensor`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._structures import nesting

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure that holds others: not a leaf."""
    return nesting.is_nested(seq, whole=True)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure`, in order; `[structure]` if it is a leaf itself."""
    return nesting.flatten(structure, not expand_composites)


def pack_sequence_as(
    structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any:
    """A structure like `structure` with the leaves `flat_sequence`."""
    return nesting.pack_sequence_as(structure, flat_sequence, not expand_composites)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """A structure like the first, each leaf being `func` of the leaves in its place."""
    if not callable(func):
        raise TypeError(f"`func` is of type {type(func).__name__}, which is not callable")
    if not structure:
        raise ValueError("`map_structure` got a function and no structure")
    check_types = bool(kwargs.pop("check_types", True))
    whole = not kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            f"`map_structure` takes no {', '.join(f'`{key}`' for key in kwargs)}: only "
            "`check_types` and `expand_composites` go by keyword"
        )
    return nesting.map_structure(func, *structure, check_types=check_types, whole=whole)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """ValueError or TypeError unless both are nested in the same way."""
    whole = not bool(expand_composites)  # a tensor of several elements is no answer to a question
    nesting.assert_same_structure(nest1, nest2, bool(check_types), whole)
