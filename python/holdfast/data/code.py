"""What tells functions from others that do something else, in another process too."""

from __future__ import annotations

import dis
import functools
import hashlib
import types
from typing import Any

import numpy as np

from .. import _holdfast
from .._tensors.symbols import is_symbol
from .._tracing.function import Function
from .holding import global_names

__all__ = ["code_of"]

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))


def code_of(function: Any) -> str:
    """A digest of a function: its code, and the values that it uses.

    Functions of other modules are known by their names, objects by their classes, and datasets not
    at all: who asks knows those. What a function changes itself is its state, and no part of it.
    """
    reading = _Reading()
    reading.value(function)
    return reading.digest.hexdigest()


class _Reading:
    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self._seen: dict[int, int] = {}

    def word(self, *words: object) -> None:
        """Adds words whose ends can be told."""
        for each in words:
            text = each if isinstance(each, bytes) else str(each).encode(errors="surrogatepass")
            self.digest.update(f"{len(text)}:".encode())
            self.digest.update(text)

    def value(self, value: Any) -> None:
        """Adds anything that a function may use."""
        if isinstance(value, _PLAIN):
            self.word(type(value).__name__, repr(value))
        elif id(value) in self._seen:
            self.word("again", self._seen[id(value)])
        else:
            self._seen[id(value)] = len(self._seen)
            self._held(value)

    def _held(self, value: Any) -> None:
        if isinstance(value, _holdfast.Tensor):
            self._array(None if is_symbol(value) else value.numpy())
        elif isinstance(value, (np.ndarray, np.generic)):
            self._array(value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.CodeType):
            self._code(value)
        elif isinstance(value, Function):
            self.value(value.python_function)
        elif isinstance(value, functools.partial):
            self._all("partial", value.func, value.args, value.keywords)
        elif isinstance(value, types.MethodType):
            self._all("method", value.__func__, getattr(value.__self__, "__dict__", None))
        elif isinstance(value, dict):
            self._all("dict", *(part for pair in value.items() for part in pair))
        elif isinstance(value, (list, tuple)):
            self._all("sequence", *value)
        elif isinstance(value, (set, frozenset)):
            self._all("set", *sorted(value, key=repr))
        else:
            named = isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType))
            self.word(type(value).__qualname__, _name(value) if named else "")

    def _all(self, kind: str, *parts: Any) -> None:
        self.word(kind, len(parts))
        for part in parts:
            self.value(part)

    def _array(self, array: Any) -> None:
        if array is None:
            return self.word("symbol")
        found = np.asarray(array)
        self.word("array", found.dtype.str, found.shape)
        self.word(repr(found.tolist()) if found.dtype.hasobject else found.tobytes())

    def _function(self, function: types.FunctionType) -> None:
        code = function.__code__
        self.word("function")
        self.value(code)
        changes = _Changes(code)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                held = cell.cell_contents
            except ValueError:  # nothing is in it yet
                held = None
            self._used(name, held, changes)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._used("default", value, changes)
        if _is_ours(function):
            return  # which holds nothing of the program's
        for name in global_names(code):
            if name in function.__globals__:
                value = function.__globals__[name]
                if _is_code(value) and _module(value) != function.__module__:
                    self.word("global", name, _name(value))
                else:
                    self._used(name, value, changes)

    def _used(self, name: str, value: Any, changes: _Changes) -> None:
        self.word("used", name)
        if name in changes.names or (changes.containers and isinstance(value, _MUTABLE)):
            self.word(type(value).__qualname__)
        else:
            self.value(value)

    def _code(self, code: types.CodeType) -> None:
        self.word("code", code.co_code, code.co_names, code.co_freevars, code.co_argcount)
        self._all("constants", *code.co_consts)


_MUTABLE = (list, dict, set, bytearray, np.ndarray)
_MUTATORS = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem"}
    | {"remove", "setdefault", "update"}
)


class _Changes:
    """What code changes of what it uses: names, and whether any container."""

    def __init__(self, code: types.CodeType) -> None:
        self.names: set[str] = set()
        self.containers = bool(_MUTATORS.intersection(code.co_names))
        for each in dis.get_instructions(code):
            if each.opname in ("STORE_DEREF", "STORE_GLOBAL"):
                self.names.add(each.argval)
            self.containers |= each.opname in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE")
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                inside = _Changes(constant)
                self.names |= inside.names
                self.containers |= inside.containers


def _is_code(value: Any) -> bool:
    return isinstance(value, (types.FunctionType, Function))


def _module(function: Any) -> Any:
    plain = function.python_function if isinstance(function, Function) else function
    return getattr(plain, "__module__", None)


def _name(value: Any) -> str:
    module = getattr(value, "__module__", None) or ""
    return f"{module}.{getattr(value, '__qualname__', getattr(value, '__name__', ''))}"


def _is_ours(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] == __name__.partition(".")[0]
