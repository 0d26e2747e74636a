"""`tf.keras.datasets.cifar10`: ten kinds of things, 32 by 32 pixels in colour."""

from __future__ import annotations

import numpy as np

from .cached import Parts
from .cifar_batch import folder_of, read_batch

__all__ = ["load_data"]


def load_data() -> Parts:
    """`(x_train, y_train), (x_test, y_test)`: 50,000 and 10,000 images and their classes."""
    folder = folder_of(
        "cifar-10-python.tar.gz", "cifar-10-batches-py-target", "cifar-10-batches-py"
    )
    parts = [read_batch(folder / f"data_batch_{i}") for i in range(1, 6)]
    x, y = (np.concatenate(side) for side in zip(*parts, strict=True))
    return (x, y), read_batch(folder / "test_batch")
