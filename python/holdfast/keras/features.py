"""What `Normalization` has in Python besides its options: `adapt`, and what that found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import _holdfast
from .._tensors.tensor import convert_to_tensor
from ..errors import fail

__all__ = ["complete"]


def _batches(data: Any) -> Iterator[Any]:
    """The tensors of data: one array, or batches; of pairs the first."""
    if hasattr(data, "shape"):
        yield convert_to_tensor(data)
        return
    if not hasattr(data, "__iter__"):
        fail(
            "E1101",
            f"Normalization: `data` of `adapt` is a {type(data).__name__}",
            "expected an array, a tensor, a dataset, or something that gives batches",
        )
    unbatched = hasattr(data, "element_spec")
    for element in data:
        batch = element[0] if isinstance(element, tuple) else element
        if not hasattr(batch, "shape"):
            fail(
                "E1101",
                f"Normalization: `data` of `adapt` gave a {type(batch).__name__}",
                "expected arrays or tensors: batches, whose first axis are examples",
            )
        tensor = convert_to_tensor(batch)
        # A dataset of single examples is one of batches that hold one each.
        yield tensor[None] if unbatched and len(tensor.shape) == 1 else tensor


def _adapt(self: Any, data: Any) -> None:
    """Finds mean and variance of `data`: an array, a tensor, a dataset, or batches."""
    _holdfast.normalization_adapt(self, _batches(data))


def _statistic(which: int, name: str) -> property:
    def get(self: Any) -> Any:
        return _holdfast.normalization_statistics(self)[which] if self.built else None

    return property(get, doc=f"The {name} that inputs meet; None while the layer is not built.")


def complete(cls: Any) -> None:
    """Gives the class what C++'s declaration does not say."""
    cls.adapt = _adapt
    cls.mean = _statistic(0, "mean")
    cls.variance = _statistic(1, "variance")
    cls.input_mean = property(lambda self: _holdfast.keras_attribute(self, "mean"))
    cls.input_variance = property(lambda self: _holdfast.keras_attribute(self, "variance"))
