"""Batches of the CIFAR datasets."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from ...errors import fail
from ..utils.files import get_file
from .pickled import read_pickle

__all__ = ["folder_of", "read_batch"]


def folder_of(archive: str, target: str, inner: str) -> pathlib.Path:
    """Where the batches lie; the archive is unpacked if it has to be."""
    origin = f"https://www.cs.toronto.edu/~kriz/{archive}"
    root = pathlib.Path(get_file(target, origin=origin, extract=True))
    for folder in (root / inner, root):
        if folder.is_dir() and any(folder.iterdir()):
            return folder
    fail("E1104", "a folder of the cache has no batches in it", str(root))


def read_batch(path: pathlib.Path, labels_name: str = "labels") -> tuple[Any, Any]:
    """Images with their channels last, and a column of labels."""
    if not path.is_file():
        fail("E1104", f"the file `{path.name}` is wanted and is not there", str(path))
    held = read_pickle(path)
    images = held.get(b"data") if isinstance(held, dict) else None
    labels = held.get(labels_name.encode()) if isinstance(held, dict) else None
    if not isinstance(images, np.ndarray) or not isinstance(labels, list):
        fail("E1104", f"a batch of images has no `data` or no `{labels_name}`", str(path))
    if images.ndim != 2 or images.shape[1] != 3072 or len(labels) != len(images):
        fail(
            "E1104",
            f"a batch has images of the shape {images.shape} and {len(labels)} labels",
            str(path),
        )
    pixels = images.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return pixels, np.array(labels, dtype=np.uint8).reshape(-1, 1)
