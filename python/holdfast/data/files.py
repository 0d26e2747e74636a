"""Datasets of what files hold: `TFRecordDataset`, `TextLineDataset`, `FixedLengthRecordDataset`."""

from __future__ import annotations

import os
import sys
from typing import Any, ClassVar

from .. import _holdfast
from .._tensors.dtypes import string
from .._tensors.shape import TensorSpec
from .._tensors.symbols import is_symbol
from ..errors import fail
from .dataset import Dataset
from .probing import is_probing, number
from .structure import whole_number

__all__ = [
    "FixedLengthRecordDataset",
    "TFRecordDataset",
    "TextLineDataset",
    "compression_text",
    "names_of",
    "parallel_reads",
    "size_or",
]


class _FilesDataset(Dataset):
    """One that is made by calling its class with names of files."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass  # `__new__` made it


class _SeparatedDataset(_FilesDataset):
    """One whose files say themselves where an element ends."""

    _FUNCTION: ClassVar[str]
    _MAKE: ClassVar[Any]

    def __new__(
        cls,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> Any:
        return _made(
            cls,
            cls._FUNCTION,
            filenames,
            cls._MAKE,
            compression_text(compression_type),
            size_or(buffer_size, "`buffer_size`", 0),
            parallel_reads(num_parallel_reads),
        )


class TFRecordDataset(_SeparatedDataset):
    """The records of files, as bytes. `num_parallel_reads` files are read in turn."""

    _FUNCTION = "TFRecordDataset"
    _MAKE = staticmethod(_holdfast.data_records)


class TextLineDataset(_SeparatedDataset):
    """The lines of files, without what ends them."""

    _FUNCTION = "TextLineDataset"
    _MAKE = staticmethod(_holdfast.data_lines)


class FixedLengthRecordDataset(_FilesDataset):
    """Pieces of `record_bytes` bytes of files, which may have other bytes at both ends."""

    def __new__(
        cls,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> Any:
        return _made(
            cls,
            "FixedLengthRecordDataset",
            filenames,
            _holdfast.data_pieces,
            whole_number(number(record_bytes), "`record_bytes`"),
            size_or(header_bytes, "`header_bytes`", 0),
            size_or(footer_bytes, "`footer_bytes`", 0),
            compression_text(compression_type),
            size_or(buffer_size, "`buffer_size`", 0),
            parallel_reads(num_parallel_reads),
        )


def _made(cls: type, function: str, filenames: Any, make: Any, *arguments: Any) -> Any:
    names = names_of(filenames, function)
    found = (
        _holdfast.data_promised(TensorSpec((), string))
        if names is None
        else make(names, *arguments)
    )
    found.__class__ = cls  # C++ makes a plain dataset: Python tells by the class what it is of
    return found


def names_of(given: Any, function: str) -> Dataset | None:
    """A dataset of names; None where nothing is known but that there will be names."""
    if isinstance(given, Dataset):
        return given
    if is_probing() and is_symbol(given):
        return None
    plain = given
    if isinstance(given, os.PathLike):
        plain = os.fspath(given)
    elif isinstance(given, (list, tuple)):
        plain = [os.fspath(each) if isinstance(each, os.PathLike) else each for each in given]
    names = _holdfast.convert(plain, string if isinstance(plain, list) and not plain else None)
    if names.dtype is not string:
        fail(
            "E1104",
            f"`filenames` of `{function}` is {names.dtype.name}, expected names of files",
            fix="give a name, a list of names or a dataset of names",
        )
    if names.shape.rank != 1:
        tf: Any = sys.modules["holdfast"]
        names = tf.reshape(names, [-1])
    return Dataset.from_tensor_slices(names)


def _text(value: Any) -> Any:
    if isinstance(value, _holdfast.Tensor) and value.dtype is string and not is_symbol(value):
        value = value.numpy()
    return value.decode() if isinstance(value, bytes) else value


def compression_text(value: Any) -> str:
    """What C++ calls a compression: "" for none."""
    found = "" if value is None else _text(value)
    if not isinstance(found, str):
        fail("E1104", f"`compression_type` is {value!r}, expected a text")
    return "" if found == "NONE" else found


def size_or(value: Any, argument: str, default: int) -> int:
    """A number of bytes, or the default."""
    return default if value is None else whole_number(number(value), argument)


def parallel_reads(value: Any) -> int | None:
    """Of how many files records are taken in turn."""
    return None if value is None else whole_number(number(value), "`num_parallel_reads`")
