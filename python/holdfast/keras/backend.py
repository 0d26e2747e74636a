"""`tf.keras.backend`: the older names, as far as Keras 3 has them, over `tf.keras.ops`."""

from __future__ import annotations

import collections
import math
from typing import Any

import numpy as np

from .. import _holdfast
from .._names import boundary as _boundary
from .._names import namespace as _namespace
from .._tensors.dtypes import as_dtype
from .._variables.variable import Variable
from ..errors import fail
from . import ops
from . import random as _random
from .config import (
    backend,
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)
from .ops.values import result_type, tensor, tf
from .utils import clear_session, is_keras_tensor, standardize_dtype

# Names that mean what they mean in `ops`, with the same arguments.
_SAME = [
    "abs",
    "arange",
    "binary_crossentropy",
    "cast",
    "categorical_crossentropy",
    "concatenate",
    "cos",
    "cumprod",
    "cumsum",
    "dtype",
    "elu",
    "equal",
    "exp",
    "expand_dims",
    "eye",
    "greater",
    "greater_equal",
    "hard_sigmoid",
    "in_top_k",
    "less",
    "less_equal",
    "log",
    "maximum",
    "minimum",
    "ndim",
    "not_equal",
    "one_hot",
    "ones_like",
    "relu",
    "repeat",
    "reshape",
    "round",
    "shape",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "softplus",
    "softsign",
    "sparse_categorical_crossentropy",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "tanh",
    "tile",
    "zeros_like",
]
_same: dict[str, Any] = {name: getattr(ops, name) for name in _SAME}
globals().update(_same)

__all__ = [  # noqa: PLE0604
    *_SAME,
    "all",
    "any",
    "argmax",
    "argmin",
    "backend",
    "batch_dot",
    "batch_flatten",
    "batch_get_value",
    "batch_set_value",
    "bias_add",
    "cast_to_floatx",
    "clear_session",
    "clip",
    "constant",
    "count_params",
    "dot",
    "epsilon",
    "eval",
    "flatten",
    "floatx",
    "gather",
    "get_uid",
    "get_value",
    "image_data_format",
    "int_shape",
    "is_float_dtype",
    "is_int_dtype",
    "is_keras_tensor",
    "l2_normalize",
    "max",
    "mean",
    "min",
    "ones",
    "permute_dimensions",
    "pow",
    "prod",
    "random_bernoulli",
    "random_normal",
    "random_uniform",
    "result_type",
    "reverse",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_value",
    "standardize_dtype",
    "std",
    "sum",
    "switch",
    "transpose",
    "truncated_normal",
    "update",
    "update_add",
    "update_sub",
    "var",
    "variable",
    "zeros",
]

_counts: collections.Counter[str] = collections.Counter()


def get_uid(prefix: str = "") -> int:
    """A number that grows with each call for a prefix."""
    _counts[prefix] += 1
    return _counts[prefix]


def is_float_dtype(dtype: Any) -> bool:
    """Whether it is a dtype of floats."""
    return bool(as_dtype(dtype).is_floating)


def is_int_dtype(dtype: Any) -> bool:
    """Whether it is a dtype of integers."""
    return bool(as_dtype(dtype).is_integer)


def cast_to_floatx(x: Any) -> Any:
    """In the usual dtype of floats; what is no tensor becomes an array."""
    if isinstance(x, (_holdfast.Tensor, Variable)):
        return tf.cast(x, floatx())
    return np.asarray(x, dtype=floatx())


def int_shape(x: Any) -> tuple[int | None, ...] | None:
    """The sizes that are known, None for the others; None where not even their number is."""
    known = x.shape if hasattr(x, "shape") else tensor(x).shape
    if isinstance(known, tuple):
        return known
    return None if known.rank is None else tuple(known.as_list())


def count_params(x: Any) -> int:
    """How many values a weight has."""
    return math.prod(tensor(x).shape.as_list())


def _reduced(name: str) -> Any:
    of = getattr(ops, name)

    def reduce(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return of(x, axis=axis, keepdims=keepdims)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"`tf.keras.ops.{name}`."
    return reduce


all, any, max, mean, min, prod, std, sum, var = (
    _reduced(name) for name in ("all", "any", "max", "mean", "min", "prod", "std", "sum", "var")
)


def argmax(x: Any, axis: int = -1) -> Any:
    """Where the largest is."""
    return tf.argmax(tensor(x), axis=axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """Where the smallest is."""
    return tf.argmin(tensor(x), axis=axis)


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """Not below `min_value` and not above `max_value`."""
    low = -np.inf if min_value is None else min_value
    return ops.clip(x, low, np.inf if max_value is None else max_value)


def pow(x: Any, a: Any) -> Any:
    """`x ** a`."""
    return ops.power(x, a)


def dot(x: Any, y: Any) -> Any:
    """The product over the last axis of `x` and the last but one of `y`."""
    return ops.dot(x, y)


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """Products of the examples of two batches."""
    x, y = tensor(x), tensor(y)
    left, right = ops.ndim(x), ops.ndim(y)
    if left < 2 or right < 2:
        fail("E1102", f"`batch_dot` got {left} and {right} axes, expected at least 2 each")
    if axes is None:
        axes = (left - 1, right - 1 if right == 2 else right - 2)
    one, other = (axes, axes) if isinstance(axes, int) else axes
    one, other = one % left, other % right
    if 0 in {one, other}:
        fail("E1103", "`batch_dot` sums over axes of examples, and axis 0 is that of the batch")
    letters = "abcdefghijklmnopqrstuvw"
    first = "z" + letters[: left - 1]
    second = "z" + letters[left - 1 : left + right - 2]
    second = second[:other] + first[one] + second[other + 1 :]
    result = first[:one] + first[one + 1 :] + (second[:other] + second[other + 1 :])[1:]
    found = ops.einsum(f"{first},{second}->{result}", x, y)
    return tf.expand_dims(found, -1) if len(result) == 1 else found


def batch_flatten(x: Any) -> Any:
    """Each example as one row."""
    x = tensor(x)
    return tf.reshape(x, tf.stack([tf.shape(x)[0], -1]))


def flatten(x: Any) -> Any:
    """All in one row."""
    return ops.ravel(x)


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """The axes in another order."""
    return ops.transpose(x, pattern)


def transpose(x: Any) -> Any:
    """The axes turned round."""
    return ops.transpose(x)


def reverse(x: Any, axes: Any) -> Any:
    """Turned round along axes."""
    return ops.flip(x, axes)


def gather(reference: Any, indices: Any) -> Any:
    """Rows by their numbers."""
    return tf.gather(tensor(reference), indices)


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """`x` plus a value for each channel."""
    x = tensor(x)
    if data_format == "channels_first" and ops.ndim(x) > 2:
        return x + tf.reshape(tensor(bias), [1, -1, *[1] * (ops.ndim(x) - 2)])
    return x + tensor(bias)


def l2_normalize(x: Any, axis: Any = None) -> Any:
    """Divided by how long it is."""
    return tf.math.l2_normalize(tensor(x), axis=axis)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two values, or what one of two functions gives."""
    condition = tensor(condition)
    if ops.ndim(condition) == 0:
        return tf.cond(
            tf.cast(condition, "bool"),
            then_expression if callable(then_expression) else lambda: then_expression,
            else_expression if callable(else_expression) else lambda: else_expression,
        )
    chosen = (v() if callable(v) else v for v in (then_expression, else_expression))
    one, other = (tensor(v) for v in chosen)
    missing = ops.ndim(one) - ops.ndim(condition)
    for _ in range(missing):
        condition = tf.expand_dims(condition, -1)
    return tf.where(tf.cast(condition, "bool"), one, other)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A tensor of one value or of an array."""
    return tf.constant(value, dtype=dtype or floatx(), shape=shape, name=name or "Const")


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones."""
    return Variable(tf.ones(shape, dtype or floatx()), name=name)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros."""
    return Variable(tf.zeros(shape, dtype or floatx()), name=name)


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """A variable."""
    return Variable(value, dtype=dtype or floatx(), name=name, constraint=constraint)


def get_value(x: Any) -> Any:
    """The value as an array of NumPy's."""
    return np.asarray(x)


eval = get_value


def set_value(x: Any, value: Any) -> None:
    """Gives a variable another value."""
    x.assign(np.asarray(value, dtype=x.dtype.as_numpy_dtype))


def batch_get_value(tensors: Any) -> list[Any]:
    """The values of several."""
    return [get_value(x) for x in tensors]


def batch_set_value(tuples: Any) -> None:
    """Gives several variables other values."""
    for x, value in tuples:
        set_value(x, value)


def update(x: Any, new_x: Any) -> Any:
    """Gives a variable another value."""
    return x.assign(new_x)


def update_add(x: Any, increment: Any) -> Any:
    """Adds to a variable."""
    return x.assign_add(increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Subtracts from a variable."""
    return x.assign_sub(decrement)


def random_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Numbers of a normal distribution."""
    return _random.normal(shape, mean, stddev, dtype, seed)


def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """The same, drawn again where they are more than two deviations off."""
    return _random.truncated_normal(shape, mean, stddev, dtype, seed)


def random_uniform(
    shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Numbers from `minval` to below `maxval`."""
    return _random.uniform(shape, minval, maxval, dtype, seed)


def random_bernoulli(shape: Any, p: float = 0.0, dtype: Any = None, seed: Any = None) -> Any:
    """1 with the probability `p`, else 0."""
    return tf.cast(_random.uniform(shape, seed=seed) <= p, dtype or floatx())


_namespace.module("keras.backend")
_boundary.close("keras.backend")
