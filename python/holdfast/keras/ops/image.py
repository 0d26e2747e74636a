"""`tf.keras.ops.image`."""

from __future__ import annotations

from typing import Any

from ...errors import fail
from .nn import _channels, _padding
from .values import as_float, rank_of, tensor, tf

__all__ = ["crop_images", "extract_patches", "pad_images", "rgb_to_grayscale"]


def _axes(images: Any, data_format: str | None, op: str) -> tuple[int, int]:
    """Where the height and the width are."""
    first = _channels(data_format, 2, op)[1] == "C"
    rank = rank_of(images, op)
    if rank not in {3, 4}:
        fail("E1102", f"`{op}` got {rank} axes, expected one image or a batch of them")
    height = rank - 2 if first else rank - 3
    return height, height + 1


def rgb_to_grayscale(images: Any, data_format: str | None = None) -> Any:
    """How bright colours look."""
    images = tensor(images)
    _axes(images, data_format, "rgb_to_grayscale")
    axis = -3 if _channels(data_format, 2, "rgb_to_grayscale")[1] == "C" else -1
    if images.shape[axis] not in {None, 3}:
        fail("E1102", f"`rgb_to_grayscale` got {images.shape[axis]} channels, expected 3")
    wide = as_float(images)
    weights = tf.reshape(
        tf.constant([0.2989, 0.5870, 0.1140], wide.dtype), [3, 1, 1] if axis == -3 else [3]
    )
    return tf.cast(tf.reduce_sum(wide * weights, axis=axis, keepdims=True), images.dtype)


def _missing_side(
    before: Any, after: Any, size: Any, target: Any, grow: bool, op: str, side: str
) -> tuple[int, int]:
    """What is put before and after, of which two out of three are said."""
    given = sum(v is not None for v in (before, after, target))
    if given != 2:
        fail(
            "E1104",
            f"`{op}` needs two of what is {'put on' if grow else 'taken from'} both ends of the "
            f"{side} and its target, and got {given}",
        )
    if target is not None:
        if size is None:
            fail("E1102", f"`{op}` needs to know the {side} of its images")
        rest = (target - size) if grow else (size - target)
        if before is None:
            before = rest - after
        else:
            after = rest - before
    if before < 0 or after < 0:
        fail(
            "E1103",
            f"`{op}`: the {side} would change by {before} and {after}, expected none below 0",
        )
    return before, after


def pad_images(
    images: Any,
    top_padding: int | None = None,
    left_padding: int | None = None,
    bottom_padding: int | None = None,
    right_padding: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Any:
    """Images with zeros around them."""
    images = tensor(images)
    h, w = _axes(images, data_format, "pad_images")
    widths = [[0, 0] for _ in range(rank_of(images, "pad_images"))]
    widths[h] = list(
        _missing_side(
            top_padding,
            bottom_padding,
            images.shape[h],
            target_height,
            True,
            "pad_images",
            "height",
        )
    )
    widths[w] = list(
        _missing_side(
            left_padding, right_padding, images.shape[w], target_width, True, "pad_images", "width"
        )
    )
    return tf.pad(images, widths)


def crop_images(
    images: Any,
    top_cropping: int | None = None,
    left_cropping: int | None = None,
    bottom_cropping: int | None = None,
    right_cropping: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Any:
    """A part of images."""
    images = tensor(images)
    h, w = _axes(images, data_format, "crop_images")
    index: list[Any] = [slice(None)] * rank_of(images, "crop_images")
    for axis, before, after, target, side in (
        (h, top_cropping, bottom_cropping, target_height, "height"),
        (w, left_cropping, right_cropping, target_width, "width"),
    ):
        size = images.shape[axis]
        begin, end = _missing_side(before, after, size, target, False, "crop_images", side)
        index[axis] = slice(begin, -end if end else None)
    return images[tuple(index)]


def extract_patches(
    images: Any,
    size: Any,
    strides: Any = None,
    dilation_rate: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """Windows over images, each as one row of channels."""
    images = tensor(images)
    first = _channels(data_format, 2, "extract_patches")[1] == "C"
    sides = [size, size] if isinstance(size, int) else list(size)
    steps = (
        sides if strides is None else [strides] * 2 if isinstance(strides, int) else list(strides)
    )
    gaps = [dilation_rate] * 2 if isinstance(dilation_rate, int) else list(dilation_rate)
    single = rank_of(images, "extract_patches") == 3
    batch = images[None] if single else images
    batch = tf.transpose(batch, perm=[0, 2, 3, 1]) if first else batch
    out = tf.image.extract_patches(
        batch,
        [1, *sides, 1],
        [1, *steps, 1],
        [1, *gaps, 1],
        _padding(padding, "extract_patches"),
    )
    out = tf.transpose(out, perm=[0, 3, 1, 2]) if first else out
    return out[0] if single else out
