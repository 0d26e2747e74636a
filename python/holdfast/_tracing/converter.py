"""The door to AutoGraph, which stands above tracing and is loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

__all__ = ["Converter", "converter", "set_loader"]


class Converter(Protocol):
    """What tracing asks of AutoGraph; `_autograph` itself is one."""

    def convert(self, function: Any) -> Any:
        """A callable that does what `function` does, also where conditions are symbolic."""

    def on_demand(self, frame: Any) -> None:
        """Converts what `frame` runs, and begins the trace anew; returns if that can't help."""

    def convert_operators(self, kind: type[Any]) -> None:
        """Gives the operators of a class converted code, while the trace is made."""

    def refuse_untraceable(self, function: Any) -> NoReturn:
        """Says that `function` is a generator or a coroutine."""

    def check_features(self, argument: str, features: Any) -> None:
        """Refuses features that there are none of."""

    def cond(
        self,
        pred: Any,
        true_fn: Callable[[], Any],
        false_fn: Callable[[], Any],
        names: tuple[str, str],
    ) -> Any:
        """`tf.cond` whose functions store in Python objects."""

    def while_loop(
        self,
        condition: Callable[..., Any],
        body: Callable[..., Sequence[Any]],
        variables: Sequence[Any],
        most: int | None,
    ) -> list[Any]:
        """`tf.while_loop` of which the same holds."""


_load: Callable[[], Converter]
_loaded: Converter | None = None


def set_loader(load: Callable[[], Converter]) -> None:
    """Says how AutoGraph is loaded."""
    global _load
    _load = load


def converter() -> Converter:
    """AutoGraph."""
    global _loaded
    if _loaded is None:
        _loaded = _load()
    return _loaded
