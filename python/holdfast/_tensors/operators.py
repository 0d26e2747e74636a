"""Operators for things that stand for a tensor, such as a Variable: all go to the tensor's own."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
_COMPARE = ("lt", "le", "gt", "ge")
_UNARY = ("neg", "pos", "abs", "invert")


def _binary(name: str, swapped: bool) -> Callable[[Any, Any], Any]:
    run: Callable[[Any, Any], Any] = getattr(operator, f"__{name}__")
    if swapped:
        return lambda self, other: run(other, self._as_operand())
    return lambda self, other: run(self._as_operand(), other)


def _unary(name: str) -> Callable[[Any], Any]:
    run: Callable[[Any], Any] = getattr(operator, f"__{name}__")
    return lambda self: run(self._as_operand())


def overload(cls: type[Any]) -> type[Any]:
    """Gives `cls`, whose `_as_operand()` is a tensor, all operators of tensors."""
    methods: dict[str, Callable[..., Any]] = {}
    for name in _BINARY:
        methods[f"__{name}__"] = _binary(name, swapped=False)
        methods[f"__r{name}__"] = _binary(name, swapped=True)
    for name in _COMPARE:
        methods[f"__{name}__"] = _binary(name, swapped=False)
    for name in _UNARY:
        methods[f"__{name}__"] = _unary(name)
    for name, method in methods.items():
        method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)
    return cls
