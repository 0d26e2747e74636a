"""How many rows several values have: the same number each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._tensors import registry
from .._tensors.dtypes import int32
from .._tensors.symbols import is_symbol
from ..errors import fail
from .checks import Assert

__all__ = ["common_count"]

_WHY = "each call of the function is given one row of every element"


def common_count(counts: Sequence[Any]) -> Any:
    """The one number of rows; numbers that only a run tells are compared when it does."""
    cast = registry.function("cast")
    whole = [n if isinstance(n, int) or is_symbol(n) else int(n) for n in counts]
    known = [n for n in whole if isinstance(n, int)]
    if any(n != known[0] for n in known):
        listed = " and ".join(str(n) for n in known)
        fail("E1102", f"the elements of `elems` have {listed} rows, expected as many each", _WHY)
    waiting = [cast(n, int32) for n in whole if not isinstance(n, int)]
    n = known[0] if known else waiting[0]
    for each in waiting if known else waiting[1:]:
        what = "the elements of `elems` do not have as many rows each"
        Assert(registry.function("equal")(each, n), [f"{what}: {_WHY}", each, n])
    return n
