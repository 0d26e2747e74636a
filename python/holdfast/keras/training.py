"""`compile`, `fit`, `evaluate`, `predict`: Python's side of C++'s loops."""

from __future__ import annotations

import itertools
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np

from .. import _holdfast, nest
from .._messages.logger import get_logger
from .._tensors.tensor import convert_to_tensor
from .._variables import strategies
from ..errors import fail
from .batches import Weighed, batches_of, is_array, is_arrays
from .config import (
    is_interactive_logging_enabled,
    limited,
    max_epochs,
    max_steps_per_epoch,
)
from .configs import get_registered_object
from .earlier_training import EarlierTraining

__all__ = ["Trainer", "show"]


def _make_step(model: Any, name: str) -> Any:
    """A step of a model as the loops call it."""
    what = name.removesuffix("_step")
    maker = f"make_{what}_function"
    if getattr(type(model), maker) is getattr(Trainer, maker):
        return _own_step(model, name)
    # A class that makes its own functions of iterators.
    getattr(model, maker)()
    function = getattr(model, f"{what}_function")
    return lambda data: function(iter([data]))


def _own_step(model: Any, name: str) -> Any:
    """A step of a model's class: traced once, unless told otherwise."""
    # The model has the step: a step that had the model would keep both until Python's collector
    # comes by, which knows nothing of the tensors behind them.
    trained = weakref.ref(model)
    trains = name == "train_step"

    def one_step(data: Any) -> Any:
        held = trained()
        step = getattr(held, name)
        with _holdfast.StepScope(trains):
            made = _on_replica(held, step)(data)
        if name == "predict_step" and not isinstance(step, types.BuiltinFunctionType):
            held.__dict__["_predicted"] = type(made)  # C++ knows tuples without names alone
        return made

    if model.run_eagerly:
        return one_step
    made = model.__dict__.setdefault("_steps", {})
    if name not in made:
        from .._tracing.function import function

        one_step.__name__ = one_step.__qualname__ = name
        made[name] = function(one_step, reduce_retracing=True)
    return made[name]


def _in_form(model: Any, made: Any) -> Any:
    """Predictions as NumPy arrays, in the named tuple that the model's `call` gives.

    A `predict_step` of the program's own may give something else.
    """
    arrays = nest.map_structure(lambda t: t.numpy(), made)
    named = model.__dict__.get("_predicted", model.__dict__.get("_named_outputs"))
    fits = hasattr(named, "_fields") and type(arrays) is tuple and len(arrays) == len(named._fields)
    return named(*arrays) if fits else arrays


def _on_replica(model: Any, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A step as a replica of the model's strategy takes it, if the model was made under one."""
    strategy = model.__dict__.get("_strategy")
    if strategy is None:
        return step

    def on_replica(data: Any) -> Any:
        with strategy._speaking():
            return step(data)

    return on_replica


def show(text: str) -> None:
    """Writes to the standard output, or to the log where the program wants that."""
    if is_interactive_logging_enabled():
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    for line in filter(None, text.splitlines()):
        get_logger().info(line)


def _is_terminal() -> bool:
    """Whether lines can be redrawn: those of a log can't."""
    return is_interactive_logging_enabled() and bool(getattr(sys.stdout, "isatty", lambda: False)())


_holdfast.set_training_calls(_make_step, show, _is_terminal)


def _verbose(verbose: Any) -> int:
    if verbose == "auto":
        return 1
    if verbose not in (0, 1, 2, True, False):
        fail("E1104", f'`verbose` is {verbose!r}, expected "auto", 0, 1 or 2')
    return int(verbose)


class Trainer(EarlierTraining):
    """What models have for training. The state is C++'s."""

    # What an optimizer and metrics keep is no weight of the model.
    _IGNORED: ClassVar[frozenset[str]] = frozenset(
        {
            *("_auto_scale_loss", "_compile_arguments", "_named_outputs", "_predicted"),
            *("_steps", "_strategy", "history"),
        }
    )
    reset_metrics: Callable[[], None]  # C++'s
    run_eagerly: bool = False
    steps_per_execution: int = 1
    jit_compile: bool = False
    train_function: Any = None
    test_function: Any = None
    predict_function: Any = None
    history: Any = None

    def _note_strategy(self) -> None:
        """A model belongs to the strategy in whose scope it is made."""
        now = strategies.innermost()
        if now is not None:
            self.__dict__["_strategy"] = now.strategy

    def _in_scope(self) -> AbstractContextManager[Any]:
        strategy = self.__dict__.get("_strategy")
        if strategy is None:
            return nullcontext()
        strategy._need_one_replica(
            f"training, evaluation or prediction of a `{type(self).__name__}`"
        )
        scope: AbstractContextManager[Any] = strategy.scope()
        return scope

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
        """Says how the model is trained.

        Steps are traced and compiled unless `run_eagerly`, which `jit_compile` may ask for too;
        there is no second compiler that it could turn off.
        """
        if kwargs:
            fail("E1104", f"`compile` has no option `{next(iter(kwargs))}`")
        if jit_compile not in ("auto", None, True, False):
            fail("E1104", f'`jit_compile` is {jit_compile!r}, expected True, False or "auto"')
        if run_eagerly and jit_compile is True:
            fail(
                "E1104",
                "`run_eagerly` and `jit_compile` are both True",
                "what runs op by op is not compiled",
                fix="leave one of them out",
            )
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
        self.steps_per_execution = int(steps_per_execution)
        self.jit_compile = jit_compile if isinstance(jit_compile, bool) else False
        self.train_function = self.test_function = self.predict_function = None
        for earlier in ("optimizer", "loss"):
            self.__dict__.pop(earlier, None)
        self.__dict__["_auto_scale_loss"] = bool(auto_scale_loss)
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

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compiles the model as `get_compile_config` described it."""
        if type(self).compile is not Trainer.compile:
            warnings.warn(
                f"`{type(self).__name__}` has a `compile` of its own, so it is not compiled as it "
                "was when it was saved; override `compile_from_config` too, or call `compile`",
                stacklevel=2,
            )
            return
        self.compile(**{name: _made(value, name) for name, value in config.items()})
        if self.built and self.optimizer is not None:  # type: ignore[attr-defined]
            self.optimizer.build(self.trainable_variables)  # type: ignore[attr-defined]

    def make_train_function(self, force: bool = False) -> Any:
        """Makes `train_function`, which takes an iterator of batches and makes its next steps."""
        return self._make_function("train_function", "train_step", force)

    def make_test_function(self, force: bool = False) -> Any:
        """Makes `test_function`, likewise."""
        return self._make_function("test_function", "test_step", force)

    def make_predict_function(self, force: bool = False) -> Any:
        """Makes `predict_function`, likewise."""
        return self._make_function("predict_function", "predict_step", force)

    def _make_function(self, name: str, step: str, force: bool) -> Any:
        if getattr(self, name) is None or force:
            if force:
                self.__dict__.get("_steps", {}).pop(step, None)
            one = _own_step(self, step)

            def run(batches: Iterator[Any]) -> Any:
                made = one(next(batches))
                for batch in itertools.islice(batches, self.steps_per_execution - 1):
                    made = one(batch)
                return made

            setattr(self, name, run)
        return getattr(self, name)

    @property
    def loss(self) -> Any:
        """The loss that `compile` was given, or the program since."""
        arguments = self.__dict__.get("_compile_arguments", self.__dict__)
        return arguments.get("loss")

    @loss.setter
    def loss(self, loss: Any) -> None:
        self._train_with("loss", loss)

    @property
    def optimizer(self) -> Any:
        """The optimizer that `compile` was given, or the program since; None before that."""
        by = _holdfast.model_optimizer(self)
        return self.__dict__.get("optimizer") if by is None else by

    @optimizer.setter
    def optimizer(self, optimizer: Any) -> None:
        self._train_with("optimizer", optimizer)

    def _train_with(self, name: str, value: Any) -> None:
        """What a class sets by itself: a model not compiled yet keeps it as any attribute."""
        if "_compile_arguments" not in self.__dict__:
            self.__dict__[name] = value
            return
        given = {**self.__dict__["_compile_arguments"], "optimizer": self.optimizer, name: value}
        jit, scaled = self.jit_compile or "auto", self.__dict__["_auto_scale_loss"]
        Trainer.compile(self, **given, jit_compile=jit, auto_scale_loss=scaled)

    @property
    def metrics_names(self) -> list[str]:
        """The names of the metrics, the loss first."""
        made = _holdfast.model_metrics(self)
        told = self.metrics
        names = [metric.name for metric in told]
        if len(made) != 1 or not (told and told[0] is made[0]):
            return names
        outputs = list(getattr(self, "output_names", ())) or [""]
        return [*_holdfast.metric_names_to_come(self, outputs), *names[1:]]

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
        whole = y is not None or is_arrays(x)
        if class_weight is not None and whole:
            sample_weight = _by_class(y, class_weight, sample_weight)
        train = batches_of(
            x, y, sample_weight, batch_size, shuffle=bool(shuffle), leave_out_last=validation_split
        )
        if class_weight is not None and not whole:
            train = Weighed(train, {int(k): float(v) for k, v in class_weight.items()})
        test = None
        if validation_data is not None:
            if is_array(validation_data):
                fail(
                    "E1104",
                    "`validation_data` is one array, expected `(x, y)`",
                    "a model is validated by comparing what it gives with targets",
                    fix="give both: `validation_data=(x, y)`",
                )
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

        told = _listed(callbacks)
        history = next((c for c in told if isinstance(c, History)), None)
        if history is None:
            told.append(history := History())
        self.history = history
        options = {
            "epochs": limited(epochs, max_epochs(), "epochs"),
            "initial_epoch": initial_epoch,
            "verbose": _verbose(verbose),
            "callbacks": told,
            "steps_per_epoch": limited(steps_per_epoch, max_steps_per_epoch(), "steps_per_epoch"),
            "validation_steps": limited(
                validation_steps,
                max_steps_per_epoch() if test is not None else None,
                "validation_steps",
            ),
            "validation_freq": validation_freq,
        }
        with self._in_scope():
            _holdfast.model_fit(self, train, test, options)
        if self.built and not self.trainable_variables:  # type: ignore[attr-defined]
            warnings.warn(
                f"model `{self.name}` has no trainable weights: "  # type: ignore[attr-defined]
                "`fit` changed nothing",
                stacklevel=2,
            )
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
        most = limited(steps, max_steps_per_epoch(), "steps")
        options = {"verbose": _verbose(verbose), "steps": most, "callbacks": _listed(callbacks)}
        with self._in_scope():
            logs = _holdfast.model_evaluate(self, data, options)
        return dict(sorted(logs.items())) if return_dict else self._in_order(logs)

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
        most = limited(steps, max_steps_per_epoch(), "steps")
        options = {"verbose": _verbose(verbose), "steps": most, "callbacks": _listed(callbacks)}
        with self._in_scope():
            made = _holdfast.model_predict(self, data, options)
        return _in_form(self, made)

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
            made = _own_step(self, "predict_step")((_tensors(x),))
        return _in_form(self, made)

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
        numbers = _numbers(logs)
        return dict(sorted(numbers.items())) if return_dict else self._in_order(numbers)

    def _in_order(self, logs: dict[str, Any]) -> Any:
        """Numbers as Keras lists them: by the metrics' names, in their order; then the others.

        What two metrics have as their name is listed twice, as programs that count places expect.
        """
        first = [name for name in _holdfast.metric_order(self) if name in logs]
        names = [*first, *(name for name in sorted(logs) if name not in first)]
        values = [logs[name] for name in names]
        return values[0] if len(values) == 1 else values


# A loss and a metric may share a name: what an argument takes tells them apart.
_FOLDERS = {
    "optimizer": "optimizers",
    "loss": "losses",
    "metrics": "metrics",
    "weighted_metrics": "metrics",
}


def _made(value: Any, argument: str) -> Any:
    """What a config of `compile` says: objects where it names classes and functions."""
    if isinstance(value, (list, tuple)):
        return [_made(one, argument) for one in value]
    if not isinstance(value, dict):
        return value
    if "class_name" not in value or "config" not in value:
        return {name: _made(one, argument) for name, one in value.items()}
    own = (value.get("registered_name"), value["class_name"])
    if value["class_name"] == "function":
        own = (value.get("registered_name"), value["config"])
    found = next(filter(None, map(get_registered_object, own)), None)
    if found is not None:
        kind: Any = found
        return kind.from_config(value["config"]) if isinstance(found, type) else found
    if value["class_name"] != "function":
        return _holdfast.keras_object(value, _FOLDERS[argument], f"`{argument}`")
    return fail(
        "E1203",
        f"`{argument}` of the model was the function `{value['config']}`, which nobody knows here",
        "a file holds names of functions, and no code",
        fix=f'load it with `custom_objects={{"{value["config"]}": ...}}`, or `compile=False`',
    )


def _numbers(logs: dict[str, Any]) -> dict[str, Any]:
    """What a step tells: numbers and arrays; each of a dict inside by its own name."""
    out: dict[str, Any] = {}
    for name, value in logs.items():
        if isinstance(value, dict):
            out |= _numbers(value)
        else:
            array = np.asarray(nest.map_structure(lambda t: t.numpy(), value))
            is_number = array.ndim == 0 and array.dtype.kind not in "OSUc"
            out[name] = float(array) if is_number else array
    return out


def _tensors(value: Any) -> Any:
    if isinstance(value, (list, tuple, dict)) and not all(
        isinstance(leaf, (int, float)) for leaf in nest.flatten(value)
    ):
        return nest.map_structure(convert_to_tensor, value)
    return convert_to_tensor(value)


def _listed(callbacks: Any) -> list[Any]:
    if callbacks is None:
        return []
    if isinstance(held := getattr(callbacks, "callbacks", None), list):
        callbacks = held  # a CallbackList
    flat: list[Any] = (
        nest.flatten(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
    )
    return [c for c in flat if c is not None]


def _by_class(y: Any, weights: dict[int, float], given: Any) -> Any:
    """Weights of examples by the classes of their targets."""
    if given is not None:
        fail("E1104", "`class_weight` and `sample_weight` can't be given both")
    if y is None:
        fail("E1104", "`class_weight` needs `y`: it weighs examples by their targets")
    by_class = {int(label): float(weight) for label, weight in weights.items()}
    return _holdfast.weights_by_class(np.asarray(y), by_class)
