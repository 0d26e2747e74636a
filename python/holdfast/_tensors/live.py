"""What lives in memory now: `live_tensors`."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._messages.record import Record
from ..errors import fail
from .dtypes import DType
from .shape import TensorShape

__all__ = ["LiveTensors", "live_tensors"]


class LiveTensors(Record):
    """Live memory that one line of the program made; or one piece of it.

    dtype, shape: of the largest, as it was made. alike: whether all of them are like it.
    file, line, source: "" and 0 where no line of the program made it.
    """

    bytes: int
    count: int
    dtype: DType
    shape: TensorShape
    alike: bool
    file: str
    line: int
    source: str

    def __str__(self) -> str:
        what = f"{self.count} x {'' if self.alike else 'up to '}{self.dtype.name}{self.shape}"
        where = (
            f"{self.file}:{self.line}  {self.source.strip()}"
            if self.file
            else "by no line of the program"
        )
        return f"{self.bytes} bytes  {what}  {where}"


class _Table(list[LiveTensors]):
    """A list that prints as a table."""

    def __str__(self) -> str:
        total, count = sum(row.bytes for row in self), sum(row.count for row in self)
        least = _holdfast.LEDGER_BYTES
        head = f"{total} bytes in {count} live buffers of {least} bytes or more"
        return "\n".join([head, *(f"  {row}" for row in self)])


def live_tensors(group_by: str | None = "line") -> list[LiveTensors]:
    """What fills the memory now, largest first: by the line that made it, or piece by piece.

    Buffers below 4096 bytes are not listed. A tensor that looks into another's memory, as `reshape`
    gives, is not counted again. Printing the list gives a table.
    """
    if group_by not in ("line", None):
        fail("E1104", f"live_tensors: group_by is {group_by!r}", fix='say "line" or None')
    return _Table(
        LiveTensors(bytes_, count, dtype, shape, alike, at["file"], at["line"], at["source"])
        for bytes_, count, at, dtype, shape, alike in _live(group_by == "line")
    )


def _live(by_line: bool) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = _holdfast.live_tensors(by_line)
    return found
