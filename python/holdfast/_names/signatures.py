"""Functions whose TensorFlow signature the registry's generic call cannot say, and why.

An adaptor only moves arguments: what is computed is the registered function. One is made for each
path that the registry has; a path without a registered function gets none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._tensors import registry
from .._tensors.indexed_slices import IndexedSlices
from .._tensors.tensor import convert_to_tensor

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
        function = registry.BY_PATH.get(path)
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


@_adapts("quantization.quantize_and_dequantize", "quantization.quantize_and_dequantize_v2")
def _quantize_and_dequantize(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes the name before the options that came later."""

    def quantize_and_dequantize(
        input: Any,
        input_min: Any,
        input_max: Any,
        signed_input: bool = True,
        num_bits: int = 8,
        range_given: bool = False,
        round_mode: str = "HALF_TO_EVEN",
        name: str | None = None,
        narrow_range: bool = False,
        axis: int | None = None,
    ) -> Any:
        how = (signed_input, num_bits, range_given, round_mode, narrow_range, axis)
        return function(input, input_min, input_max, *how, name=name)

    return quantize_and_dequantize


@_adapts("image.non_max_suppression_padded")
def _non_max_suppression_padded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes the name before the options that came later."""

    def non_max_suppression_padded(
        boxes: Any,
        scores: Any,
        max_output_size: Any,
        iou_threshold: Any = 0.5,
        score_threshold: Any = None,
        pad_to_max_output_size: bool = False,
        name: str | None = None,
        sorted_input: bool = False,
        canonicalized_coordinates: bool = False,
        tile_size: int = 512,
    ) -> Any:
        how = (iou_threshold, score_threshold, pad_to_max_output_size)
        more = (sorted_input, canonicalized_coordinates, tile_size)
        return function(boxes, scores, max_output_size, *how, *more, name=name)

    return non_max_suppression_padded


@_adapts("linalg.eigh_tridiagonal")
def _eigh_tridiagonal(function: Callable[..., Any]) -> Callable[..., Any]:
    """Answers one tensor where only the eigenvalues are asked for, else a tuple of two."""

    def eigh_tridiagonal(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result[0] if len(result) == 1 else tuple(result)

    return eigh_tridiagonal


@_adapts("linalg.svd")
def _svd(function: Callable[..., Any]) -> Callable[..., Any]:
    """Answers one tensor where only the singular values are asked for, else a tuple of three."""

    def svd(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result[0] if len(result) == 1 else tuple(result)

    return svd


def _listed(diagonals: Any, diagonals_format: str) -> Any:
    return diagonals if diagonals_format == "sequence" else [diagonals]


@_adapts("linalg.tridiagonal_solve")
def _tridiagonal_solve(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes the diagonals as one tensor, or as three where the format says so."""

    def tridiagonal_solve(
        diagonals: Any,
        rhs: Any,
        diagonals_format: str = "compact",
        transpose_rhs: bool = False,
        conjugate_rhs: bool = False,
        name: str | None = None,
        partial_pivoting: bool = True,
        perturb_singular: bool = False,
    ) -> Any:
        given = _listed(diagonals, diagonals_format)
        how = (transpose_rhs, conjugate_rhs, partial_pivoting, perturb_singular)
        return function(given, rhs, diagonals_format, *how, name=name)

    return tridiagonal_solve


@_adapts("linalg.tridiagonal_matmul")
def _tridiagonal_matmul(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes the diagonals as one tensor, or as three where the format says so."""

    def tridiagonal_matmul(
        diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
    ) -> Any:
        given = _listed(diagonals, diagonals_format)
        return function(given, rhs, diagonals_format, name=name)

    return tridiagonal_matmul


def _rows(t: Any) -> Any:
    return t.values if isinstance(t, IndexedSlices) else t


def _like(values: Any, t: Any) -> Any:
    slices = isinstance(t, IndexedSlices)
    return IndexedSlices(values, t.indices, t.dense_shape) if slices else values


@_adapts("clip_by_value", "clip_by_norm", "compat.v1.clip_by_average_norm")
def _clip(function: Callable[..., Any]) -> Callable[..., Any]:
    """Clips the rows of IndexedSlices, and gives IndexedSlices."""

    def clipped(t: Any, *args: Any, **kwargs: Any) -> Any:
        return _like(function(_rows(t), *args, **kwargs), t)

    return clipped


@_adapts("clip_by_global_norm")
def _clip_together(function: Callable[..., Any]) -> Callable[..., Any]:
    """Leaves what is None where it is, and clips the rows of IndexedSlices."""

    def clip_by_global_norm(
        t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
    ) -> Any:
        there = [t for t in t_list if t is not None]
        clipped, norm = function([_rows(t) for t in there], clip_norm, use_norm, name=name)
        made = iter(_like(values, t) for values, t in zip(clipped, there, strict=True))
        return [None if t is None else next(made) for t in t_list], norm

    return clip_by_global_norm


@_adapts("linalg.global_norm")
def _global_norm(function: Callable[..., Any]) -> Callable[..., Any]:
    """Passes over None, and takes the rows of IndexedSlices."""

    def global_norm(t_list: Any, name: str | None = None) -> Any:
        return function([_rows(t) for t in t_list if t is not None], name=name)

    return global_norm


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


def sampled_loss(
    function: Callable[..., Any],
    tables: tuple[Any, Any],
    given: tuple[Any, ...],
    num_true: int,
    sampled_values: Any,
    *how: Any,
    name: str | None,
) -> Any:
    """A loss over drawn classes; what a sampler drew comes as one structure."""
    drawn = (None, None, None) if sampled_values is None else tuple(sampled_values)
    shards = (shards_of(tables[0]), shards_of(tables[1]))
    return function(*shards, *given, num_true, *drawn, *how, name=name)


@_adapts("nn.nce_loss")
def _nce_loss(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes tables as they are or in shards, and what a sampler drew as one structure."""

    def nce_loss(
        weights: Any,
        biases: Any,
        labels: Any,
        inputs: Any,
        num_sampled: int,
        num_classes: int,
        num_true: int = 1,
        sampled_values: Any = None,
        remove_accidental_hits: bool = False,
        name: str | None = "nce_loss",
    ) -> Any:
        given = (labels, inputs, num_sampled, num_classes)
        how = (remove_accidental_hits, "div")
        asked = (num_true, sampled_values, *how)
        return sampled_loss(function, (weights, biases), given, *asked, name=name)

    return nce_loss


@_adapts("nn.sampled_softmax_loss")
def _sampled_softmax_loss(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes tables as they are or in shards, and what a sampler drew as one structure."""

    def sampled_softmax_loss(
        weights: Any,
        biases: Any,
        labels: Any,
        inputs: Any,
        num_sampled: int,
        num_classes: int,
        num_true: int = 1,
        sampled_values: Any = None,
        remove_accidental_hits: bool = True,
        seed: int | None = None,
        name: str | None = "sampled_softmax_loss",
    ) -> Any:
        given = (labels, inputs, num_sampled, num_classes)
        how = (remove_accidental_hits, "div", seed)
        asked = (num_true, sampled_values, *how)
        return sampled_loss(function, (weights, biases), given, *asked, name=name)

    return sampled_softmax_loss


@_adapts("nn.ctc_loss")
def _ctc_loss(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes `unique`, by which TensorFlow saves work: the loss is the same without."""

    def ctc_loss(
        labels: Any,
        logits: Any,
        label_length: Any,
        logit_length: Any,
        logits_time_major: bool = True,
        unique: Any = None,
        blank_index: int | None = None,
        name: str | None = None,
    ) -> Any:
        lengths = (label_length, logit_length)
        blank = 0 if blank_index is None else blank_index
        return function(labels, logits, *lengths, logits_time_major, blank, name=name)

    return ctc_loss


@_adapts("one_hot")
def _one_hot(function: Callable[..., Any]) -> Callable[..., Any]:
    """Values take the dtype that is asked for; an array has its own, which must be that one."""

    def one_hot(
        indices: Any,
        depth: Any,
        on_value: Any = None,
        off_value: Any = None,
        axis: Any = None,
        dtype: Any = None,
        name: str | None = None,
    ) -> Any:
        values = [on_value, off_value]
        for i, value in enumerate(values):
            has_own = isinstance(value, (np.ndarray, np.generic))
            if value is not None and (dtype is not None or has_own):
                values[i] = convert_to_tensor(value, dtype_hint=dtype)
        return function(indices, depth, *values, axis, dtype, name=name)

    return one_hot


@_adapts("nn.experimental.general_dropout")
def _general_dropout(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes a function that draws, and asks it for as many numbers as there are decisions."""

    def general_dropout(
        x: Any, rate: Any, uniform_sampler: Any, noise_shape: Any = None, name: str | None = None
    ) -> Any:
        value = registry.function("identity")(x)
        if isinstance(rate, (int, float)) and rate == 0:
            return value  # nothing is drawn
        sizes: Any = noise_shape
        if noise_shape is None:
            sizes = registry.function("shape")(value)
        elif isinstance(noise_shape, (list, tuple)):
            sizes = [value.shape[i] if size is None else size for i, size in enumerate(noise_shape)]
        drawn = uniform_sampler(shape=sizes, dtype=value.dtype)
        return function(value, rate, drawn, name=name)

    return general_dropout


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


@_adapts("scalar_mul", "math.scalar_mul")
def _scalar_mul(function: Callable[..., Any]) -> Callable[..., Any]:
    """Takes rows of a larger tensor too, and multiplies these alone."""

    def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
        if not isinstance(x, IndexedSlices):
            return function(scalar, x, name=name)
        return IndexedSlices(function(scalar, x.values, name=name), x.indices, x.dense_shape)

    return scalar_mul
