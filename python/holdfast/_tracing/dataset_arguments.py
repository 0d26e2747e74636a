"""Datasets among the arguments of a call: a trace is for all that have the same elements."""

from __future__ import annotations

from typing import Any

from .. import _holdfast
from .._structures import nesting

__all__ = ["holds_dataset", "with_datasets"]

_DATASET: Any = _holdfast.DatasetBase


def with_datasets(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Arguments with what stands for datasets in the place of these."""
    if any(isinstance(each, _DATASET) for each in (*args, *kwargs.values())):
        args = tuple(map(_argument, args))
        kwargs = {key: _argument(each) for key, each in kwargs.items()}
    return args, kwargs


def _argument(value: Any) -> Any:
    return value._as_argument() if isinstance(value, _DATASET) else value


def holds_dataset(result: Any) -> bool:
    """Whether a function gives one, which no graph hands out."""
    return any(isinstance(leaf, _DATASET) for leaf in nesting.flatten(result))
