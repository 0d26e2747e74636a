"""Calls without effects: what is kept comes in as values, and goes out as values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _holdfast, nest
from .._gradients.custom import custom_gradient
from .._gradients.tape import GradientTape
from .._tensors import registry
from .._tensors.tensor import convert_to_tensor
from ..errors import fail

__all__ = ["StatelessLayer", "StatelessMetric", "StatelessOptimizer"]


def _need_all(given: Any, variables: Sequence[Any], argument: str, owner: Any) -> list[Any]:
    """As many values as there are variables, each of its shape and dtype."""
    values = list(given)
    if len(values) != len(variables):
        fail(
            "E1104",
            f"`{argument}` of `{type(owner).__name__}` has {len(values)} values, "
            f"expected {len(variables)}",
            "there is one for each variable, in their order",
        )
    made = [convert_to_tensor(v, dtype=to.dtype) for v, to in zip(values, variables, strict=True)]
    for value, variable in zip(made, variables, strict=True):
        if not variable.shape.is_compatible_with(value.shape):
            fail(
                "E1102",
                f"`{argument}` of `{type(owner).__name__}` has the shape {value.shape} for "
                f"`{variable.path}`, expected {variable.shape}",
            )
    return made


def _with_values(
    variables: Sequence[Any], values: Sequence[Any], run: Callable[[], Any]
) -> tuple[Any, list[Any]]:
    """What `run` gives while variables have other values, and their values after it."""
    before = [variable.read_value() for variable in variables]
    try:
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)
        said = run()
        return said, [variable.read_value() for variable in variables]
    finally:
        for variable, value in zip(variables, before, strict=True):
            variable.assign(value)


def _differentiable(
    variables: Sequence[Any], values: Sequence[Any], rest: Any, run: Callable[[], Any]
) -> tuple[Any, list[Any]]:
    """The same, with gradients of the results for the values instead of the variables."""
    others, given = rest
    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        for variable in variables:
            tape.watch(variable)
        said, after = _with_values([*variables, *others], [*values, *given], run)
    flat = nest.flatten(said)
    moving = [y for y in flat if y.dtype.is_floating]

    @custom_gradient
    def link(*_: Any) -> Any:
        def gradient(*upstream: Any) -> Any:
            return tape.gradient(
                moving, list(variables), list(upstream), unconnected_gradients="zero"
            )

        return [registry.function("zeros_like")(y) for y in moving], gradient

    if moving and variables:
        zeros = iter(link(*values))
        flat = [y + next(zeros) if y.dtype.is_floating else y for y in flat]
    return nest.pack_sequence_as(said, flat), after


def _need_built(owner: Any, method: str) -> None:
    if not owner.built:
        fail(
            "E1104",
            f"`{type(owner).__name__}.{method}` is called before there are variables",
            "values are given for variables, and these are made when it is built",
            fix="call it once, or its `build`",
        )


class StatelessLayer:
    """What layers do with values of their variables that are given."""

    def stateless_call(
        self,
        trainable_variables: Any,
        non_trainable_variables: Any,
        *args: Any,
        return_losses: bool = False,
        **kwargs: Any,
    ) -> Any:
        """What a call gives, and what it would have left in the variables that training keeps."""
        layer: Any = self
        _need_built(layer, "stateless_call")
        trained, others = layer.trainable_variables, layer.non_trainable_variables
        values = _need_all(trainable_variables, trained, "trainable_variables", self)
        rest = _need_all(non_trainable_variables, others, "non_trainable_variables", self)
        losses: list[Any] = []

        def run() -> Any:
            out = layer(*args, **kwargs)
            losses.extend(layer.losses if return_losses else ())
            return (out, list(losses))

        (out, lost), after = _differentiable(trained, values, (others, rest), run)
        kept = after[len(trained) :]
        return (out, kept, lost) if return_losses else (out, kept)


class StatelessMetric:
    """What metrics do with values of their variables that are given."""

    def stateless_update_state(self, metric_variables: Any, *args: Any, **kwargs: Any) -> Any:
        """The values of its variables after a batch."""
        metric: Any = self
        values = _need_all(metric_variables, metric.variables, "metric_variables", self)
        return _with_values(metric.variables, values, lambda: metric.update_state(*args, **kwargs))[
            1
        ]

    def stateless_result(self, metric_variables: Any) -> Any:
        """What it says for values of its variables."""
        metric: Any = self
        values = _need_all(metric_variables, metric.variables, "metric_variables", self)
        return _with_values(metric.variables, values, metric.result)[0]

    def stateless_reset_state(self) -> Any:
        """The values that its variables begin with."""
        metric: Any = self
        now = [variable.read_value() for variable in metric.variables]
        return _with_values(metric.variables, now, metric.reset_state)[1]


class StatelessOptimizer:
    """What optimizers do with values that are given."""

    def stateless_apply(
        self, optimizer_variables: Any, grads: Any, trainable_variables: Any
    ) -> tuple[Any, Any]:
        """The values of the variables, and of what is kept beside them, after a step."""
        optimizer: Any = self
        _need_built(optimizer, "stateless_apply")
        kept, moved = optimizer.variables, _holdfast.trained_variables(self)
        values = _need_all(trainable_variables, moved, "trainable_variables", self)
        rest = _need_all(optimizer_variables, kept, "optimizer_variables", self)
        _, after = _with_values(
            [*moved, *kept], [*values, *rest], lambda: optimizer.apply(list(grads))
        )
        return after[: len(moved)], after[len(moved) :]
