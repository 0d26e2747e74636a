"""What steps of programs called before Keras 3, and its models on TensorFlow answer to still."""

from __future__ import annotations

import warnings
from typing import Any

from .. import _holdfast, nest
from .._tensors import registry
from . import declared

__all__ = ["EarlierTraining"]


class _CompiledMetrics:
    """The metrics that `compile` was given, as one."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def update_state(self, y: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in what a batch says to each of them."""
        # Keras' own, whatever the model's class makes of it.
        own = declared.base_type("models.Functional")
        own.compute_metrics(self._model, None, y, y_pred, sample_weight)


class EarlierTraining:
    """The loss and the metrics of `compile`, by their older names."""

    compute_loss: Any
    metrics: Any

    @property
    def compiled_metrics(self) -> _CompiledMetrics:
        """Its `update_state` brings all metrics up to date: `compute_metrics` does so now."""
        warnings.warn("`compiled_metrics` is called `compute_metrics` now", stacklevel=2)
        return _CompiledMetrics(self)

    def compiled_loss(
        self, y: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Any = None
    ) -> Any:
        """The loss, of which the metric `loss` is told: `compute_loss` gives it now.

        Penalties count in any case.
        """
        warnings.warn("`compiled_loss` is called `compute_loss` now", stacklevel=2)
        loss = self.compute_loss(y=y, y_pred=y_pred, sample_weight=sample_weight)
        examples = registry.function("shape")(nest.flatten(y_pred)[0])[0]
        weight = registry.function("cast")(examples, "float32")
        _holdfast.model_metrics(self)[0].update_state(loss, sample_weight=weight)
        return loss
