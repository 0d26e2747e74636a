"""`tf.data`: pipelines that feed models. The stages are C++, and so is what runs them.

Functions given to `map` and its kin are traced once, and run without Python. `flat_map` and
`interleave` call theirs with values, once for each element: what they give is a dataset. So is a
function called that takes datasets, the windows of another one.
"""

from __future__ import annotations

import atexit as _atexit

from .. import _holdfast
from .._names import boundary as _boundary
from .._names import namespace as _namespace
from . import experimental
from .dataset import Dataset
from .files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from .iterator import Iterator, NumpyIterator
from .options import Options, ThreadingOptions
from .spec import DatasetSpec, IteratorSpec
from .structure import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "IteratorSpec",
    "NumpyIterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]

# Threads of pipelines may run Python code: they end while there is an interpreter.
_atexit.register(_holdfast.data_stop_workers)
for _part in ("", ".experimental"):
    _namespace.module("data" + _part)
_boundary.close("data")
