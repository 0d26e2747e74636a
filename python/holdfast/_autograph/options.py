"""`set_loop_options`: what a staged loop's own body says about it."""

from __future__ import annotations

from typing import Any

from .._tensors.composite import invariants_of
from .._tensors.shape import as_shape
from .._tensors.symbols import is_symbol
from ..errors import fail, unsupported
from .carried import innermost
from .state import leaves_of

__all__ = ["set_loop_options"]


def set_loop_options(
    parallel_iterations: int | None = None,
    swap_memory: bool | None = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Says something about the loop around, if it is staged. The first statement of its body.

    `shape_invariants` are pairs of a variable and the shape it keeps; without them a dimension that
    changes becomes unknown by itself. `parallel_iterations` and `swap_memory` are hints that change
    no result, and nothing here.
    """
    loop = innermost()
    if loop is None:
        return
    if is_symbol(maximum_iterations):
        unsupported(
            "`maximum_iterations` is a symbol",
            "the bound of a loop is a number that is known while tracing.",
            fix="count in the loop, and `break`",
        )
    if maximum_iterations is not None:
        loop.wanted["maximum_iterations"] = int(maximum_iterations)
    for value, shape in shape_invariants or ():
        invariants = loop.wanted.setdefault("shape_invariants", {})
        leaves, shapes = leaves_of(value), invariants_of(value, shape)
        if len(leaves) != len(shapes):
            fail("E1104", f"a value of {len(leaves)} tensors has {len(shapes)} shape invariants")
        for leaf, wanted in zip(leaves, shapes, strict=True):
            slot = loop.slot_of(leaf)
            if slot is None:
                unsupported(
                    "`shape_invariants` names something that the loop does not change",
                    "only a variable that an iteration hands to the next one has an invariant; it "
                    "has to be named before it is set again.",
                    fix="call `set_loop_options` first in the body",
                )
            invariants[slot] = as_shape(wanted)
