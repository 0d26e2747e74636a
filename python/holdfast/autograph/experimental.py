"""`tf.autograph.experimental`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._autograph.conversion import keep_plain
from .._autograph.features import Feature
from .._autograph.options import set_loop_options

__all__ = ["Feature", "do_not_convert", "set_loop_options"]


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
