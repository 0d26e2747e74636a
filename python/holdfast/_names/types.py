"""What functions take, in the words of type checkers, for the stubs of `holdfast describe`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .._tensors.dtypes import DType
from .._tensors.shape import TensorShape
from .._tensors.tensor import Tensor
from .._variables.variable import Variable

__all__ = ["DTypeLike", "ShapeLike", "Sizes", "Tensor", "TensorLike"]

TensorLike: TypeAlias = (
    "Tensor | Variable | complex | str | bytes | np.ndarray[Any, Any] | Sequence[Any]"
)
DTypeLike: TypeAlias = "DType | str | type[Any] | np.dtype[Any]"
ShapeLike: TypeAlias = "TensorShape | Sequence[int | None] | None"
Sizes: TypeAlias = "int | Sequence[int] | Tensor | np.ndarray[Any, Any] | TensorShape"
