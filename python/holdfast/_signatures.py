"""Functions whose TensorFlow signature the registry's generic call cannot say, and why.

An adaptor only moves arguments: what is computed is the registered function. One is made for each
path that the registry has; a path without a registered function gets none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import _registry

_ADAPTORS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {}


def _adapts(*paths: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def note(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[..., Any]:
        for path in paths:
            _ADAPTORS[path] = make
        return make

    return note


def adaptors() -> dict[str, Callable[..., Any]]:
    """The adapted functions by path."""
    made: dict[str, Callable[..., Any]] = {}
    for path, make in _ADAPTORS.items():
        function = _registry.BY_PATH.get(path)
        if function is not None:
            made[path] = functools.update_wrapper(
                make(function), function, assigned=("__doc__", "__name__"), updated=()
            )
    return made


@_adapts("einsum", "linalg.einsum")
def _einsum(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes the operands one by one: `einsum(equation, *inputs)`."""

    def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
        return function(equation, list(inputs), **kwargs)

    return einsum


@_adapts("meshgrid")
def _meshgrid(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes the axes one by one: `meshgrid(*args, indexing="xy")`."""

    def meshgrid(*args: Any, **kwargs: Any) -> Any:
        return function(list(args), **kwargs)

    return meshgrid


@_adapts("linalg.svd")
def _svd(function: Callable[..., Any]) -> Callable[..., Any]:
    """Answers one tensor where only the singular values are asked for, else a tuple of three."""

    def svd(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result[0] if len(result) == 1 else tuple(result)

    return svd


def shards_of(params: Any) -> Any:
    """The shards of a table: of a list or of a partitioned variable its parts, else itself."""
    parts = getattr(params, "_get_variable_list", None)
    if parts is not None:
        return parts()
    return params if isinstance(params, (list, tuple)) else [params]


@_adapts("nn.embedding_lookup")
def _embedding_lookup(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes a table as it is, or a list of shards, which hold runs of ids."""

    def embedding_lookup(
        params: Any, ids: Any, max_norm: float | None = None, name: str | None = None
    ) -> Any:
        return function(shards_of(params), ids, "div", max_norm, name=name)

    return embedding_lookup


@_adapts("nn.fractional_max_pool", "nn.fractional_avg_pool")
def _fractional_pool(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes one ratio for both axes, two, or four."""

    def pool(
        value: Any,
        pooling_ratio: Any,
        pseudo_random: bool = False,
        overlapping: bool = False,
        seed: int = 0,
        name: str | None = None,
    ) -> Any:
        ratio = pooling_ratio if isinstance(pooling_ratio, (list, tuple)) else [pooling_ratio]
        return function(value, ratio, pseudo_random, overlapping, seed, name=name)

    return pool
