"""`tf.image.ResizeMethod`: names of the ways in which images are resized."""

from __future__ import annotations

__all__ = ["NAMES", "ResizeMethod"]


class ResizeMethod:
    """The methods of `tf.image.resize`."""

    AREA = "area"
    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    GAUSSIAN = "gaussian"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    MITCHELLCUBIC = "mitchellcubic"
    NEAREST_NEIGHBOR = "nearest"


NAMES = {"image.ResizeMethod": ResizeMethod}
