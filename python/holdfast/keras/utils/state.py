"""What holds for the whole program: seeds, names of layers; and questions about symbols."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ... import _holdfast, nest
from ..._tensors.dtypes import as_dtype
from ..._tensors.registry import function
from ...errors import fail
from ..config import floatx
from ..random import begin_shared_stream_anew

__all__ = [
    "clear_session",
    "get_source_inputs",
    "is_keras_tensor",
    "set_random_seed",
    "standardize_dtype",
]


def set_random_seed(seed: int) -> None:
    """Seeds Python's, NumPy's and Holdfast's random numbers."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        fail("E1104", f"`seed` is {seed!r}, expected an integer")
    if not 0 <= seed < 2**32:
        fail("E1103", f"`seed` is {seed}, expected a number from 0 to {2**32 - 1}")
    random.seed(seed)
    np.random.seed(seed)
    function("random.set_seed")(seed)
    begin_shared_stream_anew()


def clear_session(free_memory: bool = True) -> None:
    """Begins to count the names of layers anew. Models live as long as somebody holds them."""
    _holdfast.reset_layer_names()
    if free_memory:
        import gc

        gc.collect()


def is_keras_tensor(x: Any) -> bool:
    """Whether `x` is a symbol of a model: what `Input` gives, and calls on it."""
    return bool(_holdfast.is_model_symbol(x))


def get_source_inputs(tensor: Any) -> list[Any]:
    """The `Input`s that symbols come from."""
    return list(_holdfast.source_inputs(nest.flatten(tensor)))


def standardize_dtype(dtype: Any) -> str:
    """The name of a dtype; None is `floatx()`."""
    return floatx() if dtype is None else str(as_dtype(dtype).name)
