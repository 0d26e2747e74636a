"""Shapes and values that elements are padded with, beside the structure of an element."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._tensors.shape import as_shape
from .._tensors.symbols import is_symbol
from ..errors import fail
from .probing import is_probing, need_values
from .structure import flat_leaves, is_own, own_parts

__all__ = ["padded_shapes_of", "padding_values_of"]


def padded_shapes_of(specs: Any, given: Any) -> list[Any] | None:
    """A list of sizes for each tensor of an element; None where nothing was given."""
    if given is None:
        return None
    found = [_sizes(each) for each in _flat_up_to(specs, given, True)]
    for sizes, spec in zip(found, flat_leaves(specs), strict=True):
        _need_room(sizes, spec)
    return found


def _need_room(sizes: list[int] | None, spec: Any) -> None:
    """Refuses to pad to less than what elements are known to have."""
    own = None if sizes is None or spec.shape.rank is None else spec.shape.as_list()
    if own is None or sizes is None or len(own) != len(sizes):
        return
    if any(n is not None and 0 <= to < n for n, to in zip(own, sizes, strict=True)):
        fail(
            "E1102",
            f"`padded_shapes` has {sizes}, and elements have {spec!r}",
            "a size can only grow by padding",
        )


def padding_values_of(specs: Any, given: Any) -> list[Any]:
    """A scalar for each tensor of an element, None for what it is by itself."""
    if given is None:
        return []
    return [
        None if each is None else _holdfast.convert(each, spec.dtype)
        for each, spec in zip(_flat_up_to(specs, given, False), flat_leaves(specs), strict=True)
    ]


def _flat_up_to(structure: Any, given: Any, shapes: bool) -> list[Any]:
    """What stands in `given` where a structure has its leaves; one value may stand for all."""
    if is_own(structure):
        structure = own_parts(structure)
        given = own_parts(given) if is_own(given) else given
    if not isinstance(structure, (tuple, dict)):
        return [given]
    if isinstance(structure, dict):
        if isinstance(given, dict) and given.keys() == structure.keys():
            return [
                leaf
                for key in sorted(structure)
                for leaf in _flat_up_to(structure[key], given[key], shapes)
            ]
    elif isinstance(given, (tuple, list)) and len(given) == len(structure):
        return [
            leaf
            for item, each in zip(structure, given, strict=True)
            for leaf in _flat_up_to(item, each, shapes)
        ]
    if not shapes and not isinstance(given, (tuple, list, dict)):
        return [given] * len(flat_leaves(structure))
    fail(
        "E1104",
        f"`{'padded_shapes' if shapes else 'padding_values'}` is {given!r}, and elements are "
        f"{structure!r}",
        "it has to have the structure of an element",
    )


def _sizes(shape: Any) -> Any:
    if isinstance(shape, _holdfast.Tensor):
        if is_probing() and is_symbol(shape):  # how large it is, no spec tells
            rank = shape.shape[0] if shape.shape.rank == 1 else None
            return None if rank is None else [-1] * rank
        need_values(shape)
        shape = getattr(shape.numpy(), "tolist", shape.numpy)()
    if isinstance(shape, (list, tuple)):
        shape = [None if each == -1 else each for each in shape]
    try:
        if isinstance(shape, bytes):
            raise TypeError("a text has no sizes")
        found = as_shape(shape)
        sizes = [] if found.rank is None else [-1 if d is None else d for d in found.as_list()]
        if any(n >= 2**63 for n in sizes):
            raise OverflowError("int64 does not hold a size")
    except (TypeError, ValueError, OverflowError) as error:
        fail("E1104", f"`padded_shapes` has {shape!r}, expected the sizes of a tensor", str(error))
    return None if found.rank is None else sizes
