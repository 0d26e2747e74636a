"""`tf.keras.datasets.boston_housing`: prices of houses by 13 features."""

from __future__ import annotations

from .cached import Parts, cached, shuffled_parts
from .pickled import read_npz

__all__ = ["load_data"]


def load_data(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> Parts:
    """`(x_train, y_train), (x_test, y_test)`: features, and prices in thousands of dollars."""
    x, y = read_npz(cached(path, "boston_housing.npz"), "x", "y")
    return shuffled_parts(x, y, test_split, seed)
