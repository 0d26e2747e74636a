"""What `tf.keras.ops` has beside arithmetic: shapes, dtypes, places, branches and loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _holdfast, nest
from ..._tensors.dtypes import as_dtype
from ...errors import fail, unsupported
from .values import tensor, tf


def shape(x: Any) -> tuple[Any, ...]:
    """The sizes; of a traced tensor those that are not known are tensors."""
    x = tensor(x)
    known = x.shape
    if known.rank is None:
        fail("E1102", "`shape` needs to know how many axes its tensor has")
    sizes = known.as_list()
    if None not in sizes or _holdfast.is_model_symbol(x):
        return tuple(sizes)
    found = tf.shape(x)
    return tuple(found[i] if size is None else size for i, size in enumerate(sizes))


def ndim(x: Any) -> Any:
    """How many axes it has."""
    x = tensor(x)
    return tf.rank(x) if x.shape.rank is None else int(x.shape.rank)


def size(x: Any) -> Any:
    """How many values it has."""
    x = tensor(x)
    known = x.shape.as_list() if x.shape.rank is not None else [None]
    return tf.size(x) if None in known else math.prod(known)


def dtype(x: Any) -> str:
    """The name of its dtype."""
    return str(as_dtype(tensor(x).dtype).name)


def cast(x: Any, dtype: Any) -> Any:
    """In another dtype."""
    x = tensor(x)
    if x.dtype.is_complex and not as_dtype(dtype).is_complex:
        x = tf.math.real(x)
    return tf.cast(x, dtype)


def saturate_cast(x: Any, dtype: Any) -> Any:
    """In another dtype; what it can't hold becomes the nearest that it can."""
    return tf.saturate_cast(tensor(x), dtype)


def slice(inputs: Any, start_indices: Any, shape: Any) -> Any:
    """A part of a shape, from a place on."""
    return tf.slice(tensor(inputs), start_indices, shape)


def slice_update(inputs: Any, start_indices: Any, updates: Any) -> Any:
    """The same with other values from a place on."""
    inputs, updates = tensor(inputs), tensor(updates)
    sizes = updates.shape.as_list()
    if None in sizes:
        fail("E1102", "`slice_update` needs to know the shape of `updates`")
    if isinstance(start_indices, (list, tuple)):
        start_indices = tf.stack([tf.cast(tensor(i), "int32") for i in start_indices])
    start = tf.cast(start_indices, "int32")
    places = np.stack(np.meshgrid(*[np.arange(n) for n in sizes], indexing="ij"), axis=-1)
    places = tf.constant(places.reshape(-1, len(sizes)), "int32") + start
    values = tf.reshape(tf.cast(updates, inputs.dtype), [-1])
    return tf.tensor_scatter_nd_update(inputs, places, values)


def scatter(indices: Any, values: Any, shape: Any) -> Any:
    """Zeros, and values added at places."""
    return tf.scatter_nd(tf.cast(tensor(indices), "int32"), tensor(values), list(shape))


_REDUCTIONS = {
    None: "tensor_scatter_nd_update",
    "add": "tensor_scatter_nd_add",
    "max": "tensor_scatter_nd_max",
    "min": "tensor_scatter_nd_min",
}


def scatter_update(inputs: Any, indices: Any, updates: Any, reduction: Any = None) -> Any:
    """The same with other values at places; `reduction` says how they meet what is there."""
    inputs, updates = tensor(inputs), tensor(updates)
    places = tf.cast(tensor(indices), "int32")
    updates = tf.cast(updates, inputs.dtype)
    if reduction == "mul":
        unsupported(
            '`scatter_update` with "mul" is not supported', "places may meet more than once"
        )
    if reduction not in _REDUCTIONS:
        known = [str(r) for r in _REDUCTIONS]
        fail("E1104", f"`reduction` is {reduction!r}, expected one of {', '.join(known)}")
    return getattr(tf, _REDUCTIONS[reduction])(inputs, places, updates)


def _segment(name: str, data: Any, ids: Any, count: Any) -> Any:
    data, ids = tensor(data), tf.cast(tensor(ids), "int32")
    if count is None:
        count = tf.reduce_max(ids) + 1
    return getattr(tf.math, f"unsorted_segment_{name}")(data, ids, count)


def segment_sum(data: Any, segment_ids: Any, num_segments: Any = None, sorted: bool = False) -> Any:
    """Sums of values with the same number; whether numbers are sorted changes nothing."""
    return _segment("sum", data, segment_ids, num_segments)


def segment_max(data: Any, segment_ids: Any, num_segments: Any = None, sorted: bool = False) -> Any:
    """The largest of values with the same number."""
    return _segment("max", data, segment_ids, num_segments)


def segment_min(data: Any, segment_ids: Any, num_segments: Any = None, sorted: bool = False) -> Any:
    """The smallest of values with the same number."""
    return _segment("min", data, segment_ids, num_segments)


def segment_prod(
    data: Any, segment_ids: Any, num_segments: Any = None, sorted: bool = False
) -> Any:
    """Products of values with the same number."""
    return _segment("prod", data, segment_ids, num_segments)


def extract_sequences(x: Any, sequence_length: int, sequence_stride: int) -> Any:
    """Windows over the last axis."""
    return tf.signal.frame(tensor(x), sequence_length, sequence_stride)


def logical_branch(pred: Any) -> Any:
    """What `cond` decides by: a truth of Python's, or a tensor of one."""
    return pred if isinstance(pred, bool) else tf.cast(tensor(pred), "bool")


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """What one of two functions gives."""
    return tf.cond(logical_branch(pred), true_fn, false_fn)


def switch(index: Any, branches: Any, *operands: Any) -> Any:
    """What one of several functions gives for the operands; too small or large takes the ends."""
    last = len(branches) - 1
    index = tf.minimum(tf.maximum(tf.cast(tensor(index), "int32"), 0), last)
    return tf.switch_case(index, [lambda f=f: f(*operands) for f in branches])


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: Any = None,
) -> Any:
    """Calls `body` on its own results as long as `cond` holds."""
    many = isinstance(loop_vars, (list, tuple))
    variables = tuple(loop_vars) if many else (loop_vars,)

    def step(*values: Any) -> Any:
        out = body(*values)
        return tuple(out) if isinstance(out, (list, tuple)) else (out,)

    found = tf.while_loop(cond, step, variables, maximum_iterations=maximum_iterations)
    if not many:
        return found[0]
    return list(found) if isinstance(loop_vars, list) else tuple(found)


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """Calls `body_fun(i, value)` for each number from `lower` to below `upper`."""
    eager = tf.executing_eagerly() and not _is_of_model((lower, upper, init_val))
    if eager and isinstance(lower, int) and isinstance(upper, int):
        value = init_val
        for i in range(lower, upper):  # numbers of Python's fit every dtype
            value = body_fun(i, value)
        return nest.map_structure(tensor, value)
    found = tf.while_loop(
        lambda i, _: i < upper,
        lambda i, value: (i + 1, body_fun(i, value)),
        (tensor(lower), init_val),
    )
    return found[1]


def scan(
    f: Callable[[Any, Any], Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
) -> tuple[Any, Any]:
    """Carries a value along `xs`: `f(carry, x)` gives the next carry, and what is collected."""
    if not callable(f):
        fail("E1104", f"`f` of `scan` is of type {type(f).__name__}, expected a function")
    leaves = [] if xs is None else [tensor(x) for x in nest.flatten(xs)]
    count: Any = length
    if leaves:
        count = leaves[0].shape[0]
        if count is None:
            fail("E1102", "`scan` needs to know how many steps `xs` has", fix="use `while_loop`")
        if length is not None and count != length:
            fail("E1103", f"`length` of `scan` is {length}, and `xs` has {count} steps")
    elif length is None:
        fail("E1104", "`scan` needs `xs` or `length`")
    carry, collected = init, []
    order = reversed(range(count)) if reverse else range(count)
    for i in order:
        step = nest.pack_sequence_as(xs, [x[i] for x in leaves]) if leaves else None
        carry, y = f(carry, step)
        collected.append(y)
    if reverse:
        collected.reverse()
    if not collected or all(y is None for y in collected):
        return carry, None
    return carry, nest.map_structure(lambda *ys: tf.stack([tensor(y) for y in ys]), *collected)


def _is_of_model(values: Any) -> bool:
    leaves = nest.flatten(values)
    return any(isinstance(v, _holdfast.Tensor) and _holdfast.is_model_symbol(v) for v in leaves)


def _in_model(function: Callable[[Any], Any], values: Any) -> Any:
    """Maps over symbols of a model, whose parts have no symbols: a layer does it at each call."""
    from .. import layers

    wrapped: Any = layers.Lambda
    return wrapped(function)(values)


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """`f` of each part along the first axis."""
    if _is_of_model(xs):
        return _in_model(lambda values: map(f, values), xs)
    if any(tensor(x).shape[0] is None for x in nest.flatten(xs)):
        return tf.map_fn(f, xs)
    return scan(lambda _, x: (None, f(x)), None, xs)[1]


def vectorized_map(function: Callable[[Any], Any], elements: Any) -> Any:
    """`function` of each part along the first axis, all at once where that is possible."""
    if _is_of_model(elements):
        return _in_model(lambda values: vectorized_map(function, values), elements)
    return tf.vectorized_map(function, nest.map_structure(tensor, elements))


def custom_gradient(f: Any) -> Any:
    """A function that says its own gradient."""
    return tf.custom_gradient(f)
