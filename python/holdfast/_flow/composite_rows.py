"""`map_fn` over values of several tensors, and functions that give such.

A class says what its rows are, and of which pieces values side by side are made: each piece is
joined along its first axis, as in `tf.concat` (`_tensors/composite.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._structures import nesting
from .._tensors import registry
from .._tensors.composite import Composite, CompositeSpec
from .._tensors.shape import TensorShape, TensorSpec
from .._tensors.symbols import is_symbol
from ..errors import fail
from . import control
from .row_counts import common_count
from .tensor_array import TensorArray

__all__ = ["holds_composites", "map_composites"]


def holds_composites(*structures: Any) -> bool:
    """Whether a value of several tensors, or the spec of one, is in a structure."""
    flat = (leaf for each in structures for leaf in nesting.flatten(each, whole=True))
    return any(isinstance(leaf, (Composite, CompositeSpec)) for leaf in flat)


def map_composites(fn: Callable[[Any], Any], elems: Any, wanted: Any) -> Any:
    """`fn` of each row of `elems`, side by side; `wanted` has the specs of what it gives."""
    leaves = [
        leaf if isinstance(leaf, Composite) else _holdfast.convert(leaf)
        for leaf in nesting.flatten(elems, whole=True)
    ]
    n = common_count([_row_count(leaf) for leaf in leaves])
    if wanted is None:  # what the rows are
        rows = [_row_spec(leaf) for leaf in leaves]
        wanted = nesting.pack_sequence_as(elems, rows, whole=True)
    specs = [_as_spec(each) for each in nesting.flatten(wanted, whole=True)]

    def each(i: Any) -> list[Any]:
        rows = [leaf._row(i) if isinstance(leaf, Composite) else leaf[i] for leaf in leaves]
        result = fn(nesting.pack_sequence_as(elems, rows, whole=True))
        found = nesting.flatten(result, whole=True)
        if len(found) != len(specs):
            fail(
                "E1104",
                f"the function of `map_fn` gives {len(found)} values, and `fn_output_signature` "
                f"has {len(specs)}",
            )
        pieces = zip(specs, found, strict=True)
        return [piece for spec, value in pieces for piece in _pieces(spec, value, i)]

    kinds = [kind for spec in specs for kind in _piece_specs(spec)]
    tensors = [t for leaf in leaves for t in nesting.flatten(leaf)]
    if not _holdfast.is_tracing() and not any(map(is_symbol, tensors)):
        joined = _joined_now([each(i) for i in range(int(n))], kinds)
    else:
        joined = _joined_in_graph(each, n, kinds)
    left = iter(joined)
    out = [_together(spec, [next(left) for _ in _piece_specs(spec)], n) for spec in specs]
    return nesting.pack_sequence_as(wanted, out, whole=True)


def _joined_now(rows: list[list[Any]], kinds: list[TensorSpec]) -> list[Any]:
    concat, zeros = registry.function("concat"), registry.function("zeros")
    if not rows:
        return [zeros([0, *_known_sizes(kind.shape)], kind.dtype) for kind in kinds]
    return [concat(list(column), 0) for column in zip(*rows, strict=True)]


def _known_sizes(shape: TensorShape) -> list[int]:
    """The sizes of a row, as far as they are known: there is none that would tell."""
    return [] if shape.rank is None else [size or 0 for size in shape.as_list()[1:]]


def _joined_in_graph(
    each: Callable[[Any], list[Any]], n: Any, kinds: list[TensorSpec]
) -> list[Any]:
    arrays = [
        TensorArray(kind.dtype, size=n, element_shape=kind.shape, infer_shape=False)
        for kind in kinds
    ]

    def body(i: Any, written: list[Any]) -> tuple[Any, list[Any]]:
        pieces = each(i)
        return i + 1, [a.write(i, piece) for a, piece in zip(written, pieces, strict=True)]

    _, written = control.while_loop(lambda i, _: i < n, body, [0, arrays])
    return [array.concat() for array in written]


def _row_count(leaf: Any) -> Any:
    if isinstance(leaf, Composite):
        return leaf._row_count()
    if leaf.shape.rank == 0:
        fail("E1102", "an element of `elems` is a scalar, expected rows along a first axis")
    known = leaf.shape[0] if leaf.shape.rank is not None else None
    return registry.function("shape")(leaf)[0] if known is None else known


def _row_spec(leaf: Any) -> Any:
    if isinstance(leaf, Composite):
        return leaf._type_spec._unbatch()
    return TensorSpec(leaf.shape if leaf.shape.rank is None else leaf.shape[1:], leaf.dtype)


def _as_spec(spec: Any) -> Any:
    return spec if isinstance(spec, (TensorSpec, CompositeSpec)) else TensorSpec(None, spec)


def _piece_specs(spec: Any) -> list[TensorSpec]:
    if isinstance(spec, CompositeSpec):
        return spec._piece_specs()
    sizes = None if spec.shape.rank is None else [1, *spec.shape.as_list()]
    return [TensorSpec(sizes, spec.dtype)]


def _pieces(spec: Any, value: Any, i: Any) -> list[Any]:
    if isinstance(spec, CompositeSpec):
        return spec._pieces(value, i)
    return [registry.function("expand_dims")(_holdfast.convert(value, spec.dtype), 0)]


def _together(spec: Any, pieces: list[Any], n: Any) -> Any:
    if isinstance(spec, CompositeSpec):
        return spec._from_pieces(pieces, n)
    (whole,) = pieces
    if isinstance(n, int) and is_symbol(whole) and whole.shape.rank is not None:
        whole.set_shape([n, *whole.shape.as_list()[1:]])
    return whole
