"""Images between files, Pillow and arrays. Pillow is asked for when it is needed."""

from __future__ import annotations

import importlib
import io
import os
import pathlib
from typing import Any

import numpy as np

from ...errors import fail, unsupported
from ..config import floatx, image_data_format

__all__ = ["array_to_img", "img_to_array", "load_img", "save_img"]

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_COLORS = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}


def _pillow(wanted_by: str) -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError:
        unsupported(
            f"`{wanted_by}` needs Pillow, which is not installed",
            "images are read and written by Pillow",
            fix="run `pip install pillow`",
        )


def _format(data_format: str | None) -> str:
    found = data_format or image_data_format()
    if found not in {"channels_first", "channels_last"}:
        fail(
            "E1104",
            f'`data_format` is {data_format!r}, expected "channels_last" or "channels_first"',
        )
    return found


def array_to_img(
    x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None
) -> Any:
    """An array of one image as an image of Pillow's; `scale` brings it to 0..255."""
    image = _pillow("array_to_img")
    pixels = np.array(x, dtype=np.dtype(dtype or floatx()))
    if pixels.ndim != 3:
        fail("E1102", f"`array_to_img` got an array of the shape {pixels.shape}, expected 3 axes")
    if _format(data_format) == "channels_first":
        pixels = pixels.transpose(1, 2, 0)
    if pixels.shape[2] not in _MODES:
        fail("E1102", f"`array_to_img` got {pixels.shape[2]} channels, expected 1, 3 or 4")
    if scale:
        pixels = pixels - pixels.min()
        most = pixels.max()
        pixels = (pixels / most if most != 0 else pixels) * 255
    if pixels.shape[2] == 1:
        plane = pixels[:, :, 0]
        return image.fromarray(plane.astype("int32" if plane.max() > 255 else "uint8"))
    return image.fromarray(pixels.astype("uint8"))


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> Any:
    """An image of Pillow's as an array with an axis of channels."""
    first = _format(data_format) == "channels_first"
    pixels = np.asarray(img, dtype=np.dtype(dtype or floatx()))
    if pixels.ndim == 2:
        return pixels[None] if first else pixels[:, :, None]
    if pixels.ndim != 3:
        fail("E1102", f"`img_to_array` got an image of the shape {pixels.shape}")
    return pixels.transpose(2, 0, 1) if first else pixels


def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Writes an array of one image to a file, in the format of its ending."""
    if file_format is None and isinstance(path, (str, os.PathLike)):
        file_format = pathlib.Path(path).suffix[1:].lower() or None
    kind = "jpeg" if file_format and file_format.lower() == "jpg" else file_format
    image = array_to_img(x, data_format, scale)
    if kind == "jpeg" and image.mode == "RGBA":
        image = image.convert("RGB")  # JPEG has no transparency
    image.save(path, format=kind, **kwargs)


def load_img(
    path: Any,
    color_mode: str = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
) -> Any:
    """An image of a file as one of Pillow's."""
    pillow = _pillow("load_img")
    if color_mode not in _COLORS:
        fail("E1104", f"`color_mode` is {color_mode!r}, expected one of {', '.join(_COLORS)}")
    data = path.getvalue() if isinstance(path, io.BytesIO) else pathlib.Path(path).read_bytes()
    image = pillow.open(io.BytesIO(data))
    mode = _COLORS[color_mode]
    if image.mode != mode and not (mode == "L" and image.mode in {"I;16", "I"}):
        image = image.convert(mode)
    if target_size is None:
        return image
    wanted = (target_size[1], target_size[0])
    if image.size == wanted:
        return image
    methods = {m.name.lower(): m for m in pillow.Resampling}
    if interpolation not in methods:
        fail("E1104", f"`interpolation` is {interpolation!r}, expected one of {', '.join(methods)}")
    if not keep_aspect_ratio:
        return image.resize(wanted, methods[interpolation])
    # The largest part of the middle that has the wanted form.
    width, height = image.size
    high = min(height, width * wanted[1] // wanted[0])
    wide = min(width, height * wanted[0] // wanted[1])
    left, top = (width - wide) // 2, (height - high) // 2
    return image.resize(wanted, methods[interpolation], (left, top, left + wide, top + high))
