"""What the modules of initializers, regularizers and constraints have in common."""

from __future__ import annotations

import copyreg
from typing import Any

from .. import _holdfast
from .._variables.module import snake_case
from . import declared
from .configs import named_or_made, serializer

__all__ = ["FromConfig", "fill", "snake_case"]


class FromConfig:
    """Objects that are made from what `get_config` gives."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """One made with what `get_config` gave."""
        return cls(**config)

    def clone(self) -> Any:
        """Another one, made from the same config."""
        return type(self).from_config(self.get_config())  # type: ignore[attr-defined]

    def __reduce__(self) -> tuple[Any, ...]:
        """What `copy` and `pickle` make one from again."""
        kind = type(self)
        if _holdfast.keras_is_declared(self):
            return kind.from_config, (self.get_config(),)  # type: ignore[attr-defined]
        return copyreg.__newobj__, (kind,), vars(self)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.get_config()}>"  # type: ignore[attr-defined]


def fill(namespace: dict[str, Any], folder: str) -> list[str]:
    """Puts the classes of a folder into a module, and the functions that find them by name."""
    names = declared.export(folder, FromConfig, namespace, frozenset())
    for name in list(names):  # also in lower case, as functions once were called
        snake = snake_case(name)
        if snake not in namespace:
            namespace[snake] = namespace[name]
            names.append(snake)

    def get(identifier: Any) -> Any:
        """The object of a name, of a config, or itself."""
        if isinstance(identifier, type):
            identifier = identifier()
        return _holdfast.keras_object(identifier, folder, f"`identifier` of `{folder}.get`")

    def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The object that a name or a config describes."""
        return named_or_made(config, custom_objects, get)

    for function in (get, serializer(folder.removesuffix("s")), deserialize):
        function.__module__ = namespace["__name__"]
        namespace[function.__name__] = function
    return [*names, "deserialize", "get", "serialize"]
