"""`tf.autograph.experimental`."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

from ._conversion import keep_plain
from ._options import set_loop_options

__all__ = ["Feature", "do_not_convert", "set_loop_options"]


class Feature(enum.Enum):
    """Parts of the conversion, as TensorFlow names them. All of them are always on."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Every feature."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """Every feature but those."""
        left_out = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(each for each in cls if each not in left_out)


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Decorates a function that is to run as it is: Python decides, and only while tracing."""
    if func is None:
        return do_not_convert
    try:
        return keep_plain(func)
    except AttributeError:  # a method or a builtin takes no marks

        @functools.wraps(func)
        def plain(*args: Any, **kwargs: Any) -> Any:
            return func(*args, **kwargs)

        return keep_plain(plain)
