"""What is told of conversions, to those who ask for it by `tf.autograph.set_verbosity`."""

from __future__ import annotations

from .._messages.logger import get_logger

__all__ = ["set_verbosity", "tell"]


class _Verbosity:
    level = 0
    to_stdout = False


_now = _Verbosity()


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """How much the logger of this package is told of conversions, as info; for debugging.

    At 0 nothing. From 1 on each function that is converted, from 2 on also each that has no source
    to convert, from 3 on also what a function became. With `alsologtostdout` it is printed too.
    """
    if not isinstance(level, int):
        raise TypeError(f"a verbosity is an int, got {level!r}")
    _now.level, _now.to_stdout = level, bool(alsologtostdout)


def tell(level: int, text: str) -> None:
    """Says something, if the verbosity is that high."""
    if _now.level < level:
        return
    get_logger().info(text)
    if _now.to_stdout:
        print(text)
