"""Windows over images and sequences: cut out, laid back, and pooled to a size that is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import fail
from .. import config
from .values import promoted, rank_of, tensor, tf

__all__ = ["adaptive_average_pool", "adaptive_max_pool", "fold", "unfold"]


def _sides(value: Any, axes: int, name: str, op: str, least: int) -> list[int]:
    """One size for all axes, or one for each."""
    sizes = [value] * axes if isinstance(value, (int, np.integer)) else list(value)
    if len(sizes) != axes or any(not isinstance(s, (int, np.integer)) or s < least for s in sizes):
        fail(
            "E1103",
            f"`{name}` of `{op}` is {value!r}, expected at least {least} for each of {axes} axes",
        )
    return [int(s) for s in sizes]


def _places(size: int, kernel: int, dilation: int, stride: int, op: str) -> np.ndarray[Any, Any]:
    """Which elements of an axis each window sees: one row for each element of the kernel."""
    many = (size - dilation * (kernel - 1) - 1) // stride + 1
    if many < 1:
        fail("E1102", f"`{op}`: an axis of {size} elements has no room for a window of {kernel}")
    return np.arange(kernel)[:, None] * dilation + np.arange(many)[None, :] * stride


def _flat_places(
    sizes: list[int], kernel: list[int], dilation: list[int], stride: list[int], op: str
) -> np.ndarray[Any, Any]:
    """The same over a whole image, as places in its rows put one behind the other."""
    rows, columns = (_places(*one, op) for one in zip(sizes, kernel, dilation, stride, strict=True))
    both = rows[:, None, :, None] * sizes[1] + columns[None, :, None, :]
    return np.asarray(both.reshape(kernel[0] * kernel[1], -1))


def _known(size: Any, what: str, op: str) -> int:
    if size is None:
        fail("E1102", f"`{op}` needs to know {what} of its images")
    return int(size)


def unfold(x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The windows of images `[batch, channels, rows, columns]`, each as a column."""
    x = tensor(x)
    if rank_of(x, "unfold") != 4:
        fail("E1102", f"`x` of `unfold` has the shape {x.shape}, expected 4 axes")
    kernel = _sides(kernel_size, 2, "kernel_size", "unfold", 1)
    spread = _sides(dilation, 2, "dilation", "unfold", 1)
    border = _sides(padding, 2, "padding", "unfold", 0)
    step = _sides(stride, 2, "stride", "unfold", 1)
    x = tf.pad(x, [[0, 0], [0, 0], [border[0]] * 2, [border[1]] * 2])
    sizes = [_known(n, "the rows and columns", "unfold") for n in x.shape[2:]]
    places = _flat_places(sizes, kernel, spread, step, "unfold")
    channels = _known(x.shape[1], "the channels", "unfold")
    rows = tf.reshape(x, [-1, channels, sizes[0] * sizes[1]])
    seen = tf.gather(rows, places.ravel(), axis=2)
    return tf.reshape(seen, [-1, channels * places.shape[0], places.shape[1]])


def fold(
    x: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """Images from windows as `unfold` gives them: where windows overlap, they are added up."""
    x = tensor(x)
    kernel = _sides(kernel_size, 2, "kernel_size", "fold", 1)
    spread = _sides(dilation, 2, "dilation", "fold", 1)
    border = _sides(padding, 2, "padding", "fold", 0)
    step = _sides(stride, 2, "stride", "fold", 1)
    inner = _sides(output_size, 2, "output_size", "fold", 1)
    sizes = [n + 2 * b for n, b in zip(inner, border, strict=True)]
    places = _flat_places(sizes, kernel, spread, step, "fold")
    area = kernel[0] * kernel[1]
    fits = rank_of(x, "fold") == 3 and x.shape[1] is not None and x.shape[1] % area == 0
    if not fits or x.shape[2] not in (None, places.shape[1]):
        fail(
            "E1102",
            f"`x` of `fold` has the shape {x.shape}, expected [batch, channels * {area}, "
            f"{places.shape[1]}]",
        )
    channels = x.shape[1] // area
    each = tf.reshape(x, [-1, channels, places.size])
    first = tf.transpose(each, [2, 0, 1])
    whole = tf.math.unsorted_segment_sum(first, places.ravel(), sizes[0] * sizes[1])
    images = tf.reshape(tf.transpose(whole, [1, 2, 0]), [-1, channels, *sizes])
    return images[:, :, border[0] : border[0] + inner[0], border[1] : border[1] + inner[1]]


def _pooled(inputs: Any, output_size: Any, data_format: Any, op: str, reduce: Any) -> Any:
    """Each axis in so many parts, of nearly one size; of each part one value."""
    x = promoted(inputs)[0]
    rank = rank_of(x, op)
    if not 3 <= rank <= 5:
        fail("E1102", f"`inputs` of `{op}` has the shape {x.shape}, expected 3 to 5 axes")
    wanted = _sides(output_size, rank - 2, "output_size", op, 1)
    form = config.image_data_format() if data_format is None else data_format
    if form not in ("channels_first", "channels_last"):
        fail(
            "E1104",
            f'`data_format` of `{op}` is {form!r}, expected "channels_last" or "channels_first"',
        )
    for i, parts in enumerate(wanted):
        axis = i + (2 if form == "channels_first" else 1)
        size = _known(x.shape[axis], "the sizes", op)
        bounds = [(size * j // parts, -(-size * (j + 1) // parts)) for j in range(parts)]
        pieces = [
            reduce(tf.gather(x, np.arange(first, last), axis=axis), axis=axis, keepdims=True)
            for first, last in bounds
        ]
        x = tf.concat(pieces, axis)
    return x


def adaptive_average_pool(inputs: Any, output_size: Any, data_format: Any = None) -> Any:
    """Means over parts of the inputs, so many as `output_size` says."""
    return _pooled(inputs, output_size, data_format, "adaptive_average_pool", tf.reduce_mean)


def adaptive_max_pool(inputs: Any, output_size: Any, data_format: Any = None) -> Any:
    """The largest of parts of the inputs, so many as `output_size` says."""
    return _pooled(inputs, output_size, data_format, "adaptive_max_pool", tf.reduce_max)
