"""Values of which each replica has one of its own."""

from __future__ import annotations

from typing import Any

from .. import nest

__all__ = ["DistributedValues", "PerReplica", "local"]


class DistributedValues:
    """A value for each replica. What `run` gives for one replica is the value itself."""

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, one for each replica."""
        raise NotImplementedError


class PerReplica(DistributedValues):
    """The values of the replicas, of which there is one."""

    def __init__(self, value: Any) -> None:
        self._values = (value,)

    @property
    def values(self) -> tuple[Any, ...]:
        """The value of the one replica, in a tuple."""
        return self._values

    def __repr__(self) -> str:
        return f"PerReplica:{{\n  0: {self._values[0]!r}\n}}"


def local(structure: Any) -> Any:
    """What the one replica sees of a structure."""
    if isinstance(structure, DistributedValues):
        return structure.values[0]
    if not _holds_any(structure):
        return structure
    return nest.map_structure(local, structure)


def _holds_any(structure: Any) -> bool:
    if isinstance(structure, dict):
        return any(map(_holds_any, structure.values()))
    if isinstance(structure, (list, tuple)):
        return any(map(_holds_any, structure))
    return isinstance(structure, DistributedValues)
