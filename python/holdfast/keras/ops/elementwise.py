"""Ops that compute each value by itself, or two values in the same place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...errors import fail
from ..config import floatx
from .values import as_float, promoted, result_type, tensor, tf


def _unary(name: str, path: str, floats: bool) -> Callable[[Any], Any]:
    function = tf
    for part in path.split("."):
        function = getattr(function, part)

    def op(x: Any) -> Any:
        return function(as_float(x) if floats else tensor(x))

    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"`tf.{path}` of each value{'; integers become floats' if floats else ''}."
    return op


def _binary(name: str, path: str) -> Callable[[Any, Any], Any]:
    function = tf
    for part in path.split("."):
        function = getattr(function, part)

    def op(x1: Any, x2: Any) -> Any:
        return function(*promoted(x1, x2))

    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"`tf.{path}` of values in the same place, in the dtype they have in common."
    return op


_FLOATS = {
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
    "cos": "cos",
    "cosh": "cosh",
    "erf": "math.erf",
    "erfc": "math.erfc",
    "erfinv": "math.erfinv",
    "exp": "exp",
    "expm1": "math.expm1",
    "i0": "math.bessel_i0",
    "log": "math.log",
    "log1p": "math.log1p",
    "reciprocal": "math.reciprocal",
    "rsqrt": "math.rsqrt",
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "tan": "tan",
    "tanh": "tanh",
}
_SAME = {"square": "square", "negative": "negative", "stop_gradient": "stop_gradient"}
_PAIRS = {
    "add": "add",
    "equal": "equal",
    "greater": "greater",
    "greater_equal": "greater_equal",
    "less": "less",
    "less_equal": "less_equal",
    "maximum": "maximum",
    "minimum": "minimum",
    "multiply": "multiply",
    "not_equal": "not_equal",
    "subtract": "subtract",
}
_made: dict[str, Any] = {
    **{name: _unary(name, path, True) for name, path in _FLOATS.items()},
    **{name: _unary(name, path, False) for name, path in _SAME.items()},
    **{name: _binary(name, path) for name, path in _PAIRS.items()},
}
for _op in _made.values():
    _op.__module__ = __name__
globals().update(_made)


def square(x: Any) -> Any:
    """`x * x`; truths become int32."""
    x = tensor(x)
    return tf.square(tf.cast(x, "int32") if x.dtype.is_bool else x)


def stop_gradient(variable: Any) -> Any:
    """The value, through which no gradient flows."""
    return tf.stop_gradient(tensor(variable))


def multiply(x1: Any, x2: Any) -> Any:
    """`x1 * x2`, in the dtype they have in common; of truths, both."""
    a, b = promoted(x1, x2)
    return tf.logical_and(a, b) if a.dtype.is_bool else tf.multiply(a, b)


def add(x1: Any, x2: Any) -> Any:
    """`x1 + x2`, in the dtype they have in common; of truths, any."""
    a, b = promoted(x1, x2)
    return tf.logical_or(a, b) if a.dtype.is_bool else tf.add(a, b)


def _ordered(function: Any, x1: Any, x2: Any, both: Any) -> Any:
    a, b = promoted(x1, x2)
    return both(a, b) if a.dtype.is_bool else function(a, b)


def maximum(x1: Any, x2: Any) -> Any:
    """The larger of both."""
    return _ordered(tf.maximum, x1, x2, tf.logical_or)


def minimum(x1: Any, x2: Any) -> Any:
    """The smaller of both."""
    return _ordered(tf.minimum, x1, x2, tf.logical_and)


def absolute(x: Any) -> Any:
    """Without its sign."""
    x = tensor(x)
    return x if x.dtype.is_bool or x.dtype.is_unsigned else tf.abs(x)


abs = absolute


def fabs(x: Any) -> Any:
    """Without its sign, as a float."""
    return tf.abs(as_float(x))


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    x = tensor(x)
    if x.dtype.name in {"uint8", "uint16", "uint32", "uint64"}:
        return tf.cast(tf.sign(tf.cast(x, "int64")), x.dtype)
    return tf.sign(x)


def signbit(x: Any) -> Any:
    """Whether the sign is a minus, also that of -0."""
    x = tensor(x)
    if not x.dtype.is_floating:
        return tf.less(x, tf.zeros_like(x)) if not x.dtype.is_bool else tf.zeros_like(x)
    one = tf.ones_like(x)
    # Of zeros 1/x tells: it is one of the infinities.
    return tf.where(tf.equal(x, 0), tf.less(one / x, 0), tf.less(x, 0))


def logical_not(x: Any) -> Any:
    """Not."""
    return tf.logical_not(tf.cast(tensor(x), "bool"))


def _truths(x1: Any, x2: Any) -> tuple[Any, Any]:
    return tf.cast(tensor(x1), "bool"), tf.cast(tensor(x2), "bool")


def logical_and(x1: Any, x2: Any) -> Any:
    """Both."""
    return tf.logical_and(*_truths(x1, x2))


def logical_or(x1: Any, x2: Any) -> Any:
    """Any of both."""
    return tf.logical_or(*_truths(x1, x2))


def logical_xor(x1: Any, x2: Any) -> Any:
    """One of both."""
    return tf.math.logical_xor(*_truths(x1, x2))


def divide(x1: Any, x2: Any) -> Any:
    """`x1 / x2`, as floats."""
    a, b = promoted(x1, x2)
    return tf.divide(as_float(a), as_float(b))


true_divide = divide


def divide_no_nan(x1: Any, x2: Any) -> Any:
    """`x1 / x2`, and 0 where `x2` is."""
    a, b = promoted(x1, x2)
    return tf.math.divide_no_nan(as_float(a), as_float(b))


def floor_divide(x1: Any, x2: Any) -> Any:
    """`x1 // x2`."""
    return tf.math.floordiv(*_numbers(x1, x2))


def _numbers(x1: Any, x2: Any) -> tuple[Any, Any]:
    a, b = promoted(x1, x2)
    return (tf.cast(a, "int32"), tf.cast(b, "int32")) if a.dtype.is_bool else (a, b)


def mod(x1: Any, x2: Any) -> Any:
    """What is left of `x1 // x2`; it has the sign of `x2`."""
    return tf.math.floormod(*_numbers(x1, x2))


def fmod(x1: Any, x2: Any) -> Any:
    """What is left of a division; it has the sign of `x1`."""
    return tf.truncatemod(*_numbers(x1, x2))


def power(x1: Any, x2: Any) -> Any:
    """`x1 ** x2`."""
    a, b = _numbers(x1, x2)
    if not a.dtype.is_unsigned:
        return tf.pow(a, b)
    return tf.cast(tf.pow(tf.cast(a, "int64"), tf.cast(b, "int64")), a.dtype)


def arctan2(x1: Any, x2: Any) -> Any:
    """The angle of the point (x2, x1)."""
    a, b = promoted(x1, x2)
    return tf.atan2(as_float(a), as_float(b))


def hypot(x1: Any, x2: Any) -> Any:
    """How long the vector (x1, x2) is, without an overflow in between."""
    a, b = (tf.abs(as_float(v)) for v in promoted(x1, x2))
    large, small = tf.maximum(a, b), tf.minimum(a, b)
    share = tf.math.divide_no_nan(small, large)
    return large * tf.sqrt(1 + share * share)


def logaddexp(x1: Any, x2: Any) -> Any:
    """`log(exp(x1) + exp(x2))`."""
    a, b = (as_float(v) for v in promoted(x1, x2))
    difference = tf.abs(a - b)
    # Two infinities of one sign differ by nothing.
    same = tf.equal(a, b)
    difference = tf.where(same, tf.zeros_like(difference), difference)
    return tf.maximum(a, b) + tf.math.log1p(tf.exp(-difference))


def logaddexp2(x1: Any, x2: Any) -> Any:
    """`log2(2**x1 + 2**x2)`."""
    a, b = (as_float(v) for v in promoted(x1, x2))
    return logaddexp(a * math.log(2), b * math.log(2)) / math.log(2)


def log2(x: Any) -> Any:
    """To the base 2."""
    return tf.math.log(as_float(x)) / math.log(2)


def log10(x: Any) -> Any:
    """To the base 10."""
    return tf.math.log(as_float(x)) / math.log(10)


def exp2(x: Any) -> Any:
    """`2 ** x`."""
    x = as_float(x)
    return tf.pow(tf.constant(2.0, x.dtype), x)


def cbrt(x: Any) -> Any:
    """The third root, of negative numbers too."""
    x = as_float(x)
    return tf.sign(x) * tf.pow(tf.abs(x), tf.constant(1 / 3, x.dtype))


def deg2rad(x: Any) -> Any:
    """Degrees as radians."""
    return as_float(x) * (math.pi / 180)


def rad2deg(x: Any) -> Any:
    """Radians as degrees."""
    return as_float(x) * (180 / math.pi)


def sinc(x: Any) -> Any:
    """`sin(pi x) / (pi x)`, and 1 at 0."""
    x = as_float(x) * math.pi
    zero = tf.equal(x, 0)
    safe = tf.where(zero, tf.ones_like(x), x)
    return tf.where(zero, tf.ones_like(x), tf.sin(safe) / safe)


def heaviside(x1: Any, x2: Any) -> Any:
    """0 below 0, 1 above, and `x2` at 0."""
    a, b = promoted(x1, x2)
    if a.dtype.is_integer:
        wide = "float64" if a.dtype == "int64" else floatx()
        a, b = tf.cast(a, wide), tf.cast(b, wide)
    zero, one = tf.zeros_like(a), tf.ones_like(a)
    return tf.where(tf.less(a, zero), zero, tf.where(tf.greater(a, zero), one, b))


def _whole_numbers(x1: Any, x2: Any, op: str) -> tuple[Any, Any]:
    a, b = _numbers(x1, x2)
    if not a.dtype.is_integer:
        fail("E1101", f"`{op}` got values of {a.dtype.name}, expected whole numbers")
    return (a, b) if a.dtype.is_unsigned else (tf.abs(a), tf.abs(b))


def gcd(x1: Any, x2: Any) -> Any:
    """The largest number that divides both."""
    a, b = _whole_numbers(x1, x2, "gcd")
    none = tf.zeros_like(a + b)

    def left(_: Any, b: Any) -> Any:
        return tf.reduce_any(tf.not_equal(b, 0))

    def step(a: Any, b: Any) -> tuple[Any, Any]:
        done = tf.equal(b, 0)
        return tf.where(done, a, b), tf.where(
            done, b, tf.math.floormod(a, tf.where(done, tf.ones_like(b), b))
        )

    return tf.while_loop(left, step, [a + none, b + none])[0]


def lcm(x1: Any, x2: Any) -> Any:
    """The smallest number that both divide."""
    a, b = _whole_numbers(x1, x2, "lcm")
    divisor = gcd(a, b)
    return a // tf.where(tf.equal(divisor, 0), tf.ones_like(divisor), divisor) * b


def ldexp(x1: Any, x2: Any) -> Any:
    """`x1 * 2**x2`."""
    a = as_float(x1)
    return a * tf.pow(tf.constant(2.0, a.dtype), tf.cast(tensor(x2), a.dtype))


def nextafter(x1: Any, x2: Any) -> Any:
    """The next number from `x1` on towards `x2`."""
    a, b = (as_float(v) for v in promoted(x1, x2))
    if a.dtype.size > 2:
        return tf.math.nextafter(a, b)
    # Numbers of one sign have the order of their bits.
    bits = tf.bitcast(a, "int16")
    onwards = tf.equal(tf.greater(b, a), tf.greater(a, 0))
    near = tf.bitcast(bits + tf.cast(tf.where(onwards, 1, -1), "int16"), a.dtype)
    least = tf.bitcast(tf.ones_like(bits), a.dtype)
    out = tf.where(tf.equal(a, 0), tf.where(tf.greater(b, 0), least, -least), near)
    broken = tf.logical_or(isnan(a), isnan(b))
    return tf.where(broken, a + b, tf.where(tf.equal(a, b), b, out))


def _whole(function: Any, x: Any) -> Any:
    x = tensor(x)
    return function(x) if x.dtype.is_floating else tf.cast(x, floatx())


def ceil(x: Any) -> Any:
    """The next whole number above, as a float."""
    return _whole(tf.math.ceil, x)


def floor(x: Any) -> Any:
    """The next whole number below, as a float."""
    return _whole(tf.floor, x)


def trunc(x: Any) -> Any:
    """Without what follows the point."""
    x = tensor(x)
    if not x.dtype.is_floating:
        return x
    return tf.where(tf.less(x, tf.zeros_like(x)), tf.math.ceil(x), tf.floor(x))


def round(x: Any, decimals: int = 0) -> Any:
    """To the nearest number with so many decimals; halves go to the even one."""
    x = tensor(x)
    if not x.dtype.is_floating and decimals >= 0:
        return tf.cast(x, "int32") if x.dtype.is_bool else x
    if decimals == 0:
        return tf.round(x)
    whole, scale = x.dtype, 10.0**decimals
    return tf.cast(tf.round(as_float(x) * scale) / scale, whole)


def clip(x: Any, x_min: Any, x_max: Any) -> Any:
    """Not below `x_min` and not above `x_max`."""
    x = tensor(x)
    limits = (type(v) if type(v) in {int, float} else tensor(v).dtype for v in (x_min, x_max))
    dtype = result_type(x.dtype, *limits)
    dtype = "int32" if dtype == "bool" else dtype
    x, low, high = (tensor(v, dtype) for v in (x, x_min, x_max))
    return tf.minimum(tf.maximum(x, low), high)


def isfinite(x: Any) -> Any:
    """Neither infinite nor NaN."""
    x = tensor(x)
    return tf.math.is_finite(x) if x.dtype.is_floating else tf.ones_like(x, dtype="bool")


def isinf(x: Any) -> Any:
    """Whether it is one of the infinities."""
    x = tensor(x)
    return tf.math.is_inf(x) if x.dtype.is_floating else tf.zeros_like(x, dtype="bool")


def isnan(x: Any) -> Any:
    """Whether it is no number."""
    x = tensor(x)
    return tf.math.is_nan(x) if x.dtype.is_floating else tf.zeros_like(x, dtype="bool")


def isposinf(x: Any) -> Any:
    """Whether it is the infinity above all."""
    x = tensor(x)
    return tf.logical_and(isinf(x), tf.greater(as_float(x), 0))


def isneginf(x: Any) -> Any:
    """Whether it is the infinity below all."""
    x = tensor(x)
    return tf.logical_and(isinf(x), tf.less(as_float(x), 0))


def isreal(x: Any) -> Any:
    """Whether it has no imaginary part."""
    x = tensor(x)
    return tf.equal(tf.math.imag(x), 0) if x.dtype.is_complex else tf.ones_like(x, dtype="bool")


def isclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether two are equal up to `atol + rtol * |x2|`."""
    a, b = (as_float(v) for v in promoted(x1, x2))
    near = tf.abs(a - b) <= atol + rtol * tf.abs(b)
    finite = tf.logical_and(isfinite(a), isfinite(b))
    out = tf.where(finite, near, tf.equal(a, b))
    return tf.logical_or(out, tf.logical_and(isnan(a), isnan(b))) if equal_nan else out


def allclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether all are equal up to `atol + rtol * |x2|`."""
    return tf.reduce_all(isclose(x1, x2, rtol, atol, equal_nan))


def fmax(x1: Any, x2: Any) -> Any:
    """The larger of both; NaN only where both are."""
    a, b = promoted(x1, x2)
    return tf.where(isnan(a), b, tf.where(isnan(b), a, maximum(a, b)))


def fmin(x1: Any, x2: Any) -> Any:
    """The smaller of both; NaN only where both are."""
    a, b = promoted(x1, x2)
    return tf.where(isnan(a), b, tf.where(isnan(b), a, minimum(a, b)))


def nan_to_num(x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in the place of NaN and the infinities."""
    x = tensor(x)
    if not x.dtype.is_floating:
        return x
    high = x.dtype.max if posinf is None else posinf
    low = x.dtype.min if neginf is None else neginf
    out = tf.where(isnan(x), tf.constant(nan, x.dtype), x)
    out = tf.where(isposinf(x), tf.constant(high, x.dtype), out)
    return tf.where(isneginf(x), tf.constant(low, x.dtype), out)


def real(x: Any) -> Any:
    """The real part."""
    x = tensor(x)
    return tf.math.real(x) if x.dtype.is_complex else x


def imag(x: Any) -> Any:
    """The imaginary part."""
    x = tensor(x)
    return tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x)


def conjugate(x: Any) -> Any:
    """With the other sign of the imaginary part."""
    x = tensor(x)
    return tf.math.conj(x) if x.dtype.is_complex else x


conj = conjugate


def angle(x: Any) -> Any:
    """The angle of a complex number; of others 0 or pi."""
    x = tensor(x)
    if x.dtype.is_complex:
        return tf.math.angle(x)
    x = as_float(x)
    return tf.where(signbit(x), tf.constant(math.pi, x.dtype), tf.zeros_like(x))


def polar(abs_: Any, angle: Any) -> Any:
    """The complex number of a length and an angle."""
    r, phi = (as_float(v) for v in promoted(abs_, angle))
    return tf.complex(r * tf.cos(phi), r * tf.sin(phi))


def bitwise_and(x: Any, y: Any) -> Any:
    """Bits that are set in both."""
    a, b = promoted(x, y)
    return tf.logical_and(a, b) if a.dtype.is_bool else tf.bitwise.bitwise_and(a, b)


def bitwise_or(x: Any, y: Any) -> Any:
    """Bits that are set in any."""
    a, b = promoted(x, y)
    return tf.logical_or(a, b) if a.dtype.is_bool else tf.bitwise.bitwise_or(a, b)


def bitwise_xor(x: Any, y: Any) -> Any:
    """Bits that are set in one."""
    a, b = promoted(x, y)
    return tf.math.logical_xor(a, b) if a.dtype.is_bool else tf.bitwise.bitwise_xor(a, b)


def bitwise_not(x: Any) -> Any:
    """All bits turned round."""
    x = tensor(x)
    return tf.logical_not(x) if x.dtype.is_bool else tf.bitwise.invert(x)


bitwise_invert = bitwise_not


def left_shift(x: Any, y: Any) -> Any:
    """Bits moved up."""
    return tf.bitwise.left_shift(*_numbers(x, y))


def right_shift(x: Any, y: Any) -> Any:
    """Bits moved down."""
    return tf.bitwise.right_shift(*_numbers(x, y))


bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
