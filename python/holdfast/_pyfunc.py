"""`tf.py_function` and `tf.numpy_function`: Python in the middle of a computation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import nest
from ._dtypes import as_dtype
from ._tensor import convert_to_tensor

__all__ = ["numpy_function", "py_function"]


def _shaped(result: Any, Tout: Any, of_numpy: bool) -> Any:
    if not nest.is_nested(Tout) and not isinstance(Tout, (list, tuple)):
        return _one(result, Tout, of_numpy)
    wanted = list(Tout)
    values = [] if result is None else [result]
    if isinstance(result, (list, tuple)):
        values = list(result)
    if len(values) != len(wanted):
        raise ValueError(
            f"the Python function returned {len(values)} values, expected {len(wanted)} (Tout)"
        )
    return [_one(value, dtype, of_numpy) for value, dtype in zip(values, wanted, strict=True)]


def _one(value: Any, dtype: Any, of_numpy: bool) -> Any:
    wanted = as_dtype(getattr(dtype, "dtype", dtype))
    if of_numpy and wanted.name != "string":
        value = np.asarray(value)
        return convert_to_tensor(value)
    return convert_to_tensor(value, wanted)


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    name: str | None = None,
) -> Any:
    """Calls `func` with the tensors `inp`; gradients pass through what it computes."""
    if func is None:
        raise TypeError("py_function needs `func`")
    args = [convert_to_tensor(value) for value in (() if inp is None else inp)]
    return _shaped(func(*args), Tout, of_numpy=False)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls `func` with `inp` as NumPy arrays; no gradient passes."""
    if func is None:
        raise TypeError("numpy_function needs `func`")
    args = [convert_to_tensor(value).numpy() for value in (() if inp is None else inp)]
    return _shaped(func(*args), Tout, of_numpy=True)
