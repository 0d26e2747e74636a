"""Functions of functions: tangents, scans, functions of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import nest
from ...errors import fail, unsupported
from .values import rank_of, rounded_axis, tensor, tf

__all__ = ["associative_scan", "jvp", "vectorize"]


def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """What a function gives, and how that moves along with its arguments."""
    if not isinstance(primals, (list, tuple)) or not isinstance(tangents, (list, tuple)):
        fail(
            "E1104",
            "`primals` and `tangents` of `jvp` are expected as tuples, one for each argument",
        )
    if len(primals) != len(tangents):
        fail("E1104", f"`jvp` got {len(primals)} `primals` and {len(tangents)} `tangents`")
    given = nest.map_structure(tensor, tuple(primals))
    along = nest.map_structure(tensor, tuple(tangents))
    flat = nest.flatten(given)
    with tf.autodiff.ForwardAccumulator(flat, nest.flatten(along)) as accumulator:
        said = fun(*given)
    out, more = said if has_aux else (said, None)
    moves = nest.map_structure(
        lambda y: accumulator.jvp(y, unconnected_gradients="zero"), nest.map_structure(tensor, out)
    )
    return (out, moves, more) if has_aux else (out, moves)


def associative_scan(
    f: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """The results of `f` over the first one, two, three ... elements, in few steps."""
    flat = [tensor(x) for x in nest.flatten(elems)]
    if not callable(f):
        fail("E1104", f"`f` of `associative_scan` is {f!r}, expected a function of two values")
    axes = [rounded_axis(axis, rank_of(x, "associative_scan"), "associative_scan") for x in flat]
    sizes = {x.shape[a] for x, a in zip(flat, axes, strict=True)}
    if len(sizes) != 1 or None in sizes:
        fail(
            "E1102",
            f"`elems` of `associative_scan` have {sorted(map(str, sizes))} elements along axis "
            f"{axis}, expected one known number of them",
        )
    if reverse:
        flat = [tf.reverse(x, [a]) for x, a in zip(flat, axes, strict=True)]

    def part(xs: list[Any], first: int, last: int | None, step: int = 1) -> list[Any]:
        cut = slice(first, last, step)
        return [x[(slice(None),) * a + (cut,)] for x, a in zip(xs, axes, strict=True)]

    def both(a: list[Any], b: list[Any]) -> list[Any]:
        given = (nest.pack_sequence_as(elems, xs) for xs in (a, b))
        return nest.flatten(f(*given))

    def scanned(xs: list[Any], many: int) -> list[Any]:
        if many < 2:
            return xs
        pairs = both(part(xs, 0, many - 1, 2), part(xs, 1, many, 2))
        odd = scanned(pairs, many // 2)
        later = part(xs, 2, many, 2)
        ends = odd if many % 2 else part(odd, 0, many // 2 - 1)
        even = [
            tf.concat([x, y], a)
            for x, y, a in zip(
                part(xs, 0, 1), both(ends, later) if many > 2 else part(xs, 1, 1), axes, strict=True
            )
        ]
        return [_interleaved(e, o, a) for e, o, a in zip(even, odd, axes, strict=True)]

    out = scanned(flat, sizes.pop())
    if reverse:
        out = [tf.reverse(x, [a]) for x, a in zip(out, axes, strict=True)]
    return nest.pack_sequence_as(elems, out)


def _interleaved(even: Any, odd: Any, axis: int) -> Any:
    """The elements of both, by turns; there may be one more of the first."""
    first, second = even.shape[axis], odd.shape[axis]
    order = np.zeros(first + second, np.int32)
    order[0::2], order[1::2] = np.arange(first), first + np.arange(second)
    return tf.gather(tf.concat([even, odd], axis), order, axis=axis)


def vectorize(pyfunc: Callable[..., Any], *, excluded: Any = None, signature: Any = None) -> Any:
    """A function of numbers as one of tensors, whose elements it is called with."""
    if not callable(pyfunc):
        fail("E1104", f"`pyfunc` of `vectorize` is {pyfunc!r}, expected a function")
    if excluded:
        unsupported("`vectorize` with `excluded` is not supported", "all arguments are tensors")
    if signature is not None:
        unsupported("`vectorize` with a `signature` is not supported", "a function takes elements")

    def over(*args: Any) -> Any:
        """The function, called with each of the elements that stand at one place."""
        given = [tensor(x) for x in args]
        if not given:
            fail("E1104", "a function of `vectorize` is called without arguments")
        shape = tf.shape(given[0])
        for x in given[1:]:
            shape = tf.broadcast_dynamic_shape(shape, tf.shape(x))
        rows = [tf.reshape(tf.broadcast_to(x, shape), [-1]) for x in given]
        out = tf.vectorized_map(lambda each: pyfunc(*each), tuple(rows))
        return nest.map_structure(
            lambda y: tf.reshape(y, tf.concat([shape, tf.shape(y)[1:]], 0)), out
        )

    return over
