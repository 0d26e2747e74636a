"""`tf.keras.ops.numpy`: the names that NumPy has, too."""

from __future__ import annotations

from ..._names.tensorflow import namespaces as _namespaces
from . import elementwise, linalg, making, ordering, reductions, shapes, transforms
from .core import ndim, size

_sources = (elementwise, linalg, making, ordering, reductions, shapes, transforms)
_known: dict[str, object] = {"ndim": ndim, "size": size}


for _name in _namespaces()["keras.ops.numpy"]:
    for _source in _sources:
        if _name in vars(_source):
            _known[_name] = vars(_source)[_name]
globals().update(_known)

__all__ = sorted(_known)  # noqa: PLE0605
