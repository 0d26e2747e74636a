"""Ops that make tensors: of one value, of a row of numbers, windows."""

from __future__ import annotations

import math
from typing import Any

from ... import _holdfast
from ..config import floatx
from .elementwise import power
from .values import as_float, promoted, result_type, tensor, tf


def convert_to_tensor(x: Any, dtype: Any = None, sparse: Any = None, ragged: Any = None) -> Any:
    """`x` as a tensor."""
    from .values import need_dense

    need_dense(sparse or ragged, "convert_to_tensor")
    return tensor(x, dtype)


def array(x: Any, dtype: Any = None) -> Any:
    """`x` as a tensor."""
    return tensor(x, dtype)


def convert_to_numpy(x: Any) -> Any:
    """`x` as an array of NumPy's, of its own."""
    import numpy as np

    return np.array(x)


def _shape(shape: Any) -> Any:
    return [shape] if isinstance(shape, int) else shape


def zeros(shape: Any, dtype: Any = None) -> Any:
    """Zeros; of `floatx` where no dtype is said."""
    return tf.zeros(_shape(shape), dtype or floatx())


def ones(shape: Any, dtype: Any = None) -> Any:
    """Ones; of `floatx` where no dtype is said."""
    return tf.ones(_shape(shape), dtype or floatx())


empty = zeros


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One value everywhere."""
    return tf.broadcast_to(tensor(fill_value, dtype or floatx()), _shape(shape))


def zeros_like(x: Any, dtype: Any = None) -> Any:
    """Zeros in the shape of `x`."""
    return tf.zeros_like(tensor(x), dtype=dtype)


def ones_like(x: Any, dtype: Any = None) -> Any:
    """Ones in the shape of `x`."""
    return tf.ones_like(tensor(x), dtype=dtype)


empty_like = zeros_like


def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One value in the shape of `x`."""
    x = tensor(x)
    return tf.broadcast_to(tensor(fill_value, dtype or x.dtype), tf.shape(x))


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    """Numbers from `start` on, below `stop`."""
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if dtype is None:
        kinds = (
            type(v) if type(v) in {int, float} else tensor(v).dtype for v in (start, stop, step)
        )
        dtype = result_type(*kinds)
    return tf.range(start, stop, delta=step, dtype=dtype)


def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = None) -> Any:
    """Ones on a diagonal, zeros beside it."""
    rows = tf.range(N)[:, None]
    columns = tf.range(N if M is None else M)[None, :]
    return tf.cast(tf.equal(columns, rows + k), dtype or floatx())


def identity(n: Any, dtype: Any = None) -> Any:
    """Ones on the diagonal, zeros beside it."""
    return eye(n, dtype=dtype)


def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = None) -> Any:
    """Ones on a diagonal and below it."""
    rows = tf.range(N)[:, None]
    columns = tf.range(N if M is None else M)[None, :]
    return tf.cast(columns <= rows + k, dtype or floatx())


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """Powers of `x`, the largest first."""
    x = tensor(x)
    count = tf.shape(x)[0] if N is None else N
    powers = tf.range(count)
    if not increasing:
        powers = tf.reverse(powers, [0])
    return power(x[:, None], tf.cast(powers, x.dtype)[None, :])


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """`num` numbers at one distance from each other."""
    begin, end = (as_float(v) for v in promoted(start, stop))
    parts = num - 1 if endpoint else num
    step = (end - begin) / parts if parts > 0 else tf.zeros_like(end) * float("nan")
    count = tf.cast(tf.range(num), begin.dtype)
    rank = max(begin.shape.rank or 0, end.shape.rank or 0)
    count = tf.reshape(count, [-1] + [1] * rank)
    out = begin + count * step if parts > 0 else begin + count * tf.zeros_like(end)
    if endpoint and num > 1:  # the end is met exactly
        last = tf.broadcast_to(end, tf.shape(out)[1:])[None]
        out = tf.concat([out[:-1], last], 0)
    if axis != 0:
        from .shapes import moveaxis

        out = moveaxis(out, 0, axis)
    wanted = dtype or begin.dtype
    out = tf.cast(tf.floor(out), dtype) if dtype and "int" in str(dtype) else tf.cast(out, wanted)
    return (out, step) if retstep else out


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Powers of `base`, at one ratio from each other."""
    powers = linspace(start, stop, num, endpoint, axis=axis)
    out = tf.pow(tensor(base, powers.dtype), powers)
    return tf.cast(out, dtype) if dtype else out


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers from `start` to `stop`, at one ratio from each other."""
    begin, end = (as_float(v) for v in promoted(start, stop))
    sign = tf.sign(begin)
    out = tf.exp(
        linspace(tf.math.log(begin * sign), tf.math.log(end * sign), num, endpoint, axis=axis)
    )
    out = out * (tf.expand_dims(sign, axis) if (sign.shape.rank or 0) > 0 else sign)
    return tf.cast(out, dtype) if dtype else out


def _window(x: Any, formula: Any) -> Any:
    count = tensor(x)
    size = tf.cast(count, "int32")
    steps = tf.cast(tf.range(size), floatx())
    last = tf.cast(size - 1, floatx())
    out = formula(steps, tf.maximum(last, 1.0))
    return tf.where(tf.equal(size, 1), tf.ones_like(out), out)


def bartlett(x: Any) -> Any:
    """A window with the form of a roof."""
    return _window(x, lambda n, last: 1 - tf.abs(2 * n / last - 1))


def hanning(x: Any) -> Any:
    """A window: a raised cosine."""
    return _window(x, lambda n, last: 0.5 - 0.5 * tf.cos(2 * math.pi * n / last))


def hamming(x: Any) -> Any:
    """A window: a raised cosine on a foot."""
    return _window(x, lambda n, last: 0.54 - 0.46 * tf.cos(2 * math.pi * n / last))


def blackman(x: Any) -> Any:
    """A window of two cosines."""
    return _window(
        x,
        lambda n, last: (
            0.42 - 0.5 * tf.cos(2 * math.pi * n / last) + 0.08 * tf.cos(4 * math.pi * n / last)
        ),
    )


def kaiser(x: Any, beta: Any) -> Any:
    """A window of Bessel functions."""
    strength = tensor(beta, floatx())

    def formula(n: Any, last: Any) -> Any:
        place = 2 * n / last - 1
        inside = tf.sqrt(tf.maximum(1 - place * place, 0.0))
        return tf.math.bessel_i0(strength * inside) / tf.math.bessel_i0(strength)

    return _window(x, formula)


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor."""
    return isinstance(x, _holdfast.Tensor)
