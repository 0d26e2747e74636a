"""`tf.keras.ops`: Keras' names and manners over our functions.

Numbers and arrays are taken where tensors are; dtypes that differ meet in a common one. All of it
works on values, in traces, and on symbols of models (`tf.keras.Input`). Names of Keras that are
missing raise E1105.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._names import boundary as _boundary
from ..._names import namespace as _namespace
from ..._names.tensorflow import namespaces as _namespaces
from . import (
    core,
    elementwise,
    linalg,
    making,
    nn,
    ordering,
    rearranging,
    reductions,
    shapes,
    spectra,
    transforms,
    windows,
)
from . import image as image
from . import numpy as numpy

_sources = (
    *(core, elementwise, linalg, making, nn, ordering, rearranging, reductions, shapes),
    *(spectra, transforms, windows),
)
_known: dict[str, object] = {}
for _name in _namespaces()["keras.ops"]:
    for _source in _sources:
        if _name in vars(_source):
            _known[_name] = vars(_source)[_name]
globals().update(_known)

if TYPE_CHECKING:  # the names come from the modules above

    def __getattr__(name: str) -> Any: ...


__all__ = sorted({*_known, "image", "linalg", "nn", "numpy"})  # noqa: PLE0605

for _part in ("", ".image", ".linalg", ".nn", ".numpy"):
    _namespace.module("keras.ops" + _part)
_boundary.close("keras.ops")
