"""The state of staged code: cells of names, values with tensors, names that may be unset."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import _holdfast
from .._tensors import registry
from .._tensors.dtypes import float32
from .._tensors.plain import is_plain, same_value
from .._tensors.symbols import is_symbol
from .records import leaves_of, packed, same_structure
from .sites import Site

__all__ = [
    "UNSET",
    "Again",
    "Cells",
    "Maybe",
    "Spec",
    "as_bool",
    "as_tensor",
    "given",
    "is_number",
    "is_tensor",
    "is_tensorish",
    "leaves_of",
    "packed",
    "same_object",
    "same_structure",
    "spec_of",
    "zeros",
]


class _Unset:
    """Stands for the value of a name that has none."""

    def __repr__(self) -> str:
        return "unset"


UNSET: Any = _Unset()


class Maybe:
    """The value of a name that only one path through staged code sets.

    inner: of a branch, what its sides say that set the name on some paths only; `block` is the side
    that sets it on all, -1 if none does.
    kind: "if", where there is no value to go on with; "ran", where `value` is there if the code ran
    that sets it, which `ran` tells; "first", where only an iteration before the first could tell.
    """

    __slots__ = ("block", "inner", "kind", "name", "ran", "site", "value")

    def __init__(
        self,
        name: str,
        site: Site,
        block: int = 0,
        kind: str = "if",
        value: Any = UNSET,
        ran: Any = None,
        inner: tuple[Any, ...] = (),
    ) -> None:
        self.name, self.site, self.block, self.kind = name, site, block, kind
        self.value, self.ran, self.inner = value, ran, inner


class Again(BaseException):
    """An attempt to stage something found out what the next one has to know.

    No Exception, so that a handler of the user's around the statement does not take it for one.
    """

    def __init__(self, **found: Any) -> None:
        self.dtypes: dict[Any, Any] = found.get("dtypes", {})
        self.fillers: list[Any] | None = found.get("fillers")
        self.found = found


class Cells:
    """The names that blocks share with their function, as the cells of their closures."""

    def __init__(self, *functions: Callable[..., Any] | None, more: Iterable[str] = ()) -> None:
        self._cells = {name: types.CellType() for name in more}  # names of no code
        for function in functions:
            if function is not None:
                code = function.__code__
                closure = function.__closure__ or ()
                self._cells.update(zip(code.co_freevars, closure, strict=True))

    def read(self, name: str) -> Any:
        """The value of a name, UNSET if it has none."""
        cell = self._cells.get(name)
        if cell is None:
            return UNSET
        try:
            return cell.cell_contents
        except ValueError:  # empty
            return UNSET

    def write(self, name: str, value: Any) -> None:
        """Gives a name a value; UNSET takes it away."""
        cell = self._cells.get(name)
        if cell is None:
            return
        if value is not UNSET:
            cell.cell_contents = value
        elif self.read(name) is not UNSET:
            del cell.cell_contents

    def read_all(self, names: Iterable[str]) -> dict[str, Any]:
        """The values of several names."""
        return {name: self.read(name) for name in names}

    def write_all(self, values: dict[str, Any]) -> None:
        """Gives several names their values."""
        for name, value in values.items():
            self.write(name, value)

    def items(self) -> Iterable[tuple[str, types.CellType]]:
        """Every name and its cell."""
        return self._cells.items()


# Values with tensors in them.


@dataclasses.dataclass(frozen=True)
class Spec:
    """What a tensor is like."""

    dtype: Any
    shape: tuple[int | None, ...] | None


def is_number(value: Any) -> bool:
    """Whether a value is a number that can become a tensor of any dtype of its kind."""
    return isinstance(value, (bool, int, float, complex, np.generic, np.ndarray))


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor, with or without a value."""
    return isinstance(value, _holdfast.Tensor) or is_symbol(value)


def is_tensorish(value: Any) -> bool:
    """Whether a value can travel through staged code as a tensor."""
    return is_tensor(value) or is_number(value)


def as_tensor(value: Any, dtype: Any = None) -> Any:
    """A number or tensor as a tensor, of `dtype` if it is a number."""
    if is_tensor(value):
        return value
    return _holdfast.convert(value, dtype)


def given(value: Any) -> Callable[[], Any]:
    """A function that gives `value`, for those who take code."""
    return lambda: value


def as_bool(value: Any) -> Any:
    """The truth of a tensor, as a tensor."""
    if value.dtype.name == "bool":
        return value
    return registry.function("not_equal")(value, registry.function("zeros_like")(value))


def spec_of(tensor: Any) -> Spec:
    """What a tensor is like."""
    shape = tensor.shape
    dims = None if shape.rank is None else tuple(shape.as_list())
    return Spec(tensor.dtype, dims)


def zeros(spec: Spec) -> Any:
    """A tensor to stand where no value is: nobody reads it."""
    if spec.dtype.name == "variant":
        return _holdfast.list_reserve(float32, None, _holdfast.convert(0))
    sizes = [] if spec.shape is None else [size or 0 for size in spec.shape]
    return registry.function("zeros")(sizes, spec.dtype)


def same_object(x: Any, y: Any) -> bool:
    """Whether two values are the same for code that has either, as far as Python can tell."""
    if x is y:
        return True
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return x.dtype == y.dtype and np.array_equal(x, y)
    return is_plain(x) and is_plain(y) and same_value(x, y)
