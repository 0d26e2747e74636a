"""`tf.compat.v1.image`: images of another size by the rules of version 1.

Version 1 measures from the corners of pixels where version 2 measures from their centres: the
same call gives other values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensors import registry
from .._tensors.dtypes import float32, int32
from .._tensors.tensor import convert_to_tensor, get_static_value
from ..errors import fail

__all__ = ["NAMES"]


class ResizeMethod:
    """What `resize` takes as `method`."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_OPS = {
    ResizeMethod.BILINEAR: "ResizeBilinear",
    ResizeMethod.NEAREST_NEIGHBOR: "ResizeNearestNeighbor",
    ResizeMethod.BICUBIC: "ResizeBicubic",
    ResizeMethod.AREA: "ResizeArea",
}
_WORDS = {"bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3}


def _of(path: str, *args: Any, **kwargs: Any) -> Any:
    return registry.function(path)(*args, **kwargs)


def _fitted(size: Any, images: Any) -> Any:
    """The largest size within `size` that has the proportions of the images."""
    have = _of("cast", _of("shape", images)[1:3], float32)
    scale = _of("reduce_min", _of("cast", size, float32) / have)
    return _of("cast", _of("round", scale * have), int32)


def resize(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Any:
    """Images of another size; those that have it already are handed back as they are.

    Bilinear, bicubic and area give float32. With `align_corners` the corners of both lie on each
    other.
    """
    given = convert_to_tensor(images)
    if given.shape.rank not in (None, 3, 4):
        raise ValueError(f"`images` has the shape {given.shape}, expected 3 or 4 dimensions")
    batch = _of("expand_dims", given, 0) if given.shape.rank == 3 else given
    sizes = convert_to_tensor(size, int32)
    if not sizes.shape.is_compatible_with([2]):
        raise ValueError(f"`size` has the shape {sizes.shape}, expected two numbers")
    if preserve_aspect_ratio:
        sizes = _fitted(sizes, batch)
    op = _OPS.get(_WORDS.get(method, -1) if isinstance(method, str) else method)
    if op is None:
        raise ValueError(f"`method` is {method!r}, expected a member of `ResizeMethod`")
    known = get_static_value(sizes)
    have = batch.shape.as_list()[1:3] if batch.shape.rank is not None else None
    if known is not None and have == [int(n) for n in known]:
        return given
    found = registry.raw_op(op, images=batch, size=sizes, align_corners=align_corners, name=name)
    return _of("squeeze", found, [0]) if given.shape.rank == 3 else found


def _raw(op: str) -> Callable[..., Any]:
    def resized(
        images: Any,
        size: Any,
        align_corners: bool = False,
        name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Any:
        """Images of another size, by the raw op."""
        options: dict[str, Any] = {"align_corners": align_corners, "name": name}
        if half_pixel_centers:
            options["half_pixel_centers"] = True
        return registry.raw_op(op, images=images, size=size, **options)

    return resized


def resize_area(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None
) -> Any:
    """Images of another size: each pixel is the mean of what it covers."""
    return _raw("ResizeArea")(images, size, align_corners, name)


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """A part of an image, of a random shape; both seeds are those of the op."""
    given = {
        "seed": seed,
        "seed2": seed2,
        "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }
    return registry.raw_op(
        "SampleDistortedBoundingBoxV2",
        image_size=convert_to_tensor(image_size),
        bounding_boxes=convert_to_tensor(bounding_boxes, float32),
        min_object_covered=convert_to_tensor(min_object_covered, float32),
        name=name,
        **{key: value for key, value in given.items() if value is not None},
    )


def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    sizes: Any = None,
) -> Any:
    """Windows of images, one in the depth of each result pixel."""
    windows = ksizes if sizes is None else sizes
    if windows is None or strides is None or rates is None or padding is None:
        fail("E1104", "`extract_image_patches` needs `sizes`, `strides`, `rates` and `padding`")
    return _of("image.extract_patches", images, windows, strides, rates, padding, name=name)


NAMES: dict[str, Any] = {"compat.v1.extract_image_patches": extract_image_patches} | {
    f"compat.v1.image.{name}": value
    for name, value in {
        "extract_image_patches": extract_image_patches,
        "sample_distorted_bounding_box": sample_distorted_bounding_box,
        "ResizeMethod": ResizeMethod,
        "resize": resize,
        "resize_images": resize,
        "resize_area": resize_area,
        "resize_bicubic": _raw("ResizeBicubic"),
        "resize_bilinear": _raw("ResizeBilinear"),
        "resize_nearest_neighbor": _raw("ResizeNearestNeighbor"),
    }.items()
}
