"""`tf.keras.ops.rearrange`: axes that are split, put in another order and joined, by a pattern."""

from __future__ import annotations

import functools
import math
import operator
import re
from typing import Any

from ...errors import fail
from .values import rank_of, reshaped, sizes_of, tf
from .values import tensor as as_tensor

__all__ = ["rearrange"]

_AXES = re.compile(r"\(([^()]*)\)|(\w+)")


def _groups(side: str, pattern: str) -> list[list[str]]:
    """The axes of one side; what is in parentheses is one axis of several."""
    if _AXES.sub("", side).strip():
        fail(
            "E1104",
            f"`pattern` of `rearrange` is {pattern!r}, expected names of axes",
            "names stand apart or together in parentheses: `b (h w) c -> b h w c`",
        )
    return [m[1].split() if m[2] is None else [m[2]] for m in _AXES.finditer(side)]


def _sides(pattern: str) -> tuple[list[list[str]], list[list[str]]]:
    halves = pattern.split("->")
    if len(halves) != 2:
        fail("E1104", f"`pattern` of `rearrange` is {pattern!r}, expected one `->`")
    before, after = (_groups(half, pattern) for half in halves)
    names = [[name for group in groups for name in group] for groups in (before, after)]
    if sorted(names[0]) != sorted(names[1]) or len({*names[0]}) != len(names[0]):
        fail(
            "E1104",
            f"`pattern` of `rearrange` is {pattern!r}",
            "each axis has to be on both sides, once",
        )
    return before, after


def _split(group: list[str], size: Any, known: dict[str, int]) -> dict[str, Any]:
    """The sizes of the axes that one axis is made of; all but one of them have to be known."""
    open_ones = [name for name in group if name not in known]
    sure = isinstance(size, int)
    if not open_ones and not sure:
        return known
    if len(open_ones) > 1:
        fail(
            "E1104",
            f"`rearrange` knows the sizes of neither `{open_ones[0]}` nor `{open_ones[1]}`",
            fix=f"give one of them: `rearrange(x, pattern, {open_ones[0]}=...)`",
        )
    product = math.prod(known.values())
    wrong = sure and (size % product if open_ones else size != product)
    if product < 1 or wrong:
        fail(
            "E1102",
            f"`rearrange` can't split an axis of size {size} into ({' '.join(group)})",
            f"the sizes that are given make {product}",
        )
    return {**known, **dict.fromkeys(open_ones, size // product)}


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Any:
    """Splits axes, puts them in another order, and joins them, as a pattern says.

    `rearrange(x, "b (h w) c -> b c h w", h=8)`.
    """
    x = as_tensor(tensor)
    before, after = _sides(pattern)
    rank = rank_of(x, "rearrange")
    if rank != len(before):
        fail("E1102", f"`rearrange` got {rank} axes, and {pattern!r} has {len(before)} on its left")
    names = [name for group in before for name in group]
    for name in axes_lengths:
        if name not in names:
            fail("E1104", f"`rearrange` got a size of `{name}`, which {pattern!r} does not have")
    sizes: dict[str, Any] = dict(axes_lengths)
    for group, size in zip(before, sizes_of(x), strict=True):
        known = {name: axes_lengths[name] for name in group if name in axes_lengths}
        sizes.update(_split(group, size, known))
    order = [names.index(name) for group in after for name in group]
    parts = tf.transpose(reshaped(x, [sizes[name] for name in names]), perm=order)
    joined = [functools.reduce(operator.mul, (sizes[n] for n in group), 1) for group in after]
    return reshaped(parts, joined)
