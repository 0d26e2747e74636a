"""`tf.compat.v1.train`: learning rates that fall with the count of steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._graphs.eager import executing_eagerly
from .._graphs.name_scope import name_scope
from .._tensors import registry
from .._tensors.tensor import convert_to_tensor
from ..errors import fail

__all__ = [
    "cosine_decay",
    "cosine_decay_restarts",
    "exponential_decay",
    "inverse_time_decay",
    "linear_cosine_decay",
    "natural_exp_decay",
    "piecewise_constant",
    "polynomial_decay",
]

_add = registry.function("add")
_cast = registry.function("cast")
_ceil = registry.function("math.ceil")
_cos = registry.function("cos")
_divide = registry.function("divide")
_exp = registry.function("exp")
_floor = registry.function("floor")
_log = registry.function("math.log")
_maximum = registry.function("maximum")
_minimum = registry.function("minimum")
_multiply = registry.function("multiply")
_where = registry.function("where")


def _later(name: str, rate: Callable[[str], Any]) -> Any:
    """What `rate` makes in the scope `name`, of which it is told.

    It is a tensor of a graph; in eager code what gives the rate of the step that is counted then.
    """

    def in_scope() -> Any:
        with name_scope(name) as scope:
            return rate(scope)

    return in_scope if executing_eagerly() else in_scope()


def _falling(
    name: str, formula: Callable[..., Any], learning_rate: Any, global_step: Any, *others: Any
) -> Any:
    """`formula(name, learning_rate, global_step, *others)`, of tensors of the rate's dtype."""
    if global_step is None:
        raise ValueError(f"`{name}` needs `global_step`, the count of steps")

    def rate(scope: str) -> Any:
        start = convert_to_tensor(learning_rate)
        given = (_cast(convert_to_tensor(other), start.dtype) for other in (global_step, *others))
        return formula(scope, start, *given)

    return _later(name, rate)


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`learning_rate * decay_rate ** (global_step / decay_steps)`."""

    def rate(scope: str, start: Any, step: Any, time: Any, falls: Any) -> Any:
        return _multiply(start, falls ** _past(step, time, staircase), name=scope)

    name = name or "ExponentialDecay"
    return _falling(name, rate, learning_rate, global_step, decay_steps, decay_rate)


def _past(step: Any, time: Any, staircase: bool) -> Any:
    """How often the time of decay has passed."""
    return _floor(step / time) if staircase else step / time


def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Any:
    """`values[i]` up to `boundaries[i]`, and the last one behind them all."""
    if len(boundaries) != len(values) - 1:
        fail(
            "E1103",
            f"`piecewise_constant` got {len(boundaries)} boundaries and {len(values)} values, "
            "expected one value more",
        )

    def rate(_: str) -> Any:
        at = convert_to_tensor(x)
        kept = [convert_to_tensor(value) for value in values]
        if any(value.dtype != kept[0].dtype for value in kept):
            fail("E1101", "`values` of `piecewise_constant` are of different dtypes")
        found = kept[-1]
        for boundary, value in zip(reversed(list(boundaries)), reversed(kept[:-1]), strict=True):
            found = _where(at <= _cast(convert_to_tensor(boundary), at.dtype), value, found)
        return found

    return _later(name or "PiecewiseConstant", rate)


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Any:
    """From `learning_rate` to `end_learning_rate`, by a power of what is left of the time.

    With `cycle` the time is twice, three times ... as long once it has passed.
    """

    def rate(scope: str, start: Any, step: Any, time: Any, end: Any, by: Any) -> Any:
        past = step / time
        if cycle:
            past = past / _maximum(_ceil(past), 1)
        return _add((start - end) * (1 - _minimum(past, 1)) ** by, end, name=scope)

    name = name or "PolynomialDecay"
    return _falling(name, rate, learning_rate, global_step, decay_steps, end_learning_rate, power)


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`learning_rate * exp(-decay_rate * global_step / decay_steps)`."""

    def rate(scope: str, start: Any, step: Any, time: Any, falls: Any) -> Any:
        return _multiply(start, _exp(-falls * _past(step, time, staircase)), name=scope)

    name = name or "ExponentialDecay"
    return _falling(name, rate, learning_rate, global_step, decay_steps, decay_rate)


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`."""

    def rate(scope: str, start: Any, step: Any, time: Any, falls: Any) -> Any:
        return _divide(start, 1 + falls * _past(step, time, staircase), name=scope)

    name = name or "InverseTimeDecay"
    return _falling(name, rate, learning_rate, global_step, decay_steps, decay_rate)


def _half_wave(part: Any) -> Any:
    """From 1 to 0 while `part` goes from 0 to 1."""
    return 0.5 * (1 + _cos(math.pi * part))


def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Any:
    """Down to `alpha` of `learning_rate` by half a cosine."""

    def rate(_: str, start: Any, step: Any, time: Any) -> Any:
        return start * ((1 - alpha) * _half_wave(_minimum(step / time, 1)) + alpha)

    return _falling(name or "CosineDecay", rate, learning_rate, global_step, decay_steps)


def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: float = 2.0,
    m_mul: float = 1.0,
    alpha: float = 0.0,
    name: str | None = None,
) -> Any:
    """Half cosines one after another, each `t_mul` times as long and `m_mul` times as high."""

    def rate(scope: str, start: Any, step: Any, first: Any) -> Any:
        past = step / first
        if t_mul == 1:
            before = _floor(past)
            part = past - before
        else:
            before = _floor(_log(1 - past * (1 - t_mul)) / math.log(t_mul))
            part = (past - (1 - t_mul**before) / (1 - t_mul)) / t_mul**before
        high = (1 - alpha) * m_mul**before
        return _multiply(start, high * _half_wave(part) + alpha, name=scope)

    return _falling(name or "SGDRDecay", rate, learning_rate, global_step, first_decay_steps)


def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Any:
    """A cosine of some periods that falls as a line, above `beta`."""

    def rate(scope: str, start: Any, step: Any, time: Any) -> Any:
        part = _minimum(step / time, 1)
        line = (alpha + 1 - part) * _half_wave(2 * num_periods * part)
        return _multiply(start, line + beta, name=scope)

    return _falling(name or "LinearCosineDecay", rate, learning_rate, global_step, decay_steps)
