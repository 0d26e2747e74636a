"""`tf.init_scope`: out of whatever is being traced."""

from __future__ import annotations

from . import _holdfast

__all__ = ["init_scope"]


class init_scope:
    """Leaves whatever is being traced: ops inside run at once, and once only."""

    def __init__(self) -> None:
        self._lifted = _holdfast.Lifted()

    def __enter__(self) -> None:
        self._lifted.enter()

    def __exit__(self, *_: object) -> None:
        self._lifted.exit()
