"""`tf.name_scope`: prefixes for the names of variables and ops."""

from __future__ import annotations

from types import TracebackType

from . import _holdfast
from .errors import fail

__all__ = ["name_scope", "scoped"]


class name_scope:
    """A context in which names begin with `name/`.

    A name that ends with a slash is taken as it is; an empty one means no prefix. In a graph a
    name that is taken gets a number.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            fail("E1104", f"`name` is of type {type(name).__name__}, expected a string")
        self._name = name
        self._before: list[str] = []

    @property
    def name(self) -> str:
        """The name, as given."""
        return self._name

    def __enter__(self) -> str:
        scope: str = _holdfast.name_scope_prefix(self._name)
        self._before.append(_holdfast.get_name_scope())
        _holdfast.set_name_scope(scope)
        return scope

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _holdfast.set_name_scope(self._before.pop())


def scoped(name: str) -> str:
    """`name` with the prefix in force."""
    now: str = _holdfast.get_name_scope()
    return now + name
