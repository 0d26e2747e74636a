"""`tf.keras.callbacks`: what looks on while a model is trained."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import fail
from . import declared


class Callback(declared.base_type("callbacks.Callback")):  # type: ignore[misc]
    """Base of callbacks: override what you want to be told."""

    params: dict[str, Any] | None = None
    model: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        """Is told the plan of the training before it begins."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Is told the model before the training begins."""
        self.model = model


declared.register({"path": "callbacks.Callback"}, Callback)


class History(Callback):
    """The numbers of each epoch: `history["loss"]`."""

    _trained: Callable[[], Any] | None = None

    def __init__(self) -> None:
        super().__init__()
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}

    @property
    def model(self) -> Any:
        """The model, as long as somebody has it: it has this history, and would never go by itself."""
        return self._trained() if self._trained else None

    @model.setter
    def model(self, model: Any) -> None:
        self._trained = None if model is None else weakref.ref(model)


class LambdaCallback(Callback):
    """Calls functions of the program: `LambdaCallback(on_epoch_end=lambda epoch, logs: ...)`."""

    def __init__(
        self,
        on_epoch_begin: Callable[..., Any] | None = None,
        on_epoch_end: Callable[..., Any] | None = None,
        on_train_begin: Callable[..., Any] | None = None,
        on_train_end: Callable[..., Any] | None = None,
        on_train_batch_begin: Callable[..., Any] | None = None,
        on_train_batch_end: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            "on_train_batch_begin": on_train_batch_begin,
            "on_train_batch_end": on_train_batch_end,
        }
        self._functions = {name: f for name, f in given.items() if f is not None}
        for name, value in kwargs.items():
            setattr(self, name, value)

    def _call(self, moment: str, *args: Any) -> None:
        if moment in self._functions:
            self._functions[moment](*args)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Calls the program's function."""
        self._call("on_epoch_begin", epoch, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Calls the program's function."""
        self._call("on_epoch_end", epoch, logs)

    def on_train_begin(self, logs: Any = None) -> None:
        """Calls the program's function."""
        self._call("on_train_begin", logs)

    def on_train_end(self, logs: Any = None) -> None:
        """Calls the program's function."""
        self._call("on_train_end", logs)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Calls the program's function."""
        self._call("on_train_batch_begin", batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Calls the program's function."""
        self._call("on_train_batch_end", batch, logs)


class LearningRateScheduler(Callback):
    """Asks a function for the learning rate of each epoch: `schedule(epoch, rate)`."""

    def __init__(self, schedule: Callable[..., Any], verbose: int = 0) -> None:
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Sets the rate of this epoch."""
        rate = float(np.asarray(self.model.optimizer.learning_rate))
        try:
            fresh = self.schedule(epoch, rate)
        except TypeError:  # as it was once: of the epoch alone
            fresh = self.schedule(epoch)
        if not isinstance(fresh, (float, int, np.floating)):
            fail("E1104", f"`schedule` gave {fresh!r} for epoch {epoch}, expected a number")
        self.model.optimizer.learning_rate = float(fresh)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {fresh}.")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Adds the rate to the numbers of the epoch."""
        if logs is not None:
            logs["learning_rate"] = float(np.asarray(self.model.optimizer.learning_rate))


class ModelCheckpoint(Callback):
    """Saves the model, or its weights, after epochs; all of them, or the best."""

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        super().__init__()
        if save_freq != "epoch":
            fail("E1105", f'`save_freq` is {save_freq!r}, and only "epoch" is supported')
        if mode not in ("auto", "min", "max"):
            fail("E1203", f"`mode` of ModelCheckpoint is {mode!r}, expected auto, min or max")
        self.filepath = str(filepath)
        wanted = ".weights.h5" if save_weights_only else ".keras"
        if not self.filepath.endswith(wanted):
            fail("E1104", f"`filepath` is {self.filepath!r}, expected one that ends with {wanted}")
        self.monitor, self.verbose = monitor, verbose
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        large = mode == "max" or (mode == "auto" and ("acc" in monitor or "auc" in monitor))
        self._sign = -1.0 if large else 1.0
        self.best = initial_value_threshold

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Saves, if this epoch is to be saved."""
        logs = logs or {}
        path = self.filepath.format(epoch=epoch + 1, **logs)
        if self.save_best_only:
            now = logs.get(self.monitor)
            if now is None:
                fail(
                    "E1104",
                    f"ModelCheckpoint watches `{self.monitor}`, which is not there",
                    f"there are {', '.join(f'`{name}`' for name in logs)}",
                )
            if self.best is not None and self._sign * now >= self._sign * self.best:
                return
            self.best = now
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)


__all__ = [  # noqa: PLE0604
    "Callback",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "ModelCheckpoint",
    *declared.export("callbacks", Callback, globals(), frozenset()),
]
