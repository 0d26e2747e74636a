"""The words that samples are written in, and the calls they stand for.

A sample is an argument list, such as `uniform(3, 4), axis=1`. It is evaluated once for the call, with
tensors, and gives the same values to the reference, as NumPy arrays.
"""

import ast
import dataclasses
import math
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

import holdfast as tf
from holdfast._tensors import registry

FUNCTIONS = sorted(registry.FUNCTIONS, key=lambda f: f.record["name"])
RECORDS = {f.record["name"]: f.record for f in FUNCTIONS}


class Made(np.ndarray):
    """An array that a generator made: it becomes a tensor, a plain list does not."""


def _made(values: Any) -> Made:
    return np.asarray(values).view(Made)


class Words:
    """The generators, all drawing from one seed; `dtypes` replaces their default dtypes.

    `resized` may replace the shapes that a sample asks for.
    """

    def __init__(
        self,
        seed: int,
        dtypes: dict[str, str] | None = None,
        resized: Callable[[tuple[int, ...]], tuple[int, ...]] | None = None,
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.dtypes = {"float": "float32", "int": "int32", "complex": "complex64"} | (dtypes or {})
        self.resized = resized or (lambda shape: shape)

    def _cast(self, values: np.ndarray, dtype: str | None, kind: str) -> Made:
        wanted = numpy_dtype(dtype or self.dtypes[kind])
        if kind == "float" and wanted.kind == "c":
            values = values + 1j * self.rng.uniform(-0.5, 0.5, values.shape)
        return _made(values.astype(wanted))

    def uniform(
        self, *shape: int, low: float = -1, high: float = 1, dtype: str | None = None
    ) -> Made:
        return self._cast(self.rng.uniform(low, high, self.resized(shape)), dtype, "float")

    def positive(
        self, *shape: int, low: float = 0.5, high: float = 2, dtype: str | None = None
    ) -> Made:
        return self.uniform(*shape, low=low, high=high, dtype=dtype)

    def ints(self, *shape: int, low: int = -5, high: int = 5, dtype: str | None = None) -> Made:
        if numpy_dtype(dtype or self.dtypes["int"]).kind == "u":
            low = max(low, 0)
        return self._cast(self.rng.integers(low, high, self.resized(shape)), dtype, "int")

    def bools(self, *shape: int) -> Made:
        return _made(self.rng.integers(0, 2, self.resized(shape)) == 1)

    def strings(self, *shape: int) -> Made:
        words = np.array([b"", b"a", b"tensor", b"holdfast", "größe".encode()], dtype=object)
        drawn = self.rng.integers(0, len(words), self.resized(shape))
        return _made(np.asarray(words[drawn]).astype(object))

    def complexes(self, *shape: int, dtype: str | None = None) -> Made:
        parts = self.rng.uniform(-1, 1, (2, *self.resized(shape)))
        return self._cast(parts[0] + 1j * parts[1], dtype, "complex")

    def permutation(self, n: int, dtype: str | None = None) -> Made:
        return self._cast(self.rng.permutation(*self.resized((n,))), dtype, "int")

    def space(self) -> dict[str, Any]:
        names = ["uniform", "positive", "ints", "bools", "strings", "complexes", "permutation"]
        dtypes = {
            dtype.name: dtype for dtype in tf._dtypes.ALL[2:-1]
        }  # all but bool, which is Python's
        generators = {name: getattr(self, name) for name in names}
        return dtypes | generators | {"tf": tf, "np": np, "math": math}


def numpy_dtype(dtype: Any) -> np.dtype:
    if isinstance(dtype, (np.dtype, type)):
        return np.dtype(dtype)
    return np.dtype(tf.as_dtype(dtype).as_numpy_dtype)


@dataclasses.dataclass
class Call:
    """One sample of one function, with its values."""

    function: Any
    args: list[Any]
    kwargs: dict[str, Any]

    @property
    def record(self) -> dict[str, Any]:
        return self.function.record

    def run(self, replace: dict[int, Any] | None = None) -> Any:
        """Calls the function; `replace` gives tensors for the generated arrays, by their number."""
        count = iter(range(10**6))

        def convert(value: Any) -> Any:
            if isinstance(value, Made):
                i = next(count)
                if replace is not None and i in replace:
                    return replace[i]
                return tf.constant(np.asarray(value))
            if isinstance(value, (list, tuple)):
                return type(value)(convert(part) for part in value)
            return value

        args = [convert(value) for value in self.args]
        return self.function(*args, **{key: convert(value) for key, value in self.kwargs.items()})

    def arrays(self) -> list[np.ndarray]:
        """The generated arrays, in the order of their numbers."""
        found: list[np.ndarray] = []

        def walk(value: Any) -> None:
            if isinstance(value, Made):
                found.append(np.asarray(value))
            elif isinstance(value, (list, tuple)):
                for part in value:
                    walk(part)

        walk(self.args)
        walk(list(self.kwargs.values()))
        return found

    def expected(self) -> Any:
        """What the reference says."""
        names: dict[str, Any] = {}
        for p in self.record["params"]:
            names[p["name"]] = _default(p["default"])
        kinds = {p["name"]: p["kind"] for p in self.record["params"]}
        given = dict(zip(kinds, self.args, strict=False)) | self.kwargs
        names |= {key: _plain(value, kinds.get(key, "")) for key, value in given.items()}
        import scipy
        import scipy.linalg
        import scipy.signal
        import scipy.special

        if self.record["params"] and names.get("limit", 0) is None and "start" in names:
            names["start"], names["limit"] = 0, names["start"]  # range(n) counts from 0
        space = {"np": np, "scipy": scipy, "math": math} | names
        with np.errstate(all="ignore"):
            return eval(self.record["reference"], space)


class Both:
    """A dtype that NumPy takes for one of its own, and that has the attributes of ours."""

    def __init__(self, ours: Any) -> None:
        self.ours, self.dtype = ours, numpy_dtype(ours)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ours if hasattr(self.ours, name) else self.dtype, name)


def _plain(value: Any, kind: str) -> Any:
    """An argument as NumPy would take it."""
    if isinstance(value, Made):
        return np.asarray(value)
    if isinstance(value, tf.DType):
        return Both(value)
    if kind in ("tensor", "tensor?") and value is not None:
        array = np.asarray(value)
        narrow = {"f": "float32", "i": "int32"}.get(array.dtype.kind)
        return array.astype(narrow) if narrow else array
    if kind == "tensors" and isinstance(value, (list, tuple)):
        return [_plain(part, "tensor") for part in value]
    if kind in ("axes", "sizes") and isinstance(value, list):
        return tuple(value) if all(isinstance(part, int) for part in value) else value
    return value


def _default(text: str) -> Any:
    if text in ("inf", "-inf", "nan"):
        return float(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        try:
            return Both(tf.as_dtype(text))
        except TypeError:
            return None


def call(
    function: Any,
    sample: str,
    dtypes: dict[str, str] | None = None,
    resized: Callable[[tuple[int, ...]], tuple[int, ...]] | None = None,
) -> Call:
    """The call that a sample of `function` stands for; the same values every time."""
    seed = zlib.crc32(f"{function.record['name']} {sample}".encode())
    words = Words(seed, dtypes, resized)
    space = words.space() | {"_capture": lambda *args, **kwargs: (args, kwargs)}
    args, kwargs = eval(f"_capture({sample})", space)
    return Call(function, list(args), kwargs)


def cases() -> list[tuple[Any, str]]:
    """Every sample of every function."""
    return [(f, sample) for f in FUNCTIONS for sample in f.record["samples"]]


def case_id(case: tuple[Any, str]) -> str:
    function, sample = case
    return f"{function.record['name']}({sample})"
