"""What ops of Keras take: tensors and what becomes one, in the dtype that they have in common."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ... import _holdfast
from ..._tensors.dtypes import as_dtype
from ...errors import fail
from ..config import floatx

__all__ = [
    "as_float",
    "axes_of",
    "need_dense",
    "promoted",
    "reshaped",
    "result_type",
    "rounded_axis",
    "sizes_of",
    "tensor",
    "tf",
]

# The package itself: ops here are said with its functions. This module is loaded after it.
tf: Any = sys.modules["holdfast"]

_WEAK = {int: "int", float: "float", complex: "complex"}
_NARROW = {"float16", "bfloat16"}


def _has_fractions(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(map(_has_fractions, x))
    return isinstance(x, (float, np.floating))


def tensor(x: Any, dtype: Any = None) -> Any:
    """`x` as a tensor; numbers of Python's are `floatx` or int32."""
    if isinstance(x, _holdfast.Tensor):
        return x if dtype is None else tf.cast(x, dtype)
    if dtype is None and isinstance(x, float):
        dtype = floatx()
    if dtype is not None and as_dtype(dtype).is_bool:
        return tf.cast(tf.convert_to_tensor(x), "bool")  # numbers are true where they are not 0
    if dtype is not None and as_dtype(dtype).is_integer and _has_fractions(x):
        return tf.cast(tf.convert_to_tensor(x), dtype)  # they are cut off, as `cast` does
    return tf.convert_to_tensor(x, dtype=dtype)


def _kind(x: Any) -> str:
    if type(x) in _WEAK:
        return _WEAK[type(x)]
    if isinstance(x, bool):
        return "bool"
    found = getattr(x, "dtype", None)
    return str(as_dtype(found if found is not None else tensor(x).dtype).name)


def _integers(kinds: set[str]) -> str:
    bits = {
        sign: max((int(k.removeprefix(sign)) for k in kinds if k.startswith(sign)), default=0)
        for sign in ("uint", "int")
    }
    if not bits["uint"]:
        return f"int{bits['int']}"
    if not bits["int"]:
        return f"uint{bits['uint']}"
    wide = max(bits["int"], 2 * bits["uint"])
    return f"int{wide}" if wide <= 64 else floatx()


def result_type(*dtypes: Any) -> str:
    """The dtype that values of these have in common; `int` and `float` are numbers of Python's."""
    named = (_WEAK.get(d, d) if isinstance(d, type) else d for d in dtypes)
    weak = set(_WEAK.values())
    kinds = {d if isinstance(d, str) and d in weak else str(as_dtype(d).name) for d in named}
    if not kinds:
        return floatx()
    if any(k.startswith("complex") for k in kinds):
        return "complex128" if kinds & {"complex128", "float64"} else "complex64"
    floats = {k for k in kinds if k.startswith(("float", "bfloat")) and k != "float"}
    if floats:
        if floats >= _NARROW:
            floats.add("float32")
        return max(floats, key=lambda k: (k not in _NARROW, k))
    if "float" in kinds:
        return floatx()
    whole = {k for k in kinds if k.startswith(("int", "uint")) and k != "int"}
    if whole:
        return _integers(whole)
    if "int" in kinds:
        return "int32"
    if kinds == {"bool"} or kinds == {"string"}:
        return kinds.pop()
    return fail("E1101", f"values of the dtypes {', '.join(sorted(kinds))} have none in common")


def promoted(*values: Any) -> list[Any]:
    """Tensors of all values, in the dtype that they have in common."""
    dtype = result_type(*map(_kind, values))
    return [tensor(v, dtype) for v in values]


def as_float(x: Any) -> Any:
    """A tensor of floats: integers and truths become `floatx`."""
    x = tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else tf.cast(x, floatx())


def axes_of(axis: Any) -> Any:
    """An axis, several, or None for all, as our functions take them."""
    return list(axis) if isinstance(axis, (list, tuple, np.ndarray)) else axis


def rank_of(x: Any, op: str) -> int:
    """How many axes a tensor has, which has to be known."""
    rank = x.shape.rank
    if rank is None:
        fail("E1102", f"`{op}` needs to know how many axes its tensor has")
    return int(rank)


def sizes_of(x: Any) -> list[Any]:
    """The sizes of all axes: numbers where they are known, else scalars that tell them later."""
    later = tf.shape(x)
    return [later[i] if size is None else size for i, size in enumerate(x.shape)]


def reshaped(x: Any, sizes: list[Any]) -> Any:
    """In another shape; a single size that is not known yet is what the others leave."""
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) == len(sizes) - 1 and 0 not in known:
        sizes = [size if isinstance(size, int) else -1 for size in sizes]
    return tf.reshape(x, sizes)


def rounded_axis(axis: int, rank: int, op: str) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        fail("E1103", f"`axis` of `{op}` is {axis}, and the tensor has {rank} axes")
    return axis % rank


def need_dense(sparse: Any, op: str) -> None:
    """Refuses to make sparse tensors."""
    if sparse:
        from ...errors import unsupported

        unsupported(f"`{op}` with `sparse=True` is not supported", "tensors are dense")
