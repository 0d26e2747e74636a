"""`tf.keras.datasets.mnist`: digits, 28 by 28 grey pixels."""

from __future__ import annotations

from .cached import Parts, cached
from .pickled import read_npz

__all__ = ["load_data"]


def load_data(path: str = "mnist.npz") -> Parts:
    """`(x_train, y_train), (x_test, y_test)`: 60,000 and 10,000 images and their digits."""
    file = cached(path, "mnist.npz")
    x, y, x_test, y_test = read_npz(file, "x_train", "y_train", "x_test", "y_test")
    return (x, y), (x_test, y_test)
