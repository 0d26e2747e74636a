"""What the library offers, written from its own records: JSON, Markdown, stubs. And `doctor`."""

from __future__ import annotations

import ast
import inspect
import json
import keyword
import os
import pathlib
import platform
import sys
import types
from typing import Any

import numpy as np

from .. import _holdfast
from .._tensors import registry
from .._tensors.dtypes import as_dtype

__all__ = ["doctor", "json_text", "markdown", "python_signature", "write_stubs"]

# What a parameter of each kind takes, in the words of type checkers.
_KINDS = {
    "tensor": "TensorLike",
    "tensor?": "TensorLike | None",
    "tensors": "Sequence[TensorLike]",
    "sizes": "Sizes",
    "axes": "Sizes | None",
    "bool": "bool",
    "int": "int",
    "int?": "int | None",
    "float": "float",
    "float?": "float | None",
    "string": "str",
    "dtype": "DTypeLike",
    "dtype?": "DTypeLike | None",
    "shape": "ShapeLike",
    "ints": "int | Sequence[int]",
    "ints?": "int | Sequence[int] | None",
    "floats": "Sequence[float]",
    "strings": "str | Sequence[str]",
    "string?": "str | None",
    "any": "Any",
    "padding": "str | Sequence[Sequence[int]]",
}
_RESULTS = {"tensor": "Tensor", "list": "list[Tensor]", "nothing": "None"}


def records() -> list[dict[str, Any]]:
    """The record of every function, in the order of their first path."""
    found = [f.record for f in registry.FUNCTIONS]
    return sorted(found, key=lambda record: record["python"] or [record["name"]])


def json_text() -> str:
    """All functions and ops as JSON."""
    ops = [_holdfast.raw_op_record(name) for name in sorted(registry.RAW_OPS)]
    said = {"version": _holdfast.VERSION, "functions": records(), "raw_ops": ops}
    return json.dumps(said, indent=1)


def signature(record: dict[str, Any], typed: bool = False) -> str:
    """The parameters of a function, as Python would write them."""
    parts = []
    params = record["params"]
    # One that may be left out, but stands before one that may not, is written without its default.
    last_required = max((i for i, p in enumerate(params) if p["required"]), default=-1)
    for i, p in enumerate(params):
        name = p["name"] + "_" * keyword.iskeyword(p["name"])
        kind = f": {_KINDS[p['kind']]}" if typed else ""
        default = " = ..." if typed else f"={p['default']}"
        parts.append(name + kind + (default if i > last_required else ""))
    parts.append("name: str | None = ..." if typed else "name=None")
    return ", ".join(parts)


def python_signature(record: dict[str, Any]) -> inspect.Signature:
    """The same for `inspect.signature`."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    params = record["params"]
    last_required = max((i for i, p in enumerate(params) if p["required"]), default=-1)
    parts = []
    for i, p in enumerate(params):
        name = p["name"] + "_" * keyword.iskeyword(p["name"])
        default = _default(p) if i > last_required else inspect.Parameter.empty
        parts.append(inspect.Parameter(name, kind, default=default, annotation=_KINDS[p["kind"]]))
    parts.append(inspect.Parameter("name", kind, default=None, annotation="str | None"))
    return inspect.Signature(parts, return_annotation=_result(record))


def _default(param: dict[str, Any]) -> Any:
    if param["kind"] == "dtype":
        return as_dtype(param["default"])
    return ast.literal_eval(param["default"])


def _result(record: dict[str, Any]) -> str:
    if record["result"] == "tuple":
        count = len(record["result_names"])
        return f"tuple[{', '.join(['Tensor'] * count)}]" if count else "tuple[Tensor, ...]"
    if record["result"] == "list" and record["result_names"]:
        rest = ["Tensor"] * (len(record["result_names"]) - 1)
        return f"tuple[{', '.join([_RESULTS['list'], *rest])}]"
    return _RESULTS[record["result"]]


def markdown() -> str:
    """A reference page of all functions."""
    lines = ["# Functions", ""]
    for record in records():
        if record["python"]:
            first, *others = record["python"]
            call = f"    tf.{first}({signature(record)})"
            lines += [f"## tf.{first}", "", call, "", record["doc"], ""]
            if others:
                lines += ["Also " + ", ".join(f"`tf.{path}`" for path in others) + ".", ""]
    return "\n".join(lines)


def write_stubs(folder: str) -> None:
    """Writes a .pyi file for each namespace that comes from the registry."""
    spaces: dict[str, dict[str, dict[str, Any]]] = {}
    for record in records():
        for path in record["python"]:
            space, _, leaf = path.rpartition(".")
            spaces.setdefault(space, {})[leaf] = record
    root = pathlib.Path(folder) / "holdfast"
    inner = {space.partition(".")[0] for space in spaces if "." in space}
    for space, functions in spaces.items():
        parts = space.split(".") if space else ["_functions"]
        file = root.joinpath(*parts)
        file = file / "__init__.pyi" if space in inner else file.with_suffix(".pyi")
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            "from collections.abc import Sequence",
            "from typing import Any",
            "from holdfast._types import DTypeLike, ShapeLike, Sizes, Tensor, TensorLike",
            "",
        ]
        for leaf, record in sorted(functions.items()):
            if not keyword.iskeyword(leaf):
                lines.append(f"def {leaf}({signature(record, typed=True)}) -> {_result(record)}:")
                lines.append(f"    {json.dumps(record['doc'])}")
                lines.append("")
        file.write_text("\n".join(lines), encoding="utf-8")


def doctor() -> str:
    """What this installation is and sees, a line each."""
    library = sys.modules[_holdfast.__name__]
    lines = [
        f"holdfast     {_holdfast.VERSION}",
        f"python       {platform.python_version()} ({sys.executable})",
        f"numpy        {np.__version__}",
        f"ml_dtypes    {_version('ml_dtypes')}",
        f"extension    {_file(library)}",
        f"instructions {_holdfast.instruction_set()}",
        f"threads      {_holdfast.num_threads()} of {os.cpu_count()} cores",
        f"functions    {len(registry.FUNCTIONS)}, raw ops {len(registry.RAW_OPS)}",
    ]
    for d in _holdfast.devices():
        lines.append(f"device       {d['kind']}:{d['index']}  {d['description']}")
    return "\n".join(lines) + "\n"


def _version(name: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed (bfloat16 has no NumPy type without it)"


def _file(module: types.ModuleType) -> str:
    return str(getattr(module, "__file__", None) or "built in")
