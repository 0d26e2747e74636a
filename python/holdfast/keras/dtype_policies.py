"""`tf.keras.dtype_policies`: policies by name and by config."""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from typing import Any

from ..errors import fail
from .configs import deserialize_keras_object, made_by_python, serialize_keras_object, serializer
from .mixed_precision import DTypePolicy, FloatDTypePolicy

__all__ = ["DTypePolicy", "DTypePolicyMap", "FloatDTypePolicy", "deserialize", "get", "serialize"]

serialize = serializer("dtype_policy")


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> DTypePolicy:
    """The policy that a config describes."""
    kinds = {
        "DTypePolicy": DTypePolicy,
        "FloatDTypePolicy": DTypePolicy,
        "DTypePolicyMap": DTypePolicyMap,
        **(custom_objects or {}),
    }
    name = config.get("class_name") if isinstance(config, dict) else None
    if name not in kinds:
        fail(
            "E1104",
            f"{config!r} describes no policy",
            'expected a dict with the "class_name" `DTypePolicy` and a "config"',
        )
    return kinds[name].from_config(config["config"])  # type: ignore[no-any-return]


def get(identifier: Any) -> DTypePolicy:
    """The policy of a name, of a dtype or of a config, or itself; None is that of all layers."""
    if isinstance(identifier, DTypePolicy):
        return identifier
    return deserialize(identifier) if isinstance(identifier, dict) else DTypePolicy(identifier)


@made_by_python
class DTypePolicyMap(DTypePolicy, MutableMapping[str, DTypePolicy]):
    """Policies by the names of layers, or by patterns that match a whole name; else a default.

    A layer that is made with a map takes the policy of its own name, and hands that on to the
    layers that it makes.
    """

    def __init__(
        self, default_policy: Any = None, policy_map: dict[str, Any] | None = None
    ) -> None:
        if isinstance(default_policy, DTypePolicyMap):
            fail("E1104", "`default_policy` of `DTypePolicyMap` is a map itself")
        if policy_map is not None and not isinstance(policy_map, dict):
            fail(
                "E1101",
                f"`policy_map` of `DTypePolicyMap` is a {type(policy_map).__name__}, expected a "
                "dict",
            )
        self._default = default_policy
        self._map = {key: get(policy) for key, policy in (policy_map or {}).items()}

    @property
    def default_policy(self) -> DTypePolicy:
        """The policy of layers that no key is for; without one that of all layers."""
        return get(self._default)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The default's, marked as a map's."""
        return f"map_{self.default_policy.name}"

    @property
    def compute_dtype(self) -> str:
        """The default's."""
        return self.default_policy.compute_dtype

    @property
    def variable_dtype(self) -> str:
        """The default's."""
        return self.default_policy.variable_dtype

    def __getitem__(self, key: str) -> DTypePolicy:
        if key in self._map:
            return self._map[key]
        found = [pattern for pattern in self._map if re.fullmatch(pattern, key)]
        if len(found) > 1:
            fail(
                "E1104",
                f"`{key}` matches several keys of a `DTypePolicyMap`: {found}",
                fix="leave one of them",
            )
        return self._map[found[0]] if found else self.default_policy

    def __setitem__(self, key: str, policy: Any) -> None:
        if key in self._map:
            fail(
                "E1104",
                f"`{key}` is in the `DTypePolicyMap` already, for {self._map[key]!r}",
                fix="delete it first",
            )
        self._map[key] = get(policy)

    def __delitem__(self, key: str) -> None:
        del self._map[key]

    def __contains__(self, key: object) -> bool:
        return key in self._map

    def __len__(self) -> int:
        return len(self._map)

    def __iter__(self) -> Iterator[str]:
        return iter(self._map)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DTypePolicyMap)
            and other.default_policy == self.default_policy
            and other._map == self._map
        )

    def __hash__(self) -> int:
        return hash(self.name)

    def get_config(self) -> dict[str, Any]:
        """What it can be made from again."""
        default = self._default
        return {
            "default_policy": default.name if isinstance(default, DTypePolicy) else default,
            "policy_map": {key: serialize_keras_object(one) for key, one in self._map.items()},
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> DTypePolicyMap:
        """One made with what `get_config` gave."""
        policies = {
            key: deserialize_keras_object(one, custom_objects)
            for key, one in (config.get("policy_map") or {}).items()
        }
        return cls(config.get("default_policy"), policies)

    def __repr__(self) -> str:
        policies = [(key, one.name) for key, one in self._map.items()]
        return f"<DTypePolicyMap default_policy={self.default_policy.name}, mapping={policies}>"
