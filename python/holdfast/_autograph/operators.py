"""Operators of the user's own classes: Python calls their methods, and no hook stands between.

`total + x`, `-total` and `total += x` run `__add__`, `__neg__` and `__iadd__` as they are written,
so what these read and store would be lost. Each class that a trace meets gets converted code for
them, as long as the trace is made.
"""

from __future__ import annotations

import types
from typing import Any

from .._messages.user_code import is_user_class, is_user_code
from .._tracing.substituted_code import Substitutions, own_code, substitutions
from .conversion import converted_form, is_plain
from .generated import noting_code
from .lookups import note_defined

__all__ = ["convert_operators"]

_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow")
_BITS = ("lshift", "rshift", "and", "or", "xor")
_OTHERS = ("neg", "pos", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge", "round", "reversed")
# What functions written in C ask an object for.
_ASKED = ("bool", "len", "hash", "int", "float", "complex", "index", "trunc", "floor", "ceil")
_TEXTS = ("str", "repr", "format", "bytes", "fspath")
_PARTS = ("contains", "iter", "next", "getitem", "missing", "length_hint", "array")
# Methods that a hook calls are converted there.
_METHODS = (
    *(f"__{kind}{name}__" for name in (*_BINARY, *_BITS) for kind in ("", "r", "i")),
    *(f"__{name}__" for name in (*_OTHERS, *_ASKED, *_TEXTS, *_PARTS)),
    "keys",  # with `__getitem__` it makes a mapping
)
_HEAP_TYPE = 1 << 9  # others are written in C


def convert_operators(kind: type[Any]) -> None:
    """Gives the operators of a class converted code, for the trace that is being made."""
    places = substitutions()
    if places is None or not kind.__flags__ & _HEAP_TYPE:
        return
    if places.meets(kind):
        _convert(places, kind)
    for name in _METHODS:
        if isinstance(getattr(kind, name, None), types.FunctionType):
            note_defined(kind, name)


def _convert(places: Substitutions, kind: type[Any]) -> None:
    for owner in kind.__mro__:
        if not is_user_class(owner):
            continue
        for name in _METHODS:
            method = owner.__dict__.get(name)
            if isinstance(method, types.FunctionType) and not is_plain(method):
                code = own_code(method)
                noting = noting_code(owner, method, code)
                if noting is not None:
                    places.substitute(method, code, noting)
                    continue
                form = converted_form(code, method.__globals__) if is_user_code(code) else None
                if form is not None and form.code.co_freevars == code.co_freevars:
                    places.substitute(method, code, form.code)
