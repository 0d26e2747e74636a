"""The registered functions by the paths Python knows them under."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from ..errors import unsupported

FUNCTIONS: list[Any] = _holdfast.functions()
BY_PATH: dict[str, Any] = {path: f for f in FUNCTIONS for path in f.record["python"]}
RAW_OPS: frozenset[str] = frozenset(_holdfast.raw_ops())


def function(path: str) -> Callable[..., Any]:
    """The function with this path; E1105 where nobody registered one."""
    found: Callable[..., Any] | None = BY_PATH.get(path)
    if found is None:
        unsupported(
            f"`{path}` is not supported", "no function of this name is registered in this build"
        )
    return found


# Copies and pickles of what holds a function (`self.activation = tf.nn.relu`) hold the same one.
copyreg.pickle(type(FUNCTIONS[0]), lambda f: (function, (f.record["python"][0],)))


def raw_op(op: str, **arguments: Any) -> Any:
    """Runs one op by its name, inputs and attributes as it declares them."""
    return _holdfast.raw_op(op, **arguments)
