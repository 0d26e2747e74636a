"""Operators of the user's own classes: Python calls their methods, and no hook stands between.

`total + x`, `-total` and `total += x` run `__add__`, `__neg__` and `__iadd__` as they are written,
so what these read and store would be lost. Each class that a trace meets gets converted code for
them, as long as the trace is made.
"""

from __future__ import annotations

import types
from typing import Any

from .._messages.user_code import is_user_class, is_user_code
from .._tracing.substituted_code import own_code, substitutions
from .conversion import converted_form, is_plain

__all__ = ["convert_operators"]

_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow")
_BITS = ("lshift", "rshift", "and", "or", "xor")
_OTHERS = ("neg", "pos", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge", "round", "reversed")
# Methods that a hook calls are converted there.
_METHODS = (
    *(f"__{kind}{name}__" for name in (*_BINARY, *_BITS) for kind in ("", "r", "i")),
    *(f"__{name}__" for name in _OTHERS),
)


def convert_operators(kind: type[Any]) -> None:
    """Gives the operators of a class converted code, for the trace that is being made."""
    places = substitutions()
    if places is None or not places.meets(kind):
        return
    for owner in kind.__mro__:
        if not is_user_class(owner):
            continue
        for name in _METHODS:
            method = owner.__dict__.get(name)
            if isinstance(method, types.FunctionType) and not is_plain(method):
                code = own_code(method)
                form = converted_form(code, method.__globals__) if is_user_code(code) else None
                if form is not None and form.code.co_freevars == code.co_freevars:
                    places.substitute(method, code, form.code)
