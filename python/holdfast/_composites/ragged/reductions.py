"""Sums, means and the like over axes of ragged tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.composite import handles
from ..._tensors.tensor import Tensor, get_static_value
from ...errors import fail
from . import partition
from .dense import from_tensor
from .reshaping import expand_dims
from .tensor import RaggedTensor, is_ragged, whole_axis

__all__: list[str] = []

_cast = registry.function("cast")
_gather = registry.function("gather")
_maximum = registry.function("maximum")
_reduce_max = registry.function("reduce_max")

_segment_sum = registry.function("math.unsorted_segment_sum")
_segment_max = registry.function("math.unsorted_segment_max")


def _shifted(values: Any, numbers: Any, count: Any) -> tuple[Any, Any]:
    """Values less the largest of their segment, so that exp stays in range; and the largest."""
    largest = registry.function("stop_gradient")(_segment_max(values, numbers, count))
    finite = registry.function("math.is_finite")(largest)
    largest = registry.function("where")(finite, largest, registry.function("zeros_like")(largest))
    return values - _gather(largest, numbers), largest


def _segment_logsumexp(values: Any, numbers: Any, count: Any) -> Any:
    shifted, largest = _shifted(values, numbers, count)
    total = _segment_sum(registry.function("exp")(shifted), numbers, count)
    return registry.function("math.log")(total) + largest


# What makes one value of those with the same number.
_SEGMENTS: dict[str, Callable[..., Any]] = {
    "reduce_sum": _segment_sum,
    "reduce_prod": registry.function("math.unsorted_segment_prod"),
    "reduce_max": _segment_max,
    "reduce_min": registry.function("math.unsorted_segment_min"),
}


def _axes(axis: Any, ragged: Any, name: str) -> list[int] | None:
    """The axes to reduce, the innermost first; None for all."""
    if axis is None:
        return None
    if isinstance(axis, Tensor):
        axis = get_static_value(axis)
        if axis is None:
            fail("E1105", f"`{name}` of a RaggedTensor needs `axis` while tracing")
    given = list(axis) if hasattr(axis, "__len__") else [axis]
    rank = ragged.shape.rank
    return sorted({whole_axis(a, rank, "axis", name) for a in given}, reverse=True)


class _Fold:
    """How values become one: along an axis of a dense tensor, and by their numbers."""

    def __init__(self, name: str, of_axis: Callable[..., Any], of_segments: Callable[..., Any]):
        self.name, self.of_axis, self.of_segments = name, of_axis, of_segments


_FOLDS = {how: _Fold(how, registry.function(how), each) for how, each in _SEGMENTS.items()}


def _reduced(how: str | _Fold, ragged: Any, axis: Any, keepdims: Any) -> Any:
    fold = _FOLDS[how] if isinstance(how, str) else how
    axes = _axes(axis, ragged, fold.name)
    if axes is None:
        whole = fold.of_axis(ragged.flat_values, None)
        if not keepdims:
            return whole
        rank = ragged.shape.rank
        return registry.function("reshape")(whole, [1] * rank)
    for at in axes:
        ragged = _along(fold, ragged, at)
        if keepdims:
            ragged = expand_dims(ragged, at)
    return ragged


def _along(fold: _Fold, values: Any, axis: int) -> Any:
    if not is_ragged(values):
        return fold.of_axis(values, [axis])
    if axis > 1:
        inner = _along(fold, values.values, axis - 1)
        return RaggedTensor._rows(inner, values.row_splits, values._uniform[0])
    splits = values.row_splits
    if axis == 1:
        return _segments(fold, values.values, partition.rowids_of(splits), values.nrows())
    lengths = partition.lengths_of(splits)
    count = _maximum(_reduce_max(lengths), 0)
    return _segments(fold, values.values, partition.positions(lengths), count)


def _segments(fold: _Fold, values: Any, numbers: Any, count: Any) -> Any:
    """Values of the same number as one; ragged ones place by place."""
    if not is_ragged(values):
        return fold.of_segments(values, numbers, count)
    # How long each result is, and which place of it each inner value goes to.
    lengths = partition.lengths_of(values.row_splits)
    longest = _maximum(_segment_max(lengths, numbers, count), 0)
    splits = partition.splits_of_lengths(longest)
    starts = _gather(splits[:-1], numbers)
    places = partition.gathered(starts, lengths)
    return RaggedTensor._rows(_segments(fold, values.values, places, splits[-1]), splits)


@named_ops
def _reduce(
    how: str, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None
) -> Any:
    return _reduced(how, input_tensor, axis, keepdims)


for _how in _SEGMENTS:
    handles(registry.function(_how), RaggedTensor)(functools.partial(_reduce, _how))


@handles(registry.function("reduce_mean"), RaggedTensor)
@named_ops
def _mean(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> Any:
    total = _reduced("reduce_sum", input_tensor, axis, keepdims)
    ones = input_tensor.with_flat_values(registry.function("ones_like")(input_tensor.flat_values))
    count = _reduced("reduce_sum", ones, axis, keepdims)
    if is_ragged(total):
        return total.with_flat_values(total.flat_values / count.flat_values)
    return total / count


@handles(registry.function("math.reduce_variance"), RaggedTensor)
@named_ops
def _variance(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> Any:
    square = registry.function("square")
    mean_of_squares = _mean(square(input_tensor), axis, keepdims)
    found = registry.function("subtract")(
        mean_of_squares, square(_mean(input_tensor, axis, keepdims))
    )
    return _maximum(found, 0.0)  # which rounding may miss


@handles(registry.function("math.reduce_std"), RaggedTensor)
@named_ops
def _std(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> Any:
    return registry.function("sqrt")(_variance(input_tensor, axis, keepdims))


@handles(registry.function("reduce_logsumexp"), RaggedTensor)
@named_ops
def _logsumexp(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> Any:
    fold = _Fold("reduce_logsumexp", registry.function("reduce_logsumexp"), _segment_logsumexp)
    return _reduced(fold, input_tensor, axis, keepdims)


@named_ops
def _softmax(function: Callable[..., Any], logits: Any, axis: Any = None, name: Any = None) -> Any:
    last = logits.shape.rank - 1
    if axis is not None and whole_axis(axis, last + 1, "axis", function.__name__) != last:
        fail("E1105", f"`{function.__name__}` of a RaggedTensor along another axis than the last")
    flat = logits.flat_values
    if flat.shape.rank > 1:
        return logits.with_flat_values(function(flat, -1))
    splits = logits.nested_row_splits[-1]
    rows, count = partition.rowids_of(splits), partition.row_count(splits)
    shifted, _ = _shifted(flat, rows, count)
    powers = registry.function("exp")(shifted)
    total = _segment_sum(powers, rows, count)
    if "log" in function.__name__:
        return logits.with_flat_values(
            shifted - _gather(registry.function("math.log")(total), rows)
        )
    return logits.with_flat_values(powers / _gather(total, rows))


for _path in ("nn.softmax", "nn.log_softmax"):
    _function = registry.function(_path)
    handles(_function, RaggedTensor)(functools.partial(_softmax, _function))


@handles(registry.function("strings.reduce_join"), RaggedTensor)
@named_ops
def _reduce_join(
    inputs: Any, axis: Any = None, keepdims: Any = False, separator: str = "", name: Any = None
) -> Any:
    join = registry.function("strings.reduce_join")
    segments = registry.function("strings.unsorted_segment_join")
    fold = _Fold(
        "reduce_join",
        lambda values, axes: join(values, axes, separator=separator),
        lambda *each: segments(*each, separator=separator),
    )
    return _reduced(fold, inputs, axis, keepdims)


@named_ops
def _truth(
    how: str, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None
) -> Any:
    whole = input_tensor.with_flat_values(_cast(input_tensor.flat_values, "int32"))
    # A row without elements has the least number of its dtype as its largest one.
    return registry.function("greater")(_reduced(how, whole, axis, keepdims), 0)


for _path, _how in (("reduce_any", "reduce_max"), ("reduce_all", "reduce_min")):
    handles(registry.function(_path), RaggedTensor)(functools.partial(_truth, _how))


@handles(registry.function("math.cumsum"), RaggedTensor)
@named_ops
def _cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: Any = None
) -> Any:
    function = registry.function("math.cumsum")
    at = whole_axis(axis, x.shape.rank, "axis", "cumsum")
    if at > x.ragged_rank:
        return x.with_flat_values(function(x.flat_values, at - x.ragged_rank, exclusive, reverse))
    dense = function(x.to_tensor(), at, exclusive, reverse)  # sums of zeros are not looked at
    lengths = x.nested_row_lengths() if x.ragged_rank > 1 else x.row_lengths()
    return from_tensor(dense, lengths, None, x.ragged_rank, x.row_splits.dtype)


_SEGMENT_FUNCTIONS = ("sum", "prod", "max", "min", "mean", "sqrt_n")


@named_ops
def _segment(
    how: str, data: Any, segment_ids: Any, num_segments: Any = None, name: Any = None
) -> Any:
    """`tf.math.segment_sum` and its kin of ragged rows and ragged numbers."""
    if num_segments is None:
        last = segment_ids.flat_values if is_ragged(segment_ids) else _holdfast.convert(segment_ids)
        num_segments = _reduce_max(last) + 1
    if is_ragged(segment_ids):
        if not is_ragged(data):
            fail("E1104", "`segment_ids` is a RaggedTensor, and `data` is none")
        if len(data._splits) < len(segment_ids._splits):
            fail("E1102", "`segment_ids` has more ragged axes than `data`")
        for _ in segment_ids._splits:
            data = data.values
        segment_ids = segment_ids.flat_values
    kind = data.row_splits.dtype if is_ragged(data) else segment_ids.dtype
    numbers = _cast(segment_ids, kind)
    count = _cast(num_segments, kind)
    if how in ("mean", "sqrt_n"):
        total = _segments(_FOLDS["reduce_sum"], data, numbers, count)
        flat = data.flat_values if is_ragged(data) else data
        ones = registry.function("ones_like")(flat)
        ones = data.with_flat_values(ones) if is_ragged(data) else ones
        counts = _segments(_FOLDS["reduce_sum"], ones, numbers, count)
        divide = registry.function("truediv")
        if how == "sqrt_n":
            counts = registry.function("sqrt")(counts)
        return divide(total, counts)
    return _segments(_FOLDS[f"reduce_{how}"], data, numbers, count)


for _how in _SEGMENT_FUNCTIONS:
    for _path in (f"math.segment_{_how}", f"math.unsorted_segment_{_how}"):
        if _path in registry.BY_PATH:
            handles(registry.function(_path), RaggedTensor)(functools.partial(_segment, _how))


@named_ops
def _arg(
    function: Callable[..., Any],
    input: Any,
    axis: Any = None,
    output_type: Any = None,
    name: Any = None,
) -> Any:
    at = 0 if axis is None else whole_axis(axis, input.shape.rank, "axis", "argmax")
    kwargs = {} if output_type is None else {"output_type": output_type}
    if at <= input.ragged_rank:
        worst = input.dtype.min if "max" in function.__name__ else input.dtype.max
        if input.ragged_rank != 1:
            fail("E1105", f"`{function.__name__}` along a ragged axis of rows of rows")
        return function(input.to_tensor(worst), at, **kwargs)
    return input.with_flat_values(function(input.flat_values, at - input.ragged_rank, **kwargs))


for _path in ("argmax", "argmin"):
    _function = registry.function(_path)
    handles(_function, RaggedTensor)(functools.partial(_arg, _function))
