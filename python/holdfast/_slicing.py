"""`variable[1:3].assign(x)`: a slice of a Variable that remembers where it was cut from."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable
from typing import Any

from . import _registry
from ._tensor import Tensor

# Slices that are still alive, by the tensor's id: who they were cut from, and how.
_cut: dict[int, tuple[weakref.ref[Any], Any, Any]] = {}


def remember(tensor: Any, variable: Any, key: Any) -> Any:
    """Notes that `tensor` is `variable[key]`."""
    number: int = tensor._id

    def forget(_: weakref.ref[Any]) -> None:
        _cut.pop(number, None)

    _cut[number] = (weakref.ref(tensor, forget), variable, key)
    return tensor


def spec(key: Any) -> dict[str, Any]:
    """An index as the attributes of the strided-slice ops."""
    begin: list[int] = []
    end: list[int] = []
    strides: list[int] = []
    masks = dict.fromkeys(
        ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0
    )
    for i, part in enumerate(key if isinstance(key, tuple) else (key,)):
        first, last, step = 0, 0, 1
        if part is Ellipsis:
            masks["ellipsis_mask"] |= 1 << i
        elif part is None:
            masks["new_axis_mask"] |= 1 << i
        elif isinstance(part, slice):
            step = 1 if part.step is None else operator.index(part.step)
            if part.start is None:
                masks["begin_mask"] |= 1 << i
            else:
                first = operator.index(part.start)
            if part.stop is None:
                masks["end_mask"] |= 1 << i
            else:
                last = operator.index(part.stop)
        else:
            first = operator.index(part)
            last = first + 1
            masks["shrink_axis_mask"] |= 1 << i
        begin.append(first)
        end.append(last)
        strides.append(step)
    return {"begin": begin, "end": end, "strides": strides, **masks}


class _Assign:
    """`assign` of a tensor that was cut from a Variable; other tensors have no such attribute."""

    def __get__(self, tensor: Any, kind: Any = None) -> Callable[..., Any]:
        if tensor is None:
            raise AttributeError("type object 'Tensor' has no attribute 'assign'")
        found = _cut.get(tensor._id)
        if found is None:
            raise AttributeError(
                "a Tensor is immutable and has no attribute 'assign'; a Variable has, and a slice "
                "taken of one"
            )
        _, variable, key = found

        def assign(value: Any, name: str | None = None) -> Any:
            """Puts `value` into the part of the Variable that this slice shows."""
            from . import _holdfast

            _registry.raw_op(
                "ResourceStridedSliceAssign",
                ref=variable,
                value=_holdfast.convert(value, variable.dtype),
                **spec(key),
            )
            return variable

        return assign


def attach() -> None:
    """Puts `assign` onto the Tensor type."""
    setattr(Tensor, "assign", _Assign())  # noqa: B010
