"""The logger of the package. It stays silent until the program gives logging a handler."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

__all__ = ["get_logger"]


@functools.cache
def get_logger() -> logging.Logger:
    """The logger of this package."""
    import logging

    logger = logging.getLogger("holdfast")
    logger.addHandler(logging.NullHandler())  # what a user has to see goes to stderr by itself
    return logger
