"""What `Embedding` has in Python besides its options: rows that are given with it."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .. import _holdfast

__all__ = ["complete"]


def complete(cls: Any) -> None:
    """Gives the class `weights`: the table itself, or a list that holds it alone."""
    plain = cls.__init__
    place = list(inspect.signature(plain).parameters).index("weights") - 1  # without `self`

    @functools.wraps(plain)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        weights = kwargs.pop("weights", None)
        if len(args) > place:
            weights, args = args[place], (*args[:place], None, *args[place + 1 :])
        plain(self, *args, **kwargs)
        if weights is None:
            return
        _holdfast.build_layer(self, [(None,)])
        alone = isinstance(weights, list) and len(weights) == 1
        self.set_weights(weights if alone else [weights])

    cls.__init__ = __init__
