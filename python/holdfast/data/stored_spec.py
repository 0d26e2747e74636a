"""What a folder of `Dataset.save` says of elements that C++ does not know, as a text."""

from __future__ import annotations

import collections
import json
from typing import Any

from .._composites.ragged.spec import RaggedTensorSpec
from .._composites.sparse.spec import SparseTensorSpec
from .._tensors.dtypes import as_dtype
from .._tensors.shape import TensorSpec
from ..errors import fail, unsupported

__all__ = ["read_spec", "written_spec"]


def written_spec(spec: Any) -> str:
    """The specs of elements as a text."""
    return json.dumps(_written(spec))


def read_spec(text: str, folder: str) -> Any:
    """What that gave; None where it is empty."""
    if not text:
        return None
    try:
        return _read(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        fail("E1302", f"what the elements in a folder are: {error}", f"the folder is {folder}")


def _sizes(spec: Any) -> list[int | None] | None:
    found: list[int | None] | None = None if spec.shape.rank is None else spec.shape.as_list()
    return found


def _written(spec: Any) -> Any:
    if isinstance(spec, tuple):
        items = [_written(each) for each in spec]
        if hasattr(spec, "_fields"):
            return {"named": type(spec).__name__, "fields": list(spec._fields), "items": items}
        return {"tuple": items}
    if isinstance(spec, dict):
        return {"dict": [[key, _written(each)] for key, each in spec.items()]}
    if isinstance(spec, RaggedTensorSpec):
        more = {"ragged_rank": spec.ragged_rank, "splits": spec.row_splits_dtype.name}
        return {"ragged": spec.dtype.name, "shape": _sizes(spec), **more}
    if isinstance(spec, SparseTensorSpec):
        return {"sparse": spec.dtype.name, "shape": _sizes(spec)}
    if isinstance(spec, TensorSpec):
        return {"tensor": spec.dtype.name, "shape": _sizes(spec)}
    if spec is None:
        return None
    unsupported(f"`save` of elements with {spec!r} is not supported", "files hold tensors")


def _read(given: Any) -> Any:
    if given is None:
        return None
    if "tuple" in given:
        return tuple(map(_read, given["tuple"]))
    if "named" in given:
        kind: Any = collections.namedtuple(given["named"], given["fields"])  # type: ignore[misc]
        return kind(*map(_read, given["items"]))
    if "dict" in given:
        return {key: _read(each) for key, each in given["dict"]}
    if "ragged" in given:
        splits = as_dtype(given["splits"])
        dtype = as_dtype(given["ragged"])
        return RaggedTensorSpec(given["shape"], dtype, given["ragged_rank"], splits)
    if "sparse" in given:
        return SparseTensorSpec(given["shape"], as_dtype(given["sparse"]))
    return TensorSpec(given["shape"], as_dtype(given["tensor"]))
