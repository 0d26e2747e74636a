"""`tf.keras.ops.nn`: activations, convolutions, pooling, normalizations, losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import fail, unsupported
from .. import activations as _activations
from ..config import epsilon as _epsilon
from ..config import image_data_format
from .elementwise import polar
from .linalg import norm
from .ordering import multi_hot, one_hot
from .reductions import moments
from .values import as_float, promoted, rank_of, tensor, tf
from .windows import adaptive_average_pool, adaptive_max_pool, fold, unfold

__all__ = [
    "adaptive_average_pool",
    "adaptive_max_pool",
    "average_pool",
    "batch_normalization",
    "binary_crossentropy",
    "categorical_crossentropy",
    "conv",
    "conv_transpose",
    "ctc_loss",
    "depth_to_space",
    "depthwise_conv",
    "dot_product_attention",
    "fold",
    "layer_normalization",
    "max_pool",
    "moments",
    "multi_hot",
    "normalize",
    "one_hot",
    "polar",
    "psnr",
    "rms_normalization",
    "separable_conv",
    "space_to_depth",
    "sparse_categorical_crossentropy",
    "unfold",
]

# The activations, with the options that `ops` gives them.
celu = _activations.celu  # type: ignore[attr-defined]
glu = _activations.glu  # type: ignore[attr-defined]
hard_shrink = _activations.hard_shrink  # type: ignore[attr-defined]
hard_sigmoid = _activations.hard_sigmoid  # type: ignore[attr-defined]
hard_silu = hard_swish = _activations.hard_silu  # type: ignore[attr-defined]
hard_tanh = _activations.hard_tanh  # type: ignore[attr-defined]
log_sigmoid = _activations.log_sigmoid  # type: ignore[attr-defined]
relu6 = _activations.relu6  # type: ignore[attr-defined]
selu = _activations.selu  # type: ignore[attr-defined]
silu = swish = _activations.silu  # type: ignore[attr-defined]
soft_shrink = _activations.soft_shrink  # type: ignore[attr-defined]
softsign = _activations.softsign  # type: ignore[attr-defined]
sparse_plus = _activations.sparse_plus  # type: ignore[attr-defined]
sparse_sigmoid = _activations.sparse_sigmoid  # type: ignore[attr-defined]
sparsemax = _activations.sparsemax  # type: ignore[attr-defined]
squareplus = _activations.squareplus  # type: ignore[attr-defined]
tanh_shrink = _activations.tanh_shrink  # type: ignore[attr-defined]
threshold = _activations.threshold  # type: ignore[attr-defined]

__all__ += [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_shrink",
    "softmax",
    "softplus",
    "softsign",
    "sparse_plus",
    "sparse_sigmoid",
    "sparsemax",
    "squareplus",
    "swish",
    "tanh_shrink",
    "threshold",
]


def relu(x: Any) -> Any:
    """Not below 0."""
    return tf.nn.relu(tensor(x))


def sigmoid(x: Any) -> Any:
    """From 0 to 1."""
    return tf.sigmoid(as_float(x))


def softplus(x: Any) -> Any:
    """`log(1 + exp(x))`."""
    return tf.math.softplus(as_float(x))


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x` above 0, `alpha * (exp(x) - 1)` below."""
    x = as_float(x)
    return tf.where(x > 0, x, alpha * tf.math.expm1(tf.minimum(x, 0.0)))


def gelu(x: Any, approximate: bool = True) -> Any:
    """`x` times the share of a normal distribution below it."""
    return tf.nn.gelu(as_float(x), approximate=approximate)


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """`x` above 0, a small part of it below."""
    return tf.nn.leaky_relu(as_float(x), negative_slope)


def _over(function: Any, x: Any, axis: Any) -> Any:
    x = as_float(x)
    if isinstance(axis, int):
        return function(x, axis=axis)
    rank = rank_of(x, "softmax")
    axes = list(range(rank)) if axis is None else [a % rank for a in axis]
    rest = [a for a in range(rank) if a not in axes]
    order = [*rest, *axes]
    moved = tf.transpose(x, perm=order)
    rows = tf.reshape(moved, tf.concat([tf.shape(moved)[: len(rest)], [-1]], 0))
    out = tf.reshape(function(rows, axis=-1), tf.shape(moved))
    return tf.transpose(out, perm=np.argsort(order).tolist())


def softmax(x: Any, axis: Any = -1) -> Any:
    """Shares that sum up to 1 along an axis, several, or all."""
    return _over(tf.nn.softmax, x, axis)


def log_softmax(x: Any, axis: Any = -1) -> Any:
    """The logarithm of `softmax`."""
    return _over(tf.nn.log_softmax, x, axis)


# Convolutions and pooling.


def _channels(data_format: str | None, spatial: int, op: str) -> str:
    if spatial not in {1, 2, 3}:
        fail("E1102", f"`{op}` got {spatial + 2} axes, expected 3, 4 or 5")
    letters = "DHW"[3 - spatial :]
    data_format = data_format or image_data_format()
    if data_format == "channels_last":
        return f"N{letters}C"
    if data_format == "channels_first":
        return f"NC{letters}"
    return fail(
        "E1104",
        f'`data_format` of `{op}` is {data_format!r}, expected "channels_last" or "channels_first"',
    )


def _padding(padding: str, op: str) -> str:
    if not isinstance(padding, str) or padding.lower() not in {"valid", "same"}:
        fail("E1104", f'`padding` of `{op}` is {padding!r}, expected "valid" or "same"')
    return padding.upper()


def _each(value: Any, count: int, name: str, op: str) -> list[int]:
    sizes = [value] * count if isinstance(value, int) else list(value)
    if len(sizes) != count:
        fail("E1103", f"`{name}` of `{op}` has {len(sizes)} sizes, expected one, or {count}")
    return sizes


def conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """A convolution over one, two or three axes."""
    x, kernel = promoted(inputs, kernel)
    spatial = rank_of(x, "conv") - 2
    layout = _channels(data_format, spatial, "conv")
    return tf.nn.convolution(
        x,
        kernel,
        strides=_each(strides, spatial, "strides", "conv"),
        padding=_padding(padding, "conv"),
        data_format=layout,
        dilations=_each(dilation_rate, spatial, "dilation_rate", "conv"),
    )


def depthwise_conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """A convolution of each channel by itself."""
    x, kernel = promoted(inputs, kernel)
    spatial = rank_of(x, "depthwise_conv") - 2
    steps = _each(strides, spatial, "strides", "depthwise_conv")
    gaps = _each(dilation_rate, spatial, "dilation_rate", "depthwise_conv")
    if spatial not in {1, 2}:
        fail("E1102", f"`depthwise_conv` got {spatial + 2} axes, expected 3 or 4")
    layout = _channels(data_format, spatial, "depthwise_conv")
    first = layout[1] == "C"
    if spatial == 1:  # a plane of height 1
        x = tf.expand_dims(x, 2 if first else 1)
        kernel, steps, gaps = kernel[None], steps * 2, [1, *gaps]
    out = tf.nn.depthwise_conv2d(
        x,
        kernel,
        strides=[1, 1, *steps] if first else [1, *steps, 1],
        padding=_padding(padding, "depthwise_conv"),
        data_format="NCHW" if first else "NHWC",
        dilations=gaps,
    )
    return tf.squeeze(out, axis=[2 if first else 1]) if spatial == 1 else out


def separable_conv(
    inputs: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """A convolution of each channel by itself, then one over the channels."""
    x = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(x, pointwise_kernel, 1, "valid", data_format)


def conv_transpose(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    output_padding: Any = None,
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """The gradient of a convolution: what would have given `inputs`."""
    x, kernel = promoted(inputs, kernel)
    spatial = rank_of(x, "conv_transpose") - 2
    layout = _channels(data_format, spatial, "conv_transpose")
    padding = _padding(padding, "conv_transpose")
    steps = _each(strides, spatial, "strides", "conv_transpose")
    gaps = _each(dilation_rate, spatial, "dilation_rate", "conv_transpose")
    more: list[Any] = [None] * spatial
    if output_padding is not None:
        more = _each(output_padding, spatial, "output_padding", "conv_transpose")
    begin = layout.index("DHW"[3 - spatial])
    shape = tf.shape(x)
    sizes = []
    for i in range(spatial):
        size = x.shape[begin + i]
        size = shape[begin + i] if size is None else size
        reach = (kernel.shape[i] - 1) * gaps[i] + 1
        if more[i] is None:
            grown = size * steps[i]
            grown = grown if padding == "SAME" else grown + max(reach - steps[i], 0)
        elif padding == "SAME":
            grown = (size - 1) * steps[i] + reach - 2 * (reach // 2) + more[i]
        else:
            grown = (size - 1) * steps[i] + reach + more[i]
        sizes.append(grown)
    batch = shape[0] if x.shape[0] is None else x.shape[0]
    channels = kernel.shape[-2]
    whole = [batch, channels, *sizes] if layout[1] == "C" else [batch, *sizes, channels]
    return tf.nn.conv_transpose(
        x,
        kernel,
        output_shape=whole if all(isinstance(s, int) for s in whole) else tf.stack(whole),
        strides=steps,
        padding=padding,
        data_format=layout,
        dilations=gaps,
    )


def _pool(kind: str, inputs: Any, pool_size: Any, strides: Any, padding: str, fmt: Any) -> Any:
    op = f"{kind.lower()}_pool" if kind == "MAX" else "average_pool"
    x = tensor(inputs) if kind == "MAX" else as_float(inputs)
    spatial = rank_of(x, op) - 2
    layout = _channels(fmt, spatial, op)
    window = _each(pool_size, spatial, "pool_size", op)
    return tf.nn.pool(
        x,
        window_shape=window,
        pooling_type=kind,
        strides=window if strides is None else _each(strides, spatial, "strides", op),
        padding=_padding(padding, op),
        data_format=layout,
    )


def max_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """The largest of each window."""
    return _pool("MAX", inputs, pool_size, strides, padding, data_format)


def average_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """The mean of each window."""
    return _pool("AVG", inputs, pool_size, strides, padding, data_format)


def depth_to_space(x: Any, block_size: int, data_format: str = "channels_last") -> Any:
    """Channels as blocks of pixels."""
    return tf.nn.depth_to_space(tensor(x), block_size, _channels(data_format, 2, "depth_to_space"))


def space_to_depth(x: Any, block_size: int, data_format: str = "channels_last") -> Any:
    """Blocks of pixels as channels."""
    return tf.nn.space_to_depth(tensor(x), block_size, _channels(data_format, 2, "space_to_depth"))


# Normalizations.


def normalize(x: Any, axis: Any = -1, order: Any = 2, epsilon: float | None = None) -> Any:
    """Divided by its norm along an axis, which counts as no less than `epsilon`."""
    if not isinstance(order, int) or order < 1:
        fail("E1103", f"`order` of `normalize` is {order!r}, expected a whole number above 0")
    x = as_float(x)
    small = _epsilon() if epsilon is None else epsilon
    if order == 2:
        total = tf.reduce_sum(tf.square(x), axis=axis, keepdims=True)
        return x * tf.math.rsqrt(tf.maximum(total, small**2))
    return x / tf.maximum(norm(x, order, axis, True), small)


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    axis: int,
    offset: Any = None,
    scale: Any = None,
    epsilon: float = 1e-3,
) -> Any:
    """Shifted and scaled by moments of the axis of channels."""
    x = as_float(x)
    rank = rank_of(x, "batch_normalization")
    form = [1] * rank
    form[axis % rank] = -1

    def along(v: Any) -> Any:
        return None if v is None else tf.reshape(tf.cast(tensor(v), x.dtype), form)

    factor = tf.math.rsqrt(along(variance) + epsilon)
    factor = factor if scale is None else factor * along(scale)
    shift = -along(mean) * factor
    return x * factor + (shift if offset is None else shift + along(offset))


def _statistics_axes(axis: Any, rank: int) -> list[int]:
    axes = [axis] if isinstance(axis, int) else list(axis)
    return sorted(a % rank for a in axes)


def layer_normalization(
    x: Any, gamma: Any = None, beta: Any = None, axis: Any = -1, epsilon: Any = None, **kwargs: Any
) -> Any:
    """Each example with the mean 0 and the variance 1 along axes."""
    if kwargs.pop("rms_scaling", False):
        return rms_normalization(x, gamma, axis, epsilon)
    if kwargs:
        fail("E1104", f"`layer_normalization` has no option `{next(iter(kwargs))}`")
    x = as_float(x)
    wide = tf.cast(x, "float32") if x.dtype.name in {"float16", "bfloat16"} else x
    axes = _statistics_axes(axis, rank_of(x, "layer_normalization"))
    mean, variance = tf.nn.moments(wide, axes, keepdims=True)
    out = (wide - mean) * tf.math.rsqrt(variance + (_epsilon() if epsilon is None else epsilon))
    form = [x.shape[a] if a in axes else 1 for a in range(rank_of(x, "layer_normalization"))]
    if gamma is not None:
        out = out * tf.reshape(tf.cast(tensor(gamma), wide.dtype), form)
    if beta is not None:
        out = out + tf.reshape(tf.cast(tensor(beta), wide.dtype), form)
    return tf.cast(out, x.dtype)


def rms_normalization(x: Any, scale: Any = None, axis: Any = -1, epsilon: Any = None) -> Any:
    """Divided by the root of its mean square along axes."""
    x = as_float(x)
    wide = tf.cast(x, "float32") if x.dtype.name in {"float16", "bfloat16"} else x
    axes = _statistics_axes(axis, rank_of(x, "rms_normalization"))
    mean = tf.reduce_mean(tf.square(wide), axis=axes, keepdims=True)
    out = wide * tf.math.rsqrt(mean + (_epsilon() if epsilon is None else epsilon))
    if scale is not None:
        form = [x.shape[a] if a in axes else 1 for a in range(rank_of(x, "rms_normalization"))]
        out = out * tf.reshape(tf.cast(tensor(scale), wide.dtype), form)
    return tf.cast(out, x.dtype)


# Losses, value by value.


def _kept_off(x: Any) -> Any:
    """Probabilities kept off 0 and 1."""
    return tf.minimum(tf.maximum(x, _epsilon()), 1 - _epsilon())


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """How surprising a truth is, value by value."""
    target, output = (as_float(v) for v in promoted(target, output))
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    output = _kept_off(output)
    return -(target * tf.math.log(output) + (1 - target) * tf.math.log(1 - output))


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """How surprising the classes of rows are; `target` has their probabilities."""
    target, output = (as_float(v) for v in promoted(target, output))
    if from_logits:
        logs = tf.nn.log_softmax(output, axis=axis)
    else:
        logs = tf.math.log(_kept_off(output / tf.reduce_sum(output, axis=axis, keepdims=True)))
    return -tf.reduce_sum(target * logs, axis=axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """The same; `target` has the numbers of the classes."""
    target, output = tf.cast(tensor(target), "int32"), as_float(output)
    if target.shape.rank == output.shape.rank and target.shape[-1] == 1:
        target = tf.squeeze(target, axis=[-1])
    hot = tf.one_hot(target, output.shape[axis], axis=axis, dtype=output.dtype)
    return categorical_crossentropy(hot, output, from_logits, axis)


def ctc_loss(
    target: Any, output: Any, target_length: Any, output_length: Any, mask_index: int = 0
) -> Any:
    """How surprising a sequence is whose places are not known."""
    return tf.nn.ctc_loss(
        labels=tf.cast(tensor(target), "int32"),
        logits=tf.transpose(as_float(output), perm=[1, 0, 2]),
        label_length=tf.cast(tensor(target_length), "int32"),
        logit_length=tf.cast(tensor(output_length), "int32"),
        blank_index=mask_index,
        logits_time_major=True,
    )


def psnr(x1: Any, x2: Any, max_val: float) -> Any:
    """How much stronger the signal is than the difference, in decibels."""
    a, b = (as_float(v) for v in promoted(x1, x2))
    error = tf.reduce_mean(tf.square(a - b))
    peak = tensor(max_val, error.dtype)
    return (20 * tf.math.log(peak) - 10 * tf.math.log(error)) / math.log(10)


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: Any = None,
    attn_logits_soft_cap: Any = None,
) -> Any:
    """Values weighed by how well their keys fit queries: `[batch, time, heads, size]`."""
    if flash_attention:
        unsupported(
            "`flash_attention=True` can't be asked for", "ways to compute it are chosen here"
        )
    query, key, value = (as_float(v) for v in promoted(query, key, value))
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.shape.rank != 4:
            fail(
                "E1102", f"`{name}` of `dot_product_attention` has {x.shape.rank} axes, expected 4"
            )
    heads, shared = query.shape[2], key.shape[2]
    if heads != shared:  # groups of queries share a key
        if heads is None or shared is None or heads % shared:
            fail("E1102", f"{heads} heads of queries can't share {shared} heads of keys")
        key, value = (tf.repeat(x, heads // shared, 2) for x in (key, value))
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    logits = tf.einsum("BTNH,BSNH->BNTS", query, key) * scale
    if attn_logits_soft_cap is not None:
        logits = tf.tanh(logits / attn_logits_soft_cap) * attn_logits_soft_cap
    if bias is not None:
        logits = logits + tf.cast(tensor(bias), logits.dtype)
    allowed = None if mask is None else tf.cast(tensor(mask), "bool")
    if is_causal:
        shape = tf.shape(logits)
        causal = tf.range(shape[3])[None, :] <= tf.range(shape[2])[:, None]
        allowed = causal if allowed is None else tf.logical_and(allowed, causal)
    if allowed is not None:
        logits = tf.where(allowed, logits, tf.constant(0.7 * logits.dtype.min, logits.dtype))
    weights = tf.nn.softmax(logits, axis=-1)
    return tf.einsum("BNTS,BSNH->BTNH", weights, value)
