"""`compile`, `fit`, `evaluate`, `predict`: Python's side of C++'s loops."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np

from .. import _holdfast, nest
from .._tensors.tensor import convert_to_tensor
from .._variables import strategies
from ..errors import fail
from .batches import batches_of, is_arrays

__all__ = ["Trainer"]


def _make_step(model: Any, name: str) -> Any:
    """A step of a model's class as the loops call it: traced once, unless told otherwise."""
    if model.run_eagerly:
        return _on_replica(model, getattr(model, name))
    made = model.__dict__.setdefault("_steps", {})
    if name not in made:
        from .._tracing.function import function

        # The model has the step: a step that had the model would keep both until Python's
        # collector comes by, which knows nothing of the tensors behind them.
        trained = weakref.ref(model)

        def one_step(data: Any) -> Any:
            held = trained()
            return _on_replica(held, getattr(held, name))(data)

        one_step.__name__ = one_step.__qualname__ = name
        made[name] = function(one_step, reduce_retracing=True)
    return made[name]


def _on_replica(model: Any, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A step as a replica of the model's strategy takes it, if the model was made under one."""
    strategy = model.__dict__.get("_strategy")
    if strategy is None:
        return step

    def on_replica(data: Any) -> Any:
        with strategy._speaking():
            return step(data)

    return on_replica


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _is_terminal() -> bool:
    return bool(getattr(sys.stdout, "isatty", lambda: False)())


_holdfast.set_training_calls(_make_step, _write, _is_terminal)


def _verbose(verbose: Any) -> int:
    if verbose == "auto":
        return 1
    if verbose not in (0, 1, 2, True, False):
        fail("E1104", f'`verbose` is {verbose!r}, expected "auto", 0, 1 or 2')
    return int(verbose)


class Trainer:
    """What models have for training. The state is C++'s."""

    # What an optimizer and metrics keep is no weight of the model.
    _IGNORED: ClassVar[frozenset[str]] = frozenset(
        {"_compile_arguments", "_steps", "_strategy", "history"}
    )
    run_eagerly: bool = False
    history: Any = None

    def _note_strategy(self) -> None:
        """A model belongs to the strategy in whose scope it is made."""
        now = strategies.innermost()
        if now is not None:
            self.__dict__["_strategy"] = now.strategy

    def _in_scope(self) -> AbstractContextManager[Any]:
        strategy = self.__dict__.get("_strategy")
        return nullcontext() if strategy is None else strategy.scope()

    @property
    def distribute_strategy(self) -> Any:
        """The `tf.distribute` strategy in whose scope the model was made; else the one in force."""
        found = self.__dict__.get("_strategy")
        if found is not None:
            return found
        from ..distribute.contexts import get_strategy

        return get_strategy()

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        loss_weights: Any = None,
        metrics: Any = None,
        weighted_metrics: Any = None,
        run_eagerly: bool = False,
        steps_per_execution: int = 1,
        jit_compile: Any = "auto",
        auto_scale_loss: bool = True,
        **kwargs: Any,
    ) -> None:
        """Says how the model is trained. Steps are compiled in any case: `jit_compile` is free."""
        if kwargs:
            fail("E1104", f"`compile` has no option `{next(iter(kwargs))}`")
        _holdfast.model_compile(
            self,
            {
                "optimizer": optimizer,
                "loss": loss,
                "loss_weights": loss_weights,
                "metrics": metrics,
                "weighted_metrics": weighted_metrics,
                "run_eagerly": bool(run_eagerly),
                "steps_per_execution": steps_per_execution,
                "auto_scale_loss": bool(auto_scale_loss),
            },
        )
        self.run_eagerly = bool(run_eagerly)
        self.__dict__["_steps"] = {}
        self.__dict__["_compile_arguments"] = {
            "optimizer": optimizer,
            "loss": loss,
            "loss_weights": loss_weights,
            "metrics": metrics,
            "weighted_metrics": weighted_metrics,
            "run_eagerly": bool(run_eagerly),
            "steps_per_execution": steps_per_execution,
        }

    @property
    def loss(self) -> Any:
        """The loss that `compile` was given."""
        return self.__dict__.get("_compile_arguments", {}).get("loss")

    @property
    def optimizer(self) -> Any:
        """The optimizer; None before `compile`."""
        return _holdfast.model_optimizer(self)

    @property
    def metrics(self) -> list[Any]:
        """The metrics that training brings up to date, the loss first."""
        mine = list(_holdfast.model_metrics(self))
        for part in self.submodules:  # type: ignore[attr-defined]
            if isinstance(part, _metric_type()) and not any(part is m for m in mine):
                mine.append(part)
        return mine

    @property
    def metrics_names(self) -> list[str]:
        """The names of the metrics."""
        return [metric.name for metric in self.metrics]

    def reset_metrics(self) -> None:
        """Sets all metrics to where they begin."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self) -> dict[str, Any]:
        """What the metrics say now."""
        return {metric.name: metric.result() for metric in self.metrics}

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: dict[int, float] | None = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
    ) -> Any:
        """Trains the model for some epochs, and gives the numbers of each."""
        if class_weight is not None:
            sample_weight = _by_class(y, class_weight, sample_weight)
        train = batches_of(
            x, y, sample_weight, batch_size, shuffle=bool(shuffle), leave_out_last=validation_split
        )
        test = None
        if validation_data is not None:
            if is_arrays(validation_data) or isinstance(validation_data, (tuple, list)):
                vx, vy, weight = [*validation_data, None, None][:3]
                test = batches_of(
                    vx, vy, weight, validation_batch_size or batch_size, shuffle=False
                )
            else:
                test = batches_of(validation_data, None, None, None, shuffle=False)
        elif validation_split:
            test = batches_of(
                x,
                y,
                sample_weight,
                validation_batch_size or batch_size,
                shuffle=False,
                leave_out_last=validation_split,
                only_last=True,
            )
        from .callbacks import History

        history = History()
        history.set_model(self)
        self.history = history
        options = {
            "epochs": epochs,
            "initial_epoch": initial_epoch,
            "verbose": _verbose(verbose),
            "callbacks": _listed(callbacks),
            "steps_per_epoch": steps_per_epoch,
            "validation_steps": validation_steps,
            "validation_freq": validation_freq,
        }
        with self._in_scope():
            epoch, numbers = _holdfast.model_fit(self, train, test, options)
        history.epoch, history.history = list(epoch), dict(numbers)
        return history

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The loss and the metrics over data."""
        if kwargs:
            fail("E1104", f"`evaluate` has no option `{next(iter(kwargs))}`")
        data = batches_of(x, y, sample_weight, batch_size, shuffle=False)
        options = {"verbose": _verbose(verbose), "steps": steps, "callbacks": _listed(callbacks)}
        with self._in_scope():
            logs = _holdfast.model_evaluate(self, data, options)
        if return_dict:
            return dict(logs)
        values = list(logs.values())
        return values[0] if len(values) == 1 else values

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """What the model gives for data, as NumPy arrays."""
        data = batches_of(x, None, None, batch_size, shuffle=False)
        options = {"verbose": _verbose(verbose), "steps": steps, "callbacks": _listed(callbacks)}
        with self._in_scope():
            made = _holdfast.model_predict(self, data, options)
        return nest.map_structure(lambda t: t.numpy(), made)

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: dict[int, float] | None = None,
        return_dict: bool = False,
    ) -> Any:
        """One step of training."""
        if class_weight is not None:
            sample_weight = _by_class(y, class_weight, sample_weight)
        return self._on_batch("train_step", (x, y, sample_weight), return_dict)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """One step of evaluation."""
        return self._on_batch("test_step", (x, y, sample_weight), return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """What the model gives for one batch, as NumPy arrays."""
        with self._in_scope():
            made = _make_step(self, "predict_step")((_tensors(x),))
        return nest.map_structure(lambda t: t.numpy(), made)

    def _on_batch(self, name: str, parts: tuple[Any, ...], return_dict: bool) -> Any:
        if not self.compiled:  # type: ignore[attr-defined]
            fail(
                "E1104",
                f"model `{self.name}` is not compiled",  # type: ignore[attr-defined]
                fix="call `model.compile(optimizer=..., loss=...)` first",
            )
        data = tuple(_tensors(part) for part in parts if part is not None)
        self.reset_metrics()  # what is given back is of this batch alone
        with self._in_scope():
            logs = _make_step(self, name)(data)
        numbers = {key: np.asarray(value.numpy()) for key, value in logs.items()}
        if return_dict:
            return numbers
        values = list(numbers.values())
        return values[0] if len(values) == 1 else values


def _tensors(value: Any) -> Any:
    if isinstance(value, (list, tuple, dict)) and not all(
        isinstance(leaf, (int, float)) for leaf in nest.flatten(value)
    ):
        return nest.map_structure(convert_to_tensor, value)
    return convert_to_tensor(value)


def _listed(callbacks: Any) -> list[Any]:
    if callbacks is None:
        return []
    flat: list[Any] = (
        nest.flatten(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
    )
    return [c for c in flat if c is not None]


def _metric_type() -> Any:
    from . import declared

    return declared.base_type("metrics.Metric")


def _by_class(y: Any, weights: dict[int, float], given: Any) -> Any:
    """Weights of examples by the classes of their targets."""
    if given is not None:
        fail("E1104", "`class_weight` and `sample_weight` can't be given both")
    if y is None:
        fail("E1104", "`class_weight` needs `y`: it weighs examples by their targets")
    by_class = {int(label): float(weight) for label, weight in weights.items()}
    return _holdfast.weights_by_class(np.asarray(y), by_class)
