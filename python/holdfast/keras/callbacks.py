"""`tf.keras.callbacks`: what looks on while a model is trained."""

from __future__ import annotations

from typing import Any

from . import declared

__all__ = ["Callback", "History"]


class Callback(declared.base_type("callbacks.Callback")):  # type: ignore[misc]
    """Base of callbacks: override what you want to be told."""

    def __init__(self) -> None:
        self.params: dict[str, Any] = {}
        self.model: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        """Is told the plan of the training before it begins."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Is told the model before the training begins."""
        self.model = model


declared.register({"path": "callbacks.Callback"}, Callback)


class History(Callback):
    """The numbers of each epoch: `history["loss"]`."""

    def __init__(self) -> None:
        super().__init__()
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}
