"""A reader of pickled data that runs no code.

It builds numbers, texts, bytes, lists, tuples, dicts, sets and arrays, and nothing else: every name
that a file asks for is refused, but for those that NumPy's own arrays are made with.
"""

from __future__ import annotations

import ast
import io
import pathlib
import pickle
import zipfile
from typing import Any

import numpy as np

from ...errors import fail

__all__ = ["read_npz", "read_pickle"]

_LARGEST_HEADER = 10_000


class _Blank:
    """An array that its state is still missing of, as NumPy's pickles begin them."""

    def __init__(self, *_: Any) -> None:
        self.array: Any = None

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, fortran, data = state
        kind = _plain_dtype(dtype)
        if isinstance(data, list):
            if kind != np.dtype(object):
                raise pickle.UnpicklingError("a list of values in an array of plain numbers")
            flat = np.empty(len(data), dtype=object)
            flat[:] = [_finished(one) for one in data]
        else:
            raw = data.encode("latin1") if isinstance(data, str) else data
            flat = np.frombuffer(raw, dtype=kind).copy()
        self.array = flat.reshape(shape, order="F" if fortran else "C")


class _Kind:
    """A dtype: the name it is made with, and the order of its bytes."""

    def __init__(self, name: Any, *_: Any) -> None:
        self.name = name.decode("ascii") if isinstance(name, bytes) else str(name)
        self.order = "="

    def __setstate__(self, state: Any) -> None:
        order = state[1]
        self.order = order.decode("ascii") if isinstance(order, bytes) else order


def _plain_dtype(kind: Any) -> np.dtype[Any]:
    if not isinstance(kind, _Kind):
        raise pickle.UnpicklingError("an array without a dtype")
    found = np.dtype(kind.name)
    if found.kind not in "biufcSUO" or found.names is not None:
        raise pickle.UnpicklingError(f"an array of {kind.name!r}")
    if kind.order in {"|", "="}:
        return found
    return found.newbyteorder("<" if kind.order == "<" else ">")


def _scalar(kind: Any, data: Any = b"") -> Any:
    raw = data.encode("latin1") if isinstance(data, str) else data
    return np.frombuffer(raw, dtype=_plain_dtype(kind))[0].item()


def _blank(*_: Any) -> _Blank:
    return _Blank()


def _encoded(text: str, encoding: str = "latin1") -> bytes:
    """How pickles of the second protocol write bytes."""
    return text.encode("latin1" if encoding in {"latin1", "latin-1"} else "utf-8")


_MULTIARRAY = ("numpy.core.multiarray", "numpy._core.multiarray")
_ALLOWED: dict[tuple[str, str], Any] = {
    **{(module, "_reconstruct"): _blank for module in _MULTIARRAY},
    **{(module, "scalar"): _scalar for module in _MULTIARRAY},
    ("numpy", "ndarray"): _Blank,
    ("numpy", "dtype"): _Kind,
    ("_codecs", "encode"): _encoded,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        allowed = _ALLOWED.get((module_name, global_name))
        if allowed is None:
            raise pickle.UnpicklingError(f"it asks for `{module_name}.{global_name}`")
        return allowed

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it asks for an object outside of the file")


def _finished(value: Any) -> Any:
    """Arrays in the place of what they were read as."""
    if isinstance(value, _Blank):
        return value.array
    if isinstance(value, list):
        return [_finished(one) for one in value]
    if isinstance(value, tuple):
        return tuple(_finished(one) for one in value)
    if isinstance(value, dict):
        return {_finished(key): _finished(one) for key, one in value.items()}
    return value


def _unpickled(data: Any, source: str, encoding: str) -> Any:
    try:
        return _finished(_Reader(data, encoding=encoding).load())
    except (
        pickle.UnpicklingError,
        AttributeError,
        EOFError,
        IndexError,
        KeyError,
        MemoryError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        fail(
            "E1104",
            f"a pickled file can't be read: {error}",
            f"{source} may run any program when it is read; only numbers, texts, bytes, lists, "
            "dicts and arrays are read from such files",
        )


def read_pickle(path: Any, encoding: str = "bytes") -> Any:
    """What a pickled file holds."""
    with pathlib.Path(path).open("rb") as file:
        return _unpickled(file, str(path), encoding)


def _array_of(data: bytes, source: str) -> Any:
    """An array of a `.npy` file. Those of objects hold a pickle, which is read as above."""
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        size = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
        if size > _LARGEST_HEADER:
            raise ValueError(f"its header has {size} bytes")
        header = ast.literal_eval(file.read(size).decode("latin1"))
        objects = header["descr"] == "|O"
    except (EOFError, KeyError, SyntaxError, TypeError, ValueError) as error:
        fail("E1104", f"a file is no array of NumPy's: {error}", source)
    if objects:
        return _unpickled(file, source, "ASCII")
    try:
        return np.load(io.BytesIO(data), allow_pickle=False)
    except (EOFError, ValueError) as error:
        fail("E1104", f"a file is no array of NumPy's: {error}", source)


def read_npz(path: Any, *names: str) -> list[Any]:
    """Arrays of a `.npz` file, by their names."""
    out = []
    try:
        with zipfile.ZipFile(path) as packed:
            held = packed.namelist()
            for name in names:
                if f"{name}.npy" not in held:
                    fail("E1104", f"a file has no array `{name}`", f"{path} has {', '.join(held)}")
                out.append(_array_of(packed.read(f"{name}.npy"), f"`{name}` of {path}"))
    except zipfile.BadZipFile as error:
        fail("E1104", f"a file is no .npz file: {error}", str(path))
    return out
