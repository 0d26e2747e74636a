"""The loops and branches that are being written down."""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["outermost", "staging"]


class _Staging(threading.local):
    """Those of this thread, the outermost first; each has `growing`, what it was entered with."""

    def __init__(self) -> None:
        self.active: list[Any] = []


staging = _Staging()


def outermost(containers: list[Any]) -> Any:
    """The outermost loop or branch that was entered with these lists: before it they become ones
    of the graph, so that whatever way the graph goes it has them. None if there is none."""
    for each in staging.active:
        if all(map(each.growing.is_outside, containers)):
            return each
    return None
