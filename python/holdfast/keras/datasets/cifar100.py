"""`tf.keras.datasets.cifar100`: a hundred kinds of things, 32 by 32 pixels in colour."""

from __future__ import annotations

from ...errors import fail
from .cached import Parts
from .cifar_batch import folder_of, read_batch

__all__ = ["load_data"]


def load_data(label_mode: str = "fine") -> Parts:
    """`(x_train, y_train), (x_test, y_test)`, with 100 "fine" classes or 20 "coarse" ones."""
    if label_mode not in {"fine", "coarse"}:
        fail("E1104", f'`label_mode` is {label_mode!r}, expected "fine" or "coarse"')
    folder = folder_of("cifar-100-python.tar.gz", "cifar-100-python-target", "cifar-100-python")
    labels = f"{label_mode}_labels"
    return read_batch(folder / "train", labels), read_batch(folder / "test", labels)
