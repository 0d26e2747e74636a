"""Ops that make one value of many: sums, extremes, means, and the same without NaN."""

from __future__ import annotations

from typing import Any

from ...errors import unsupported
from .elementwise import isnan
from .values import as_float, axes_of, promoted, rank_of, rounded_axis, tensor, tf

_WIDER = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "uint32",
    "uint16": "uint32",
}


def _wide(x: Any, dtype: Any = None) -> Any:
    x = tensor(x)
    wanted = dtype or _WIDER.get(x.dtype.name)
    return tf.cast(x, wanted) if wanted else x


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum; small integers are summed up as int32."""
    return tf.reduce_sum(_wide(x), axis=axes_of(axis), keepdims=keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """The product."""
    return tf.reduce_prod(_wide(x, dtype), axis=axes_of(axis), keepdims=keepdims)


def _mean(x: Any, axis: Any, keepdims: bool) -> Any:
    return tf.reduce_mean(as_float(x), axis=axes_of(axis), keepdims=keepdims)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean, of integers as a float."""
    return _mean(x, axis, keepdims)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean square of distances from the mean."""
    return tf.math.reduce_variance(as_float(x), axis=axes_of(axis), keepdims=keepdims)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The root of `var`."""
    return tf.math.reduce_std(as_float(x), axis=axes_of(axis), keepdims=keepdims)


def _extreme(function: Any, both: Any, x: Any, axis: Any, keepdims: bool, initial: Any) -> Any:
    x = tensor(x)
    if x.dtype.is_bool:
        return both(x, axis=axes_of(axis), keepdims=keepdims)
    out = function(x, axis=axes_of(axis), keepdims=keepdims)
    if initial is None:
        return out
    pick = tf.maximum if function is tf.reduce_max else tf.minimum
    return pick(out, tensor(initial, x.dtype))


def max(x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
    """The largest; not below `initial`."""
    return _extreme(tf.reduce_max, tf.reduce_any, x, axis, keepdims, initial)


def min(x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
    """The smallest; not above `initial`."""
    return _extreme(tf.reduce_min, tf.reduce_all, x, axis, keepdims, initial)


def amax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest."""
    return max(x, axis, keepdims)


def amin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest."""
    return min(x, axis, keepdims)


def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """From the smallest to the largest."""
    return max(x, axis, keepdims) - min(x, axis, keepdims)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether none is 0."""
    return tf.reduce_all(tf.cast(tensor(x), "bool"), axis=axes_of(axis), keepdims=keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether one is not 0."""
    return tf.reduce_any(tf.cast(tensor(x), "bool"), axis=axes_of(axis), keepdims=keepdims)


def count_nonzero(x: Any, axis: Any = None) -> Any:
    """How many are not 0."""
    return tf.reduce_sum(
        tf.cast(tf.cast(tensor(x), "bool"), "int32"), axis=axes_of(axis), keepdims=False
    )


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`log(sum(exp(x)))`, without an overflow in between."""
    return tf.reduce_logsumexp(as_float(x), axis=axes_of(axis), keepdims=keepdims)


def _place(function: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    x = tensor(x)
    x = tf.cast(x, "int32") if x.dtype.is_bool else x
    if axis is None:
        out = function(tf.reshape(x, [-1]), axis=0, output_type="int32")
        return tf.reshape(out, [1] * rank_of(x, "argmax")) if keepdims else out
    out = function(x, axis=axis, output_type="int32")
    return tf.expand_dims(out, axis) if keepdims else out


def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the largest is; without an axis, in the flattened tensor."""
    return _place(tf.argmax, x, axis, keepdims)


def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the smallest is; without an axis, in the flattened tensor."""
    return _place(tf.argmin, x, axis, keepdims)


def average(x: Any, axis: Any = None, weights: Any = None) -> Any:
    """The mean, where each counts as much as its weight."""
    if weights is None:
        return _mean(x, axis, False)
    x, weights = (as_float(v) for v in promoted(x, weights))
    if axis is not None and x.shape.rank != weights.shape.rank:
        rank = rank_of(x, "average")
        form = [1] * rank
        form[rounded_axis(axis, rank, "average")] = -1
        weights = tf.reshape(weights, form)
    total = tf.reduce_sum(weights * tf.ones_like(x), axis=axes_of(axis))
    return tf.reduce_sum(x * weights, axis=axes_of(axis)) / total


def _running(function: Any, x: Any, axis: Any, dtype: Any) -> Any:
    x = tensor(x)
    x = tf.cast(x, dtype or ("int32" if x.dtype.is_bool else x.dtype))
    return function(tf.reshape(x, [-1]), axis=0) if axis is None else function(x, axis=axis)


def cumsum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Sums of all up to each."""
    return _running(tf.cumsum, x, axis, dtype)


def cumprod(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Products of all up to each."""
    return _running(tf.math.cumprod, x, axis, dtype)


def moments(x: Any, axes: Any, keepdims: bool = False, synchronized: bool = False) -> Any:
    """The mean and the variance, computed in float32 where the dtype is narrow.

    `synchronized` asks for those of all replicas: what is computed here is one replica's.
    """
    replicas = tf.distribute.get_strategy().num_replicas_in_sync if synchronized else 1
    if replicas > 1:
        unsupported(
            f"`moments` with `synchronized` is not supported on {replicas} replicas",
            "each replica computes from what it is given itself",
            fix="leave `synchronized` out, or reduce the sums and the counts of the replicas "
            "with `tf.distribute.get_replica_context().all_reduce`",
        )
    x = as_float(x)
    if x.dtype.name != "float16":
        return tuple(tf.nn.moments(x, axes_of(axes), keepdims=keepdims))
    found = tf.nn.moments(tf.cast(x, "float32"), axes_of(axes), keepdims=keepdims)
    # A variance that float16 does not hold is the largest number that it does.
    return tuple(tf.cast(tf.clip_by_value(v, x.dtype.min, x.dtype.max), x.dtype) for v in found)


# Without NaN.


def _filled(x: Any, value: float) -> tuple[Any, Any]:
    """`x` with a number in the place of NaN, and where NaN was."""
    x = tensor(x)
    gone = isnan(x)
    return (tf.where(gone, tf.constant(value, x.dtype), x) if x.dtype.is_floating else x), gone


def nansum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum of all that are numbers."""
    return sum(_filled(x, 0.0)[0], axis, keepdims)


def nanprod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product of all that are numbers."""
    return prod(_filled(x, 1.0)[0], axis, keepdims)


def nancumsum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """`cumsum`, NaN being 0."""
    return cumsum(_filled(x, 0.0)[0], axis, dtype)


def nancumprod(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """`cumprod`, NaN being 1."""
    return cumprod(_filled(x, 1.0)[0], axis, dtype)


def _nan_extreme(function: Any, x: Any, axis: Any, keepdims: bool, worst: float) -> Any:
    filled, gone = _filled(x, worst)
    out = function(filled, axis, keepdims)
    if not filled.dtype.is_floating:
        return out
    none = tf.reduce_all(gone, axis=axes_of(axis), keepdims=keepdims)
    return tf.where(none, tf.constant(float("nan"), out.dtype), out)


def nanmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest that is a number."""
    return _nan_extreme(max, x, axis, keepdims, float("-inf"))


def nanmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest that is a number."""
    return _nan_extreme(min, x, axis, keepdims, float("inf"))


def nanargmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the largest number is; -1 where there is none."""
    return _nan_place(argmax, x, axis, keepdims, float("-inf"))


def nanargmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the smallest number is; -1 where there is none."""
    return _nan_place(argmin, x, axis, keepdims, float("inf"))


def _nan_place(function: Any, x: Any, axis: Any, keepdims: bool, worst: float) -> Any:
    filled, gone = _filled(x, worst)
    out = function(filled, axis, keepdims)
    none = tf.reduce_all(gone, axis=axes_of(axis), keepdims=keepdims)
    return tf.where(none, tf.constant(-1, out.dtype), out)


def nanmean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of all that are numbers."""
    filled, gone = _filled(as_float(x), 0.0)
    there = tf.cast(tf.logical_not(gone), filled.dtype)
    total = tf.reduce_sum(filled, axis=axes_of(axis), keepdims=keepdims)
    return total / tf.reduce_sum(there, axis=axes_of(axis), keepdims=keepdims)


def nanvar(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The variance of all that are numbers."""
    x = as_float(x)
    return nanmean(tf.square(x - nanmean(x, axis, True)), axis, keepdims)


def nanstd(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The root of `nanvar`."""
    return tf.sqrt(nanvar(x, axis, keepdims))


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """The area below points that are joined by lines."""
    y = as_float(y)
    rank = rank_of(y, "trapezoid")
    axis = rounded_axis(axis, rank, "trapezoid")

    def sides(values: Any, along: int, count: int) -> tuple[Any, Any]:
        later = [slice(None)] * count
        earlier = [slice(None)] * count
        later[along], earlier[along] = slice(1, None), slice(None, -1)
        return values[tuple(later)], values[tuple(earlier)]

    later, earlier = sides(y, axis, rank)
    step: Any = tensor(dx, y.dtype)
    if x is not None:
        places = tensor(x, y.dtype)
        if places.shape.rank == 1:
            ends, begins = sides(places, 0, 1)
            form = [1] * rank
            form[axis] = -1
            step = tf.reshape(ends - begins, form)
        else:
            ends, begins = sides(places, axis, rank)
            step = ends - begins
    return tf.reduce_sum((later + earlier) * step / 2, axis=axis)
