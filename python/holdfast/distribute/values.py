"""Values of which each replica has one of its own."""

from __future__ import annotations

from typing import Any

from .. import nest

__all__ = ["DistributedValues", "PerReplica", "local", "regrouped"]


class DistributedValues:
    """A value for each replica. What `run` gives for one replica is the value itself."""

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, one for each replica."""
        raise NotImplementedError


class PerReplica(DistributedValues):
    """The values of the replicas, in their order."""

    def __init__(self, *values: Any) -> None:
        self._values = values

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, one for each replica."""
        return self._values

    # To `tf.nest` it is one value; functions and loops pass on what it holds.

    _is_composite = True

    @property
    def value_type(self) -> type[PerReplica]:
        """Its class."""
        return type(self)

    def __tf_flatten__(self) -> tuple[None, tuple[Any, ...]]:
        return None, self._values

    @classmethod
    def __tf_unflatten__(cls, metadata: None, components: tuple[Any, ...]) -> PerReplica:
        return cls(*components)

    def __repr__(self) -> str:
        each = ",\n".join(f"  {i}: {value!r}" for i, value in enumerate(self._values))
        return f"PerReplica:{{\n{each}\n}}"


def local(structure: Any, replica: int = 0) -> Any:
    """What a replica sees of a structure."""
    if isinstance(structure, DistributedValues):
        return structure.values[replica]
    if not _holds_any(structure):
        return structure
    return nest.map_structure(lambda part: local(part, replica), structure)


def regrouped(results: list[Any]) -> Any:
    """What the replicas gave, as one structure: what differs between them is `PerReplica`."""
    return results[0] if len(results) == 1 else nest.map_structure(_together, *results)


def _together(*values: Any) -> Any:
    first = values[0]
    plain = isinstance(first, (bool, int, float, str, bytes)) and all(v == first for v in values)
    return first if plain or all(v is first for v in values) else PerReplica(*values)


def _holds_any(structure: Any) -> bool:
    if isinstance(structure, dict):
        return any(map(_holds_any, structure.values()))
    if isinstance(structure, (list, tuple)):
        return any(map(_holds_any, structure))
    return isinstance(structure, DistributedValues)
