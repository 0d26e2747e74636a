"""Everything that converted code calls, under one name: `hf__`."""

from __future__ import annotations

from .apart import matched
from .branch import and_, chain, if_, if_expression, not_, or_, truth
from .calls import assert_, call, contains, equals_none, is_, is_none, lacks, managed, method
from .chosen import Chosen
from .in_place import add_in_place, in_place, is_changed, join_in_place
from .lists import display, star
from .loop import for_, while_
from .reads import (
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
    local,
    made,
    slice_,
)
from .walking import iterated, looked_through, spread, unpacked

__all__ = [
    "Chosen",
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
    "display",
    "equals_none",
    "for_",
    "free",
    "fresh",
    "global_",
    "global_place",
    "if_",
    "if_expression",
    "in_place",
    "is_",
    "is_changed",
    "is_none",
    "item",
    "item_place",
    "iterated",
    "join_in_place",
    "lacks",
    "local",
    "looked_through",
    "made",
    "managed",
    "matched",
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
