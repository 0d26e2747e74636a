"""Everything that converted code calls, under one name: `hf__`."""

from __future__ import annotations

from .._tracing.moved import current
from .branch import and_, chain, if_, if_expression, not_, or_, truth
from .calls import assert_, call, contains, lacks, managed, method
from .lists import display, star
from .loop import for_, while_
from .reads import (
    add_in_place,
    assign,
    attribute,
    attribute_place,
    cell_place,
    free,
    fresh,
    global_,
    global_place,
    item,
    item_place,
    iterated,
    join_in_place,
    local,
    made,
    slice_,
    spread,
    unpacked,
)

__all__ = [
    "add_in_place",
    "and_",
    "assert_",
    "assign",
    "attribute",
    "attribute_place",
    "call",
    "cell_place",
    "chain",
    "contains",
    "current",
    "display",
    "for_",
    "free",
    "fresh",
    "global_",
    "global_place",
    "if_",
    "if_expression",
    "item",
    "item_place",
    "iterated",
    "join_in_place",
    "lacks",
    "local",
    "made",
    "managed",
    "method",
    "not_",
    "or_",
    "slice_",
    "spread",
    "star",
    "truth",
    "unpacked",
    "while_",
]
