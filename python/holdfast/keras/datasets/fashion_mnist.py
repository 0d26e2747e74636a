"""`tf.keras.datasets.fashion_mnist`: clothes, 28 by 28 grey pixels."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import numpy as np

from ...errors import fail
from .cached import Parts, cached

__all__ = ["load_data"]


def _bytes_of(path: str, header: int) -> Any:
    try:
        with gzip.open(path, "rb") as file:
            data = file.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        fail("E1104", f"a file is no packed file of images: {error}", path)
    if len(data) < header:
        fail("E1104", f"a file is too short: it has {len(data)} bytes", path)
    return np.frombuffer(data, np.uint8, offset=header)


def _part(name: str) -> tuple[Any, Any]:
    folder = "datasets/fashion-mnist"
    labels_file, images_file = f"{name}-labels-idx1-ubyte.gz", f"{name}-images-idx3-ubyte.gz"
    labels = _bytes_of(cached(labels_file, labels_file, folder), 8)
    path = cached(images_file, images_file, folder)
    pixels = _bytes_of(path, 16)
    if pixels.size != labels.size * 28 * 28:
        fail(
            "E1104",
            f"a file has {pixels.size} pixels, expected {labels.size} images of 28x28",
            path,
        )
    return pixels.reshape(labels.size, 28, 28), labels


def load_data() -> Parts:
    """`(x_train, y_train), (x_test, y_test)`: 60,000 and 10,000 images and their classes."""
    return _part("train"), _part("t10k")
