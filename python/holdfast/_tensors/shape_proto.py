"""A shape in TensorFlow's format, written as protobuf does."""

from __future__ import annotations

from typing import Any

__all__ = ["TensorShapeProto", "field", "varint"]


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    out = bytearray()
    number &= (1 << 64) - 1
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, data: bytes) -> bytes:
    """A field that holds bytes."""
    return varint(number << 3 | 2) + varint(len(data)) + data


class TensorShapeProto:
    """Sizes, of which some may be unknown (-1), or not even how many there are."""

    class Dim:
        """One size."""

        def __init__(self, size: int = 0, name: str = "") -> None:
            self.size, self.name = size, name

    def __init__(self, dim: Any = (), unknown_rank: bool = False) -> None:
        self.dim, self.unknown_rank = list(dim), unknown_rank

    def SerializeToString(self) -> bytes:
        """The bytes of the protobuf."""
        sizes = b"".join(field(2, b"\x08" + varint(d.size)) for d in self.dim)
        return sizes + (b"\x18\x01" if self.unknown_rank else b"")
