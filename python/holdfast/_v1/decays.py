"""`tf.compat.v1.train`: learning rates that fall with the count of steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._graphs.eager import executing_eagerly
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

_cast = registry.function("cast")
_floor = registry.function("floor")
_maximum = registry.function("maximum")
_minimum = registry.function("minimum")
_where = registry.function("where")


def _later(rate: Callable[[], Any]) -> Any:
    """A tensor of a graph; in eager code what gives the rate of the step that is counted then."""
    return rate if executing_eagerly() else rate()


def _need_steps(global_step: Any, name: str) -> None:
    if global_step is None:
        raise ValueError(f"`{name}` needs `global_step`, the count of steps")


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`learning_rate * decay_rate ** (global_step / decay_steps)`."""
    _need_steps(global_step, "exponential_decay")

    def rate() -> Any:
        start = convert_to_tensor(learning_rate)
        past = _past(global_step, decay_steps, start.dtype, staircase)
        return start * _cast(convert_to_tensor(decay_rate), start.dtype) ** past

    return _later(rate)


def _past(global_step: Any, decay_steps: Any, dtype: Any, staircase: bool = False) -> Any:
    """How often the time of decay has passed."""
    steps, time = (_cast(convert_to_tensor(x), dtype) for x in (global_step, decay_steps))
    return _floor(steps / time) if staircase else steps / time


def _passed(global_step: Any, decay_steps: Any, dtype: Any) -> Any:
    """The part of the time of decay that has passed, 1 at most."""
    return _minimum(_past(global_step, decay_steps, dtype), 1)


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

    def rate() -> Any:
        at = convert_to_tensor(x)
        kept = [convert_to_tensor(value) for value in values]
        if any(value.dtype != kept[0].dtype for value in kept):
            fail("E1101", "`values` of `piecewise_constant` are of different dtypes")
        found = kept[-1]
        for boundary, value in zip(reversed(list(boundaries)), reversed(kept[:-1]), strict=True):
            found = _where(at <= _cast(convert_to_tensor(boundary), at.dtype), value, found)
        return found

    return _later(rate)


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
    _need_steps(global_step, "polynomial_decay")

    def rate() -> Any:
        start = convert_to_tensor(learning_rate)
        end, by = (_cast(convert_to_tensor(v), start.dtype) for v in (end_learning_rate, power))
        past = _past(global_step, decay_steps, start.dtype)
        if cycle:
            past = past / _maximum(registry.function("math.ceil")(past), 1)
        return (start - end) * (1 - _minimum(past, 1)) ** by + end

    return _later(rate)


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`learning_rate * exp(-decay_rate * global_step / decay_steps)`."""
    _need_steps(global_step, "natural_exp_decay")

    def rate() -> Any:
        start = convert_to_tensor(learning_rate)
        past = _past(global_step, decay_steps, start.dtype, staircase)
        falls = _cast(convert_to_tensor(decay_rate), start.dtype)
        return start * registry.function("exp")(-falls * past)

    return _later(rate)


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`."""
    _need_steps(global_step, "inverse_time_decay")

    def rate() -> Any:
        start = convert_to_tensor(learning_rate)
        past = _past(global_step, decay_steps, start.dtype, staircase)
        return start / (1 + _cast(convert_to_tensor(decay_rate), start.dtype) * past)

    return _later(rate)


def _half_wave(part: Any) -> Any:
    """From 1 to 0 while `part` goes from 0 to 1."""
    return 0.5 * (1 + registry.function("cos")(math.pi * part))


def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Any:
    """Down to `alpha` of `learning_rate` by half a cosine."""
    _need_steps(global_step, "cosine_decay")

    def rate() -> Any:
        start = convert_to_tensor(learning_rate)
        part = _passed(global_step, decay_steps, start.dtype)
        return start * ((1 - alpha) * _half_wave(part) + alpha)

    return _later(rate)


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
    _need_steps(global_step, "cosine_decay_restarts")

    def rate() -> Any:
        start = convert_to_tensor(learning_rate)
        past = _past(global_step, first_decay_steps, start.dtype)
        if t_mul == 1:
            before = _floor(past)
            part = past - before
        else:
            log = registry.function("math.log")
            before = _floor(log(1 - past * (1 - t_mul)) / math.log(t_mul))
            part = (past - (1 - t_mul**before) / (1 - t_mul)) / t_mul**before
        return start * ((1 - alpha) * m_mul**before * _half_wave(part) + alpha)

    return _later(rate)


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
    _need_steps(global_step, "linear_cosine_decay")

    def rate() -> Any:
        start = convert_to_tensor(learning_rate)
        part = _passed(global_step, decay_steps, start.dtype)
        return start * ((alpha + 1 - part) * _half_wave(2 * num_periods * part) + beta)

    return _later(rate)
