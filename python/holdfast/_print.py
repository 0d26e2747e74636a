"""`tf.print`: tensors as TensorFlow's string formatting shows them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _tensor
from ._staging import is_staged, stage, with_slots
from ._tensor import Tensor
from ._variable import Variable

__all__ = ["print"]


def _float(value: float, digits: int, exact: type[Any]) -> str:
    """Few digits where they say it exactly, else enough to tell it from its neighbours."""
    short = format(value, f".{digits}g")
    return short if exact(short) == exact(value) else format(value, f".{digits + 3}g")


def _element(value: Any, dtype: str) -> str:
    if dtype == "bool":
        return "1" if value else "0"
    if dtype == "string":
        text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
        return f'"{text}"'
    if dtype in ("float16", "bfloat16", "float32"):
        return _float(float(value), 6, np.float32)
    if dtype == "float64":
        short = format(value, ".15g")
        return short if float(short) == value else format(value, ".17g")
    if dtype.startswith("complex"):
        exact = np.float32 if dtype == "complex64" else np.float64
        return f"({_float(value.real, 6, exact)},{_float(value.imag, 6, exact)})"
    return str(value)


def tensor_text(tensor: Any, summarize: int = 3) -> str:
    """The value in brackets, the middle of a long axis left out."""
    dtype = tensor.dtype.name
    value = _tensor.as_float32(tensor) if not _tensor.has_numpy(tensor.dtype) else tensor.numpy()
    if tensor.ndim == 0:
        return _element(value, dtype)
    return _axis(np.asarray(value), dtype, summarize, 0)


def _axis(value: Any, dtype: str, summarize: int, depth: int) -> str:
    count = len(value)
    short = 0 <= summarize and count > 2 * summarize
    ends = [*range(summarize), *range(count - summarize, count)] if short else list(range(count))
    inner = value.ndim == 1
    parts = [
        _element(value[i], dtype) if inner else _axis(value[i], dtype, summarize, depth + 1)
        for i in ends
    ]
    if short:
        parts.insert(summarize, "...")
    gap = " " if inner else "\n" * (value.ndim - 1) + " " * (depth + 1)
    return "[" + gap.join(parts) + "]"


def _nested(value: Any, summarize: int, top: bool) -> str:
    if isinstance(value, (Tensor, Variable)):
        return tensor_text(value.read() if isinstance(value, Variable) else value, summarize)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = (
            f"{name}={_nested(part, summarize, False)}"
            for name, part in zip(value._fields, value, strict=True)
        )
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, tuple):
        inside = ", ".join(_nested(part, summarize, False) for part in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, list):
        return "[" + ", ".join(_nested(part, summarize, False) for part in value) + "]"
    if isinstance(value, Mapping):
        parts = (
            f"{key!r}: {_nested(value[key], summarize, False)}"
            for key in (sorted(value) if all(isinstance(k, str) for k in value) else value)
        )
        return "{" + ", ".join(parts) + "}"
    return value if top and isinstance(value, str) else repr(value)


_STREAMS = (
    "Supported streams are sys.stdout, sys.stderr. File needs to be in the form of "
    "'file://<filepath>'."
)


def _write(stream: Any, text: str) -> None:
    if isinstance(stream, str):
        if not stream.startswith("file://"):
            raise ValueError(
                f"Unsupported output stream, logging level, or file.{stream}. {_STREAMS}"
            )
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text)
        return
    if not hasattr(stream, "write"):
        raise ValueError(f"Unsupported output stream, logging level, or file.{stream}. {_STREAMS}")
    stream.write(text)
    if hasattr(stream, "flush"):
        stream.flush()


def print(*inputs: Any, **kwargs: Any) -> None:
    """Prints values and tensors, to standard error unless `output_stream` says otherwise.

    `summarize` elements are shown at each end of an axis, all if it is negative. In a traced
    function it prints each time that runs.
    """
    stream = kwargs.pop("output_stream", None)
    name = kwargs.pop("name", None)  # names the op in a graph; an eager call has none
    summarize = kwargs.pop("summarize", 3)
    separator, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    summarize = 3 if summarize is None else int(summarize)
    tensors, fill = with_slots(inputs)

    def run(*values: Any) -> None:
        shown = separator.join(_nested(value, summarize, True) for value in fill(values))
        _write(sys.stderr if stream is None else stream, shown + end)

    if is_staged(tensors):
        stage("PrintV2", name or "print", run, tensors)
    else:
        run(*tensors)
