"""`tf.keras.metrics`: C++'s classes, all of which can be subclassed here, and functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._variables.spec import VariableAggregation
from ..errors import fail, unsupported
from . import declared, losses
from .by_name import FromConfig, snake_case
from .configs import (
    deserialize_keras_object,
    holds_functions,
    made_by_python,
    named_or_made,
    serialize_keras_object,
)
from .stateless import StatelessMetric

_AGGREGATIONS: dict[str, VariableAggregation] = {
    "none": VariableAggregation.NONE,
    "mean": VariableAggregation.MEAN,
    "sum": VariableAggregation.SUM,
    "only_first_replica": VariableAggregation.ONLY_FIRST_REPLICA,
}


def _made_again(kind: Any, config: dict[str, Any], values: list[Any]) -> Any:
    made = kind.from_config(config)
    for variable, value in zip(made.variables, values, strict=True):
        variable.assign(value)
    return made


class _Methods(FromConfig, StatelessMetric):
    """What metrics do in Python beside what C++ asks them."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Takes a batch in, and says what all batches say."""
        self.update_state(*args, **kwargs)
        return self.result()

    def __getattr__(self, name: str) -> Any:
        """What it gathers, by name: `total` and `count` of a mean."""
        for variable in () if name.startswith("_") else self.variables:
            if variable.name == name:
                return variable
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        """What `copy` and `pickle` make one from again: its config, and what it has gathered."""
        values = [variable.numpy() for variable in self.variables]
        if len(self.clone().variables) != len(values):
            unsupported(
                f"`{self.name}` ({type(self).__name__}) can't be copied",
                "it has gathered values whose sizes came with the first batch",
                fix="copy it before the first batch",
            )
        return _made_again, (type(self), self.get_config(), values)

    def add_variable(
        self,
        shape: Any,
        initializer: Any = "zeros",
        dtype: Any = None,
        aggregation: str | None = "sum",
        name: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """A number, or several, that the metric gathers.

        `aggregation` says what becomes of the values of several replicas.
        """
        if kwargs.pop("layout", None) is not None:
            unsupported(
                "`layout` of a metric's variable is not supported",
                "a layout says how values lie on several devices",
            )
        if kwargs:
            fail("E1104", f"`add_variable` has no argument `{next(iter(kwargs))}`")
        wanted = _AGGREGATIONS.get(aggregation or "none")
        if wanted is None:
            known = ", ".join(f'"{one}"' for one in _AGGREGATIONS)
            fail("E1203", f"`aggregation` is {aggregation!r}, expected one of {known}")
        made = _holdfast.add_metric_variable(self, name or "variable", shape, initializer, dtype)
        made._aggregation = wanted
        return made

    def add_weight(
        self, shape: Any = (), initializer: Any = None, dtype: Any = None, name: str | None = None
    ) -> Any:
        """The same, by an older name."""
        first = "zeros" if initializer is None else initializer
        return self.add_variable(shape, first, dtype, name=name)


_CLASSES = declared.export("metrics", _Methods, globals(), frozenset({"name", "dtype"}))
Metric: Any = declared.class_of("metrics.Metric")


@made_by_python
class MeanMetricWrapper(declared.class_of("metrics.Mean")):  # type: ignore[misc]
    """The mean of what a function of labels and predictions gives."""

    def __init__(self, fn: Any, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name=name, dtype=dtype)
        self._fn = fn
        self._fn_kwargs = kwargs
        if any(fn is loss for loss in losses._FUNCTIONS.values()):
            self._direction = "down"  # what callbacks go by

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in what the function gives for a batch."""
        values = self._fn(y_true, y_pred, **self._fn_kwargs)
        super().update_state(values, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        """What the metric can be made from again."""
        fn = serialize_keras_object(self._fn)
        return {"name": self.name, "dtype": self.dtype, "fn": fn, **self._fn_kwargs}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """One made with what `get_config` gave."""
        fn = config.get("fn")
        return cls(**{**config, "fn": deserialize_keras_object(fn) if isinstance(fn, dict) else fn})


def _function(info: dict[str, Any]) -> Callable[..., Any]:
    """What a metric averages, for each example."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    options = [o for o in info["options"] if o[0] not in ("name", "dtype")]
    signature = inspect.Signature(
        [inspect.Parameter("y_true", kind), inspect.Parameter("y_pred", kind)]
        + [inspect.Parameter(option, kind, default=default) for option, default, _ in options]
    )

    def function(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        y_true, y_pred = given.pop("y_true"), given.pop("y_pred")
        return _holdfast.metric_values(info["path"], y_true, y_pred, given)

    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = snake_case(info["name"])
    function.__doc__ = f"{info['doc']} One value for each example."
    function.__module__ = __name__
    return _holdfast.PublicFunction(function)


_OF_LOSSES = """
  mean_squared_error mean_absolute_error mean_absolute_percentage_error
  mean_squared_logarithmic_error binary_crossentropy binary_focal_crossentropy
  categorical_crossentropy categorical_focal_crossentropy sparse_categorical_crossentropy
  categorical_hinge hinge squared_hinge huber kl_divergence log_cosh poisson
  mse MSE mae MAE mape MAPE msle MSLE kld KLD kullback_leibler_divergence logcosh
"""
_FUNCTIONS: dict[str, Any] = {name: getattr(losses, name) for name in _OF_LOSSES.split()}
for _info in declared.classes("metrics"):
    if _info["name"].endswith(("Accuracy", "Correlation")) and _info["name"] != "Accuracy":
        _made = _function(_info)
        _FUNCTIONS[_made.__name__] = _made
globals().update(_FUNCTIONS)


def get(identifier: Any) -> Any:
    """The metric of a name or of a config, or itself."""
    if isinstance(identifier, type):
        return identifier()
    if callable(identifier):
        return identifier
    return _holdfast.keras_object(identifier, "metrics", "`identifier` of `metrics.get`")


def serialize(metric: Any) -> Any:
    """What it can be made from again: a function is its name."""
    name = getattr(metric, "__name__", None)
    return name if name in _FUNCTIONS else serialize_keras_object(metric)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The metric that a name or a config describes."""
    return named_or_made(config, custom_objects, get)


__all__ = [  # noqa: PLE0604
    *_CLASSES,
    *_FUNCTIONS,
    "MeanMetricWrapper",
    "deserialize",
    "get",
    "serialize",
]

holds_functions(_FUNCTIONS)
