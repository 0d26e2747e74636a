"""How code deep inside a trace says that it has to be made again."""

from __future__ import annotations

__all__ = ["Restart"]


class Restart(BaseException):
    """The trace is void: some code was converted meanwhile, or has to be staged otherwise."""
