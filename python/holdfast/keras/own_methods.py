"""Methods that a program puts on one object, as in `layer.call = my_call`: C++ has to know."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._variables.module import set_method_listener

__all__: list[str] = []

_METHODS = {
    *("add_weight", "build", "call", "compute_mask", "compute_output_shape"),
    *("get_build_config", "get_config"),
}


def _note(module: Any, name: str) -> None:
    if isinstance(module, _holdfast.LayerBase):
        _holdfast.note_own_method(module, name)


set_method_listener(_METHODS, _note)
