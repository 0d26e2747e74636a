"""The order of values whose keys only the graph knows: `sorted`, `min` and `max` with a key."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .._tensors import registry
from .branch import if_expression
from .rows import go_together, stacked
from .state import given, is_number, is_tensor, leaves_of, packed, same_structure

__all__ = ["first_by", "in_order"]


def first_by(python: Callable[..., Any], values: list[Any], key: Callable[..., Any]) -> Any:
    """The first of `values` whose key is the extreme one, by `min` or `max`."""
    keys = [key(each) for each in values]
    if len(keys) < 2 or not any(map(is_tensor, keys)):
        return values[python(range(len(keys)), key=keys.__getitem__)]
    before = operator.gt if python is max else operator.lt
    best, least = values[0], keys[0]
    for each, its in zip(values[1:], keys[1:], strict=True):
        best, least = if_expression(before(its, least), given((each, its)), given((best, least)))
    return best


def in_order(values: list[Any], key: Callable[..., Any] | None, reverse: bool) -> list[Any]:
    """`values` sorted by their keys; those with the same key keep their order."""
    keys = values if key is None else [key(each) for each in values]
    rows = [leaves_of(each) for each in values]
    columns = list(zip(*rows, strict=False))
    alike = all(same_structure(each, values[0]) for each in values[1:])
    scalars = [each for each in keys if is_number(each) or is_tensor(each) and each.shape.rank == 0]
    if (
        not any(map(is_tensor, keys))
        or len(scalars) < len(keys)
        or not alike
        or not all(map(go_together, [*columns, keys]))
    ):
        places = sorted(range(len(keys)), key=keys.__getitem__, reverse=bool(reverse))
        return [values[i] for i in places]
    direction = "DESCENDING" if reverse else "ASCENDING"
    places = registry.function("argsort")(stacked(keys), direction=direction, stable=True)
    gather, unstack = registry.function("gather"), registry.function("unstack")
    sorted_columns = [unstack(gather(stacked(column), places)) for column in columns]
    return [
        packed(value, [column[i] for column in sorted_columns]) for i, value in enumerate(values)
    ]
