"""`tf.name_scope`: prefixes for the names of variables and ops."""

from __future__ import annotations

import threading
from types import TracebackType

__all__ = ["name_scope", "scoped"]


class _Stack(threading.local):
    def __init__(self) -> None:
        self.scopes: list[str] = []

    @property
    def now(self) -> str:
        return self.scopes[-1] if self.scopes else ""


_stack = _Stack()


class name_scope:
    """A context in which names begin with `name/`.

    A name that ends with a slash is taken as it is; an empty one means no prefix.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")  # noqa: TRY004
        self._name = name

    @property
    def name(self) -> str:
        """The name, as given."""
        return self._name

    def __enter__(self) -> str:
        scope = self._name
        if scope and not scope.endswith("/"):
            scope = scoped(scope) + "/"
        _stack.scopes.append(scope)
        return scope

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _stack.scopes.pop()


def scoped(name: str) -> str:
    """`name` with the prefix in force."""
    return _stack.now + name
