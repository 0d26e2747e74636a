"""`tf.keras.datasets`: well-known datasets, read from the files that Keras keeps in its cache."""

from __future__ import annotations

from ..._names import boundary as _boundary
from ..._names import namespace as _namespace
from . import (
    boston_housing,
    california_housing,
    cifar10,
    cifar100,
    fashion_mnist,
    imdb,
    mnist,
    reuters,
)

__all__ = [
    "boston_housing",
    "california_housing",
    "cifar10",
    "cifar100",
    "fashion_mnist",
    "imdb",
    "mnist",
    "reuters",
]

_namespace.module("keras.datasets")
_boundary.close("keras.datasets")
