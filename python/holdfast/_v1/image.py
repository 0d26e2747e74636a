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


NAMES: dict[str, Any] = {
    f"compat.v1.image.{name}": value
    for name, value in {
        "ResizeMethod": ResizeMethod,
        "resize": resize,
        "resize_images": resize,
        "resize_area": resize_area,
        "resize_bicubic": _raw("ResizeBicubic"),
        "resize_bilinear": _raw("ResizeBilinear"),
        "resize_nearest_neighbor": _raw("ResizeNearestNeighbor"),
    }.items()
}
