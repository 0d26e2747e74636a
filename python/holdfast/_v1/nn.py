"""`tf.compat.v1.nn`: functions whose arguments have other names or another order in version 1.

Each only moves arguments: what is computed is the function of version 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._names.signatures import sampled_loss, shards_of
from .._tensors import registry
from .._tensors.tensor import convert_to_tensor

__all__ = ["NAMES"]

_ONES4, _ONES5 = [1, 1, 1, 1], [1, 1, 1, 1, 1]


def _nn(name: str) -> Callable[..., Any]:
    return registry.function(f"nn.{name}")


def one_of(new: Any, old: Any, new_name: str, old_name: str) -> Any:
    """The one of two spellings of an argument that was given."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"`{new_name}` and `{old_name}` are the same argument: give one of them")
    return old


def _needed(new: Any, old: Any, new_name: str, old_name: str) -> Any:
    found = one_of(new, old, new_name, old_name)
    if found is None:
        raise TypeError(f"the argument `{new_name}` is missing")
    return found


# Convolutions.


def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: Any = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.conv1d`."""
    x = _needed(input, value, "input", "value")
    return _nn("conv1d")(x, filters, stride, padding, data_format or "NWC", dilations, name=name)


def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = _ONES4,
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """`tf.nn.conv2d`."""
    w = _needed(filters, filter, "filters", "filter")
    strides = 1 if strides is None else strides
    return _nn("conv2d")(input, w, strides, padding, data_format, dilations, name=name)


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = _ONES4,
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """The gradient of `conv2d` with respect to its input."""
    w = _needed(filters, filter, "filters", "filter")
    backprop = registry.function("compat.v1.nn.conv2d_backprop_input")
    options = (strides, padding, data_format, dilations)
    return backprop(input_sizes, w, out_backprop, *options, name=name)


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = _ONES4,
    name: str | None = None,
) -> Any:
    """The gradient of `conv2d` with respect to its filter."""
    backprop = registry.function("compat.v1.nn.conv2d_backprop_filter")
    options = (strides, padding, data_format, dilations)
    return backprop(input, filter_sizes, out_backprop, *options, name=name)


def _transposed(path: str, channels_last: str) -> Callable[..., Any]:
    def transposed(
        value: Any = None,
        filter: Any = None,
        output_shape: Any = None,
        strides: Any = None,
        padding: Any = "SAME",
        data_format: str = channels_last,
        name: str | None = None,
        input: Any = None,
        filters: Any = None,
        dilations: Any = None,
    ) -> Any:
        x = _needed(input, value, "input", "value")
        w = _needed(filters, filter, "filters", "filter")
        options = (padding, data_format, dilations)
        return _nn(path)(x, w, output_shape, strides, *options, name=name)

    transposed.__doc__ = f"`tf.nn.{path}`."
    transposed.__name__ = transposed.__qualname__ = path
    return transposed


conv2d_transpose = _transposed("conv2d_transpose", "NHWC")
conv3d_transpose = _transposed("conv3d_transpose", "NDHWC")


def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NDHWC",
    dilations: Any = _ONES5,
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """`tf.nn.conv3d`."""
    w = _needed(filters, filter, "filters", "filter")
    return _nn("conv3d")(input, w, strides, padding, data_format, dilations, name=name)


def convolution(
    input: Any,
    filter: Any = None,
    padding: Any = None,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.convolution`."""
    w = _needed(filters, filter, "filters", "filter")
    rates = one_of(dilations, dilation_rate, "dilations", "dilation_rate")
    return _nn("convolution")(input, w, strides, padding, data_format, rates, name=name)


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.depthwise_conv2d`."""
    rates = one_of(dilations, rate, "dilations", "rate")
    options = (strides, padding, data_format, rates)
    return _nn("depthwise_conv2d")(input, filter, *options, name=name)


def depthwise_conv2d_native(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = _ONES4,
    name: str | None = None,
) -> Any:
    """`tf.nn.depthwise_conv2d`."""
    options = (strides, padding, data_format, dilations)
    return _nn("depthwise_conv2d")(input, filter, *options, name=name)


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.separable_conv2d`."""
    rates = one_of(dilations, rate, "dilations", "rate")
    options = (strides, padding, data_format, rates)
    convolve = _nn("separable_conv2d")
    return convolve(input, depthwise_filter, pointwise_filter, *options, name=name)


# Pools.


def _pool2d(path: str) -> Callable[..., Any]:
    def pooled(
        value: Any = None,
        ksize: Any = None,
        strides: Any = None,
        padding: Any = None,
        data_format: str = "NHWC",
        name: str | None = None,
        input: Any = None,
    ) -> Any:
        x = _needed(input, value, "input", "value")
        return _nn(path)(x, ksize, strides, padding, data_format, name=name)

    pooled.__name__, pooled.__doc__ = path, f"`tf.nn.{path}`."
    return pooled


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    Targmax: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> Any:
    """`tf.nn.max_pool_with_argmax`."""
    dtype = one_of(output_dtype, Targmax, "output_dtype", "Targmax") or "int64"
    options = (padding, data_format, dtype, include_batch_in_index)
    return _nn("max_pool_with_argmax")(input, ksize, strides, *options, name=name)


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    padding: Any,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.pool`."""
    rates = one_of(dilations, dilation_rate, "dilations", "dilation_rate")
    options = (strides, padding, data_format, rates)
    return _nn("pool")(input, window_shape, pooling_type, *options, name=name)


def _fractional(op: str) -> Callable[..., Any]:
    def pooled(
        value: Any,
        pooling_ratio: Any,
        pseudo_random: bool = False,
        overlapping: bool = False,
        deterministic: bool = False,
        seed: int = 0,
        seed2: int = 0,
        name: str | None = None,
    ) -> Any:
        """A pool that shrinks an image by a factor that is no integer."""
        options: dict[str, Any] = {"pseudo_random": pseudo_random, "overlapping": overlapping}
        options |= {"deterministic": deterministic, "seed": seed, "seed2": seed2}
        return registry.raw_op(
            op, value=convert_to_tensor(value), pooling_ratio=pooling_ratio, name=name, **options
        )

    return pooled


def dilation2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.dilation2d`."""
    w = _needed(filters, filter, "filters", "filter")
    apart = _needed(dilations, rates, "dilations", "rates")
    return _nn("dilation2d")(input, w, strides, padding, "NHWC", apart, name=name)


def erosion2d(
    value: Any, kernel: Any, strides: Any, rates: Any, padding: Any, name: str | None = None
) -> Any:
    """`tf.nn.erosion2d`."""
    return _nn("erosion2d")(value, kernel, strides, padding, "NHWC", rates, name=name)


# Along an axis.


def _along(path: str) -> Callable[..., Any]:
    def function(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
        along = one_of(axis, dim, "axis", "dim")
        return _nn(path)(logits, -1 if along is None else along, name=name)

    function.__name__, function.__doc__ = path, f"`tf.nn.{path}`."
    return function


def l2_normalize(
    x: Any, axis: Any = None, epsilon: Any = 1e-12, name: str | None = None, dim: Any = None
) -> Any:
    """`tf.math.l2_normalize`."""
    along = one_of(axis, dim, "axis", "dim")
    return registry.function("math.l2_normalize")(x, along, epsilon, name=name)


def crelu(features: Any, name: str | None = None, axis: Any = -1) -> Any:
    """`tf.nn.crelu`."""
    return _nn("crelu")(features, axis, name=name)


def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> Any:
    """`tf.nn.moments`. The result does not depend on `shift`."""
    keep = bool(one_of(keepdims, keep_dims, "keepdims", "keep_dims"))
    return _nn("moments")(x, axes, shift, keep, name=name)


def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> Any:
    """`tf.nn.weighted_moments`."""
    keep = bool(one_of(keepdims, keep_dims, "keepdims", "keep_dims"))
    return _nn("weighted_moments")(x, axes, frequency_weights, keep, name=name)


def sufficient_statistics(
    x: Any,
    axes: Any,
    shift: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> Any:
    """`tf.nn.sufficient_statistics`."""
    keep = bool(one_of(keepdims, keep_dims, "keepdims", "keep_dims"))
    return _nn("sufficient_statistics")(x, axes, shift, keep, name=name)


def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: Any = None,
    name: str | None = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Any:
    """`tf.nn.batch_normalization`; `gamma` is used only where it is asked for."""
    x = _needed(input, t, "input", "t")
    middle, spread = _needed(mean, m, "mean", "m"), _needed(variance, v, "variance", "v")
    scale = gamma if scale_after_normalization else None
    normalise = _nn("batch_normalization")
    return normalise(x, middle, spread, beta, scale, variance_epsilon, name=name)


# Losses.


def _need_names(sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None or labels is None or logits is None:
        raise ValueError("give both arguments by name: `labels=...` and `logits=...`")


def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: str | None = None,
    axis: Any = None,
) -> Any:
    """`tf.nn.softmax_cross_entropy_with_logits`; no gradient flows into the labels."""
    _need_names(_sentinel, labels, logits)
    fixed = registry.function("stop_gradient")(labels)
    along = dim if axis is None else axis
    return _nn("softmax_cross_entropy_with_logits")(fixed, logits, along, name=name)


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Any:
    """`tf.nn.softmax_cross_entropy_with_logits`."""
    along = one_of(axis, dim, "axis", "dim")
    lose = _nn("softmax_cross_entropy_with_logits")
    return lose(labels, logits, -1 if along is None else along, name=name)


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """`tf.nn.sparse_softmax_cross_entropy_with_logits`."""
    _need_names(_sentinel, labels, logits)
    return _nn("sparse_softmax_cross_entropy_with_logits")(labels, logits, name=name)


def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """`tf.nn.sigmoid_cross_entropy_with_logits`."""
    _need_names(None, labels, logits)
    return _nn("sigmoid_cross_entropy_with_logits")(labels, logits, name=name)


def weighted_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: Any = None,
) -> Any:
    """`tf.nn.weighted_cross_entropy_with_logits`."""
    wanted = one_of(labels, targets, "labels", "targets")
    lose = _nn("weighted_cross_entropy_with_logits")
    return lose(wanted, logits, pos_weight, name=name)


# Tables and layers.


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Any:
    """Rows of a table, or of a list of shards; with "mod" id i is in shard i % their number."""
    shards = shards_of(params)
    return _nn("embedding_lookup")(shards, ids, partition_strategy, max_norm, name=name)


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = "nce_loss",
) -> Any:
    """`tf.nn.nce_loss`, where shards hold every n-th class."""
    given = (labels, inputs, num_sampled, num_classes)
    how = (num_true, sampled_values, remove_accidental_hits, partition_strategy)
    return sampled_loss(_nn("nce_loss"), (weights, biases), given, *how, name=name)


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str | None = "sampled_softmax_loss",
    seed: int | None = None,
) -> Any:
    """`tf.nn.sampled_softmax_loss`, where shards hold every n-th class."""
    given = (labels, inputs, num_sampled, num_classes)
    how = (num_true, sampled_values, remove_accidental_hits, partition_strategy, seed)
    return sampled_loss(_nn("sampled_softmax_loss"), (weights, biases), given, *how, name=name)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """`matmul(x, weights) + biases`."""
    product = registry.function("linalg.matmul")(x, weights)
    return _nn("bias_add")(product, biases, name=name)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """`relu(matmul(x, weights) + biases)`."""
    return _nn("relu")(xw_plus_b(x, weights, biases), name=name)


NAMES: dict[str, Any] = {
    **{
        f"compat.v1.nn.{function.__name__}": function
        for function in (
            *(conv1d, conv2d, conv2d_backprop_input, conv2d_backprop_filter, conv2d_transpose),
            *(conv3d, conv3d_transpose, convolution, depthwise_conv2d, depthwise_conv2d_native),
            *(
                dilation2d,
                erosion2d,
                separable_conv2d,
                max_pool_with_argmax,
                pool,
                l2_normalize,
                crelu,
                moments,
            ),
            *(weighted_moments, sufficient_statistics, batch_norm_with_global_normalization),
            *(softmax_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2),
            *(sparse_softmax_cross_entropy_with_logits, sigmoid_cross_entropy_with_logits),
            *(weighted_cross_entropy_with_logits, embedding_lookup, xw_plus_b, relu_layer),
            *(nce_loss, sampled_softmax_loss),
        )
    },
    **{f"compat.v1.nn.{path}": _pool2d(path) for path in ("avg_pool", "max_pool")},
    "compat.v1.nn.fractional_max_pool": _fractional("FractionalMaxPool"),
    "compat.v1.nn.fractional_avg_pool": _fractional("FractionalAvgPool"),
    "compat.v1.nn.avg_pool2d": _pool2d("avg_pool2d"),
    **{f"compat.v1.nn.{path}": _along(path) for path in ("softmax", "log_softmax")},
    **{f"compat.v1.math.{path}": _along(path) for path in ("softmax", "log_softmax")},
    **{f"compat.v1.{path}.l2_normalize": l2_normalize for path in ("math", "linalg")},
}
