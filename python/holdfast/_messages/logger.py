"""The logger of the package. It stays silent until the program gives logging a handler."""

from __future__ import annotations

import logging

__all__ = ["get_logger"]

_logger = logging.getLogger("holdfast")
_logger.addHandler(logging.NullHandler())  # what a user has to see goes to stderr by itself


def get_logger() -> logging.Logger:
    """The logger of this package."""
    return _logger
