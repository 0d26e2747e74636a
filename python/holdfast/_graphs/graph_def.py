"""A graph in TensorFlow's format, read back from its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["FunctionDef", "GraphDef", "NodeDef"]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: number, and an int or bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        size = {1: 8, 5: 4}.get(kind)
        if size is None:
            size, at = _varint(data, at)
        yield key >> 3, data[at : at + size]
        at += size


class NodeDef:
    """One node: its name, its op, and what it takes."""

    def __init__(self, data: bytes) -> None:
        self.name = self.op = self.device = ""
        self.input: list[str] = []
        self.attr: dict[str, bytes] = {}  # each as the bytes of an AttrValue
        for number, value in _fields(data):
            if number == 1:
                self.name = value.decode()
            elif number == 2:
                self.op = value.decode()
            elif number == 3:
                self.input.append(value.decode())
            elif number == 4:
                self.device = value.decode()
            elif number == 5:
                entry = dict(_fields(value))
                self.attr[entry[1].decode()] = entry.get(2, b"")

    def __str__(self) -> str:
        lines = [f'name: "{self.name}"', f'op: "{self.op}"']
        lines += [f'input: "{name}"' for name in self.input]
        if self.device:
            lines.append(f'device: "{self.device}"')
        lines += [f'attr {{ key: "{name}" }}' for name in sorted(self.attr)]
        return "\n".join(lines) + "\n"


class FunctionDef:
    """A body of a branch or a loop: its name, the names of what it takes and gives, its nodes."""

    def __init__(self, data: bytes) -> None:
        self.name = ""
        self.input_arg: list[str] = []
        self.output_arg: list[str] = []
        self.node_def: list[NodeDef] = []
        self.ret: dict[str, str] = {}
        for number, value in _fields(data):
            if number == 1:
                self._read_signature(value)
            elif number == 3:
                self.node_def.append(NodeDef(value))
            elif number == 4:
                entry = dict(_fields(value))
                self.ret[entry[1].decode()] = entry[2].decode()

    def _read_signature(self, data: bytes) -> None:
        for number, value in _fields(data):
            if number == 1:
                self.name = value.decode()
            elif number in (2, 3):
                names = self.input_arg if number == 2 else self.output_arg
                names.append(dict(_fields(value))[1].decode())


class GraphDef:
    """The nodes of a graph, and the bytes that TensorBoard and TensorFlow read."""

    def __init__(self, data: bytes = b"") -> None:
        self._data = bytes(data)
        self._node: list[NodeDef] | None = None

    def SerializeToString(self) -> bytes:
        """The bytes of the protobuf."""
        return self._data

    def ParseFromString(self, data: bytes) -> int:
        """Takes another graph's bytes; returns their number."""
        self._data, self._node = bytes(data), None
        return len(self._data)

    @classmethod
    def FromString(cls, data: bytes) -> GraphDef:
        """The graph that some bytes hold."""
        return cls(data)

    @property
    def node(self) -> list[NodeDef]:
        """The nodes, in the order they were added."""
        if self._node is None:
            self._node = [NodeDef(value) for number, value in _fields(self._data) if number == 1]
        return self._node

    @property
    def functions(self) -> list[FunctionDef]:
        """The bodies of its branches and loops."""
        libraries = [value for number, value in _fields(self._data) if number == 2]
        return [FunctionDef(v) for data in libraries for number, v in _fields(data) if number == 1]

    def ByteSize(self) -> int:
        """How many bytes it takes."""
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphDef) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        body = ("  " + str(node).rstrip("\n").replace("\n", "\n  ") for node in self.node)
        return "".join(f"node {{\n{text}\n}}\n" for text in body)
