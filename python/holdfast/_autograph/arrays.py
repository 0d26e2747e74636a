"""Arrays of NumPy and bytearrays in staged code: nobody writes down what is done to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages.visible import visible_name
from .._tracing.recorder import recording
from ..errors import fail, used_here
from .staging import staging

__all__ = ["ARRAYS", "refuse_change", "was_there"]

ARRAYS = (np.ndarray, bytearray)


def was_there(array: Any) -> bool:
    """Whether staged code is being written down that began with this array."""
    recorder = recording()
    if recorder is None or not staging.active:
        return False
    if any(each.growing.saw_array(array) for each in staging.active):
        return True
    return any(guard.how == "array" and guard.was[0]() is array for guard in recorder.guards)


def refuse_change(array: Any) -> None:
    """Refuses to change an array in staged code that did not make it."""
    if not isinstance(array, ARRAYS) or not was_there(array):
        return
    kind = "a NumPy array" if isinstance(array, np.ndarray) else "a bytearray"
    name = visible_name(lambda value: value is array)
    quoted = f"`{name}`" if name else kind
    fix = f"`{name} = {name}.copy()`" if name.isidentifier() else "a copy of it"
    fail(
        "E0901",
        f"{quoted} is changed in place by staged code" + (f"; it is {kind}" if name else ""),
        "whether and how often that happens is known when the graph runs, and Python changes it "
        "once, while the code is traced",
        fix=f"let staged code change one of its own, {fix} before this line; or a tensor, with "
        "`tf.tensor_scatter_nd_update` or `tf.where`",
        labels=used_here("changed here, while tracing"),
        subject={"name": name or kind},
    )
