"""`tf.keras.datasets.california_housing`: prices of houses by 8 features."""

from __future__ import annotations

from ...errors import fail
from .cached import Parts, cached, shuffled_parts
from .pickled import read_npz

__all__ = ["load_data"]


def load_data(
    version: str = "large",
    path: str = "california_housing.npz",
    test_split: float = 0.2,
    seed: int = 113,
) -> Parts:
    """`(x_train, y_train), (x_test, y_test)`: all 20,640 examples, or 600 ("small")."""
    if version not in {"large", "small"}:
        fail("E1104", f'`version` is {version!r}, expected "large" or "small"')
    x, y = read_npz(cached(path, "california_housing.npz"), "x", "y")
    if version == "small":
        x, y = x[:600], y[:600]
    return shuffled_parts(x, y, test_split, seed)
