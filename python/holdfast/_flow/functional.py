"""Functions over the rows of tensors: `map_fn`, `scan`, `foldl`, `foldr`, `vectorized_map`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._graphs.name_scope import named_ops
from .._structures import nesting
from .._tensors import registry
from .._tensors.shape import TensorShape, TensorSpec
from .._tensors.symbols import is_symbol
from .._tracing.converter import converter
from .._tracing.journal import Journal
from ..errors import fail, unsupported
from . import control
from .composite_rows import holds_composites, map_composites
from .control import structure_of, to_tensors
from .row_counts import common_count
from .tensor_array import TensorArray

__all__ = ["foldl", "foldr", "map_fn", "scan", "vectorized_map"]


def _leaves(elems: Any) -> list[Any]:
    """The leaves as tensors that have rows."""
    for leaf in nesting.flatten(elems, whole=True):
        if nesting.is_composite(leaf):  # its tensors do not have a row for each of its rows
            unsupported(
                f"functions over the rows of a {type(leaf).__name__} are not supported",
                "they go through the rows of tensors",
                fix="go through the rows in a loop, or make it dense first",
            )
    flat = to_tensors(elems)
    if not flat:
        raise ValueError("`elems` holds no tensor")
    for t in flat:
        if t.shape.rank == 0:
            fail("E1102", "an element of `elems` is a scalar, expected rows along a first axis")
    return flat


def _rows(elems: Any) -> tuple[list[Any], Any]:
    """The leaves as tensors, and how many rows they have."""
    flat = _leaves(elems)
    known = [t.shape[0] if t.shape.rank is not None else None for t in flat]
    counts = [
        registry.function("shape")(t)[0] if n is None else n
        for t, n in zip(flat, known, strict=True)
    ]
    return flat, common_count(counts)


def _row(flat: list[Any], structure: Any, i: Any) -> Any:
    gather = registry.function("gather")
    return nesting.pack_sequence_as(
        structure, [t[i] if isinstance(i, int) else gather(t, i) for t in flat]
    )


@named_ops
def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`fn` of each row of `elems`, stacked. Without `back_prop`, gradients end there."""
    if not back_prop:
        wanted = fn_output_signature if fn_output_signature is not None else dtype
        return control.without_gradient(
            map_fn(fn, elems, infer_shape=infer_shape, fn_output_signature=wanted)
        )
    signature = fn_output_signature if fn_output_signature is not None else dtype
    if holds_composites(elems, signature):
        return map_composites(control.repeatable(fn), elems, signature)
    flat, n = _rows(elems)
    structure = structure_of(elems)
    given, fn = fn, control.repeatable(fn)
    wanted = signature

    def each(i: Any) -> Any:
        result = fn(_row(flat, structure, i))
        if wanted is None:
            return result
        nesting.assert_same_structure(wanted, result)
        return nesting.map_structure(_as_said, wanted, result)

    runs_now = not _holdfast.is_tracing() and not any(map(is_symbol, flat))
    if runs_now and int(n) > 0:
        return _stacked([each(i) for i in range(int(n))])
    out_structure: Any = structure_of(wanted)
    specs = nesting.flatten(wanted)
    if wanted is None:
        # What plain code changes can be taken back only where it is converted.
        probed = converter().convert(given) if runs_now else fn
        specs, out_structure = _probe(probed, flat, structure)
    if runs_now:
        zeros = registry.function("zeros")
        none = [zeros([0, *_known(s)], getattr(s, "dtype", s)) for s in specs]
        return nesting.pack_sequence_as(out_structure, none)
    arrays = _arrays_for(specs, n, infer_shape)

    def body(i: Any, written: list[Any]) -> tuple[Any, list[Any]]:
        values = to_tensors(each(i))
        return i + 1, [a.write(i, v) for a, v in zip(written, values, strict=True)]

    body.__name__ = control.name_of(given, "fn")
    _, written = control.while_loop(lambda i, _: i < n, body, [0, arrays])
    return nesting.pack_sequence_as(out_structure, [_with_rows(a.stack(), n) for a in written])


def _as_said(spec: Any, value: Any) -> Any:
    """A result in the dtype of the signature: a number takes it, a tensor has to have it."""
    dtype = spec.dtype if isinstance(spec, TensorSpec) else spec
    return value if dtype is None else _holdfast.convert(value, dtype)


def _with_rows(tensor: Any, n: Any) -> Any:
    if isinstance(n, int) and tensor.shape.rank is not None:
        tensor.set_shape([n, *tensor.shape.as_list()[1:]])
    return tensor


def _arrays_for(specs: list[Any], n: Any, infer_shape: bool) -> list[TensorArray]:
    made = []
    for spec in specs:
        shape = spec.shape if isinstance(spec, TensorSpec) else None
        made.append(
            TensorArray(
                getattr(spec, "dtype", spec), size=n, element_shape=shape, infer_shape=infer_shape
            )
        )
    return made


def _probe(fn: Any, flat: list[Any], structure: Any) -> tuple[list[TensorSpec], Any]:
    """What `fn` gives, found out on a graph that is thrown away."""
    writer = _holdfast.Writer(control.name_of(fn, "fn"), "loop", True)
    writer.enter(True)
    probing = Journal()
    try:
        rows = [writer.input(t.dtype, _tail(t), "row") for t in flat]
        with probing:
            result = fn(nesting.pack_sequence_as(structure, rows))
        specs = [TensorSpec(t.shape, t.dtype) for t in to_tensors(result)]
        shape = structure_of(result)
    finally:
        probing.undo()
        writer.exit()
        writer.close()
    return specs, shape


def _tail(tensor: Any) -> Any:
    return None if tensor.shape.rank is None else tensor.shape.as_list()[1:]


def _stacked(results: list[Any]) -> Any:
    stack = registry.function("stack")
    columns = zip(*(nesting.flatten(r) for r in results), strict=True)
    return nesting.pack_sequence_as(
        structure_of(results[0]), [stack([_holdfast.convert(v) for v in c]) for c in columns]
    )


def _known(spec: Any) -> list[int]:
    shape = getattr(spec, "shape", None)
    return (
        []
        if not isinstance(shape, TensorShape) or shape.rank is None
        else [d or 0 for d in shape.as_list()]
    )


def _walk(n: Any, backwards: bool) -> Callable[[Any], Any]:
    """Which of `n` rows is met in step `i`."""
    return (lambda i: n - 1 - i) if backwards else (lambda i: i)


def _first_row(flat: list[Any], structure: Any, at: Callable[[Any], Any], n: Any) -> Any:
    if isinstance(n, int) and n == 0:
        fail(
            "E1102",
            "there are no rows, and no value to begin with",
            "without `initializer` the first value is a row of `elems`, and there is none",
            fix="give `initializer`",
        )
    return _row(flat, structure, at(0))


def _fold(fn: Any, elems: Any, initializer: Any, backwards: bool) -> Any:
    flat, n = _rows(elems)
    structure = structure_of(elems)
    at = _walk(n, backwards)
    first = 0
    if initializer is None:
        initializer, first = _first_row(flat, structure, at, n), 1

    def body(i: Any, value: Any) -> tuple[Any, Any]:
        return i + 1, fn(value, _row(flat, structure, at(i)))

    body.__name__ = control.name_of(fn, "fn")
    return control.while_loop(lambda i, _: i < n, body, [first, initializer])[1]


@named_ops
def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`fn(fn(fn(initializer, row 0), row 1), ...)`; without `initializer` it begins with row 0."""
    found = _fold(fn, elems, initializer, False)
    return found if back_prop else control.without_gradient(found)


@named_ops
def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The same from the last row to the first."""
    found = _fold(fn, elems, initializer, True)
    return found if back_prop else control.without_gradient(found)


@named_ops
def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All values on the way of `foldl`, stacked. Without `back_prop`, gradients end there."""
    if not back_prop:
        found = scan(fn, elems, initializer, infer_shape=infer_shape, reverse=reverse)
        return control.without_gradient(found)
    flat, n = _rows(elems)
    structure = structure_of(elems)
    at = _walk(n, reverse)
    first = 0
    value = initializer
    if initializer is None:
        value, first = _first_row(flat, structure, at, n), 1
    start = to_tensors(value)
    arrays = [
        TensorArray(t.dtype, size=n, element_shape=t.shape, infer_shape=infer_shape) for t in start
    ]
    if first:
        arrays = [a.write(at(0), t) for a, t in zip(arrays, start, strict=True)]
    shape = structure_of(value)

    def body(i: Any, now: list[Any], written: list[Any]) -> tuple[Any, Any, Any]:
        result = fn(nesting.pack_sequence_as(shape, now), _row(flat, structure, at(i)))
        values = to_tensors(result)
        return i + 1, values, [a.write(at(i), v) for a, v in zip(written, values, strict=True)]

    body.__name__ = control.name_of(fn, "fn")
    _, _, written = control.while_loop(lambda i, *_: i < n, body, [first, start, arrays])
    return nesting.pack_sequence_as(shape, [_with_rows(a.stack(), n) for a in written])


def _alike(flat: list[Any]) -> list[Any]:
    """The tensors with as many rows each: one row stands for any number of them."""
    counts = [t.shape[0] if t.shape.rank is not None else None for t in flat]
    if len(flat) == 1 or (None not in counts and (1 not in counts or len(set(counts)) == 1)):
        return flat
    take, size = registry.function("gather"), registry.function("shape")
    several = [count for count in counts if count not in (None, 1)]
    open_ = [size(t)[0] for t, count in zip(flat, counts, strict=True) if count is None]
    rows = several[0] if several else registry.function("reduce_max")(open_)
    numbers = registry.function("range")(rows)

    def spread(tensor: Any, count: int | None) -> Any:
        if count in several:
            return tensor
        own = size(tensor)[0] if count is None else count
        one_each = registry.function("cast")(registry.function("not_equal")(own, 1), numbers.dtype)
        # The first row again and again, or each row once; rows that are too few are refused.
        return take(tensor, numbers * one_each)

    return [spread(t, count) for t, count in zip(flat, counts, strict=True)]


def vectorized_map(
    fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """`fn` of each row of `elems`, stacked. `fn` is traced once, for one row."""
    flat = _alike(_leaves(elems))
    structure = structure_of(elems)
    writer = _holdfast.Writer(control.name_of(fn, "fn"), "map", True)
    writer.enter(False)
    try:
        rows = [writer.input(t.dtype, _tail(t), "row") for t in flat]
        result = fn(nesting.pack_sequence_as(structure, rows))
        shape = structure_of(result)
        tensors = to_tensors(result)
        types = [TensorSpec(t.shape, t.dtype) for t in tensors]
        writer.set_outputs(tensors)
    finally:
        writer.exit()
        writer.close()
    one = writer.function()
    around = writer.captures()

    def each(row: list[Any]) -> list[Any]:
        return list(one.call([*row, *around]))

    stacked = map_fn(each, flat, fn_output_signature=types)
    return nesting.pack_sequence_as(shape, stacked)
