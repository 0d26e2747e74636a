"""Ops that move values: other shapes, other orders, parts, joins."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...errors import fail, unsupported
from .values import promoted, rank_of, reshaped, rounded_axis, sizes_of, tensor, tf


def _sizes(shape: Any) -> Any:
    """A shape as our functions take it; None is what is left."""
    if isinstance(shape, (list, tuple)):
        return [-1 if size is None else size for size in shape]
    return [shape] if isinstance(shape, int) else shape


def reshape(x: Any, newshape: Any) -> Any:
    """The same values in another shape; one size may be -1."""
    return tf.reshape(tensor(x), _sizes(newshape))


def ravel(x: Any) -> Any:
    """All in one row."""
    return tf.reshape(tensor(x), [-1])


def broadcast_to(x: Any, shape: Any) -> Any:
    """Repeated along axes of size 1 until it has the shape."""
    return tf.broadcast_to(tensor(x), shape)


def expand_dims(x: Any, axis: Any) -> Any:
    """With axes of size 1 more."""
    x = tensor(x)
    if isinstance(axis, int):
        return tf.expand_dims(x, axis)
    rank = rank_of(x, "expand_dims") + len(axis)
    for one in sorted(rounded_axis(a, rank, "expand_dims") for a in axis):
        x = tf.expand_dims(x, one)
    return x


def squeeze(x: Any, axis: Any = None) -> Any:
    """Without axes of size 1."""
    if axis is None:
        return tf.squeeze(tensor(x))
    return tf.squeeze(tensor(x), axis=list(axis) if isinstance(axis, (list, tuple)) else [axis])


def transpose(x: Any, axes: Any = None) -> Any:
    """The axes in another order; turned round where none is said."""
    return tf.transpose(tensor(x), perm=None if axes is None else list(axes))


def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places; the others keep their order."""
    x = tensor(x)
    rank = rank_of(x, "moveaxis")
    froms = [source] if isinstance(source, int) else list(source)
    tos = [destination] if isinstance(destination, int) else list(destination)
    if len(froms) != len(tos):
        fail("E1103", f"`moveaxis` got {len(froms)} axes and {len(tos)} places for them")
    froms = [rounded_axis(a, rank, "moveaxis") for a in froms]
    tos = [rounded_axis(a, rank, "moveaxis") for a in tos]
    order = [a for a in range(rank) if a not in froms]
    for to, axis in sorted(zip(tos, froms, strict=True)):
        order.insert(to, axis)
    return tf.transpose(x, perm=order)


def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    x = tensor(x)
    rank = rank_of(x, "swapaxes")
    order = list(range(rank))
    one, other = rounded_axis(axis1, rank, "swapaxes"), rounded_axis(axis2, rank, "swapaxes")
    order[one], order[other] = other, one
    return tf.transpose(x, perm=order)


def flip(x: Any, axis: Any = None) -> Any:
    """Turned round along an axis, or all."""
    x = tensor(x)
    if axis is None:
        axis = list(range(rank_of(x, "flip")))
    return tf.reverse(x, axis=[axis] if isinstance(axis, int) else list(axis))


def fliplr(x: Any) -> Any:
    """Turned round along the second axis."""
    return flip(x, 1)


def flipud(x: Any) -> Any:
    """Turned round along the first axis."""
    return flip(x, 0)


def rot90(array: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """Turned by `k` quarters in the plane of two axes."""
    x = tensor(array)
    rank = rank_of(x, "rot90")
    first, second = (rounded_axis(a, rank, "rot90") for a in axes)
    if first == second:
        fail("E1103", f"`axes` of `rot90` are {axes}, expected two different ones")
    k %= 4
    if k == 0:
        return x
    if k == 2:
        return flip(flip(x, first), second)
    if k == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second)


def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """Moved on along an axis; what falls off comes in again."""
    x = tensor(x)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), tf.shape(x))
    if isinstance(axis, (list, tuple)) and isinstance(shift, int):
        shift = [shift] * len(axis)
    return tf.roll(x, shift, axis)


def concatenate(xs: Any, axis: int | None = 0) -> Any:
    """One after the other along an axis."""
    parts = promoted(*xs)
    if axis is None:
        parts, axis = [tf.reshape(p, [-1]) for p in parts], 0
    return tf.concat(parts, axis)


def append(x1: Any, x2: Any, axis: int | None = None) -> Any:
    """Two, one after the other."""
    return concatenate([x1, x2], axis)


def stack(x: Any, axis: int = 0) -> Any:
    """Beside each other along a new axis."""
    return tf.stack(promoted(*x), axis=axis)


def _at_least(x: Any, rank: int) -> Any:
    known = rank_of(x, "stack")
    if known >= rank:
        return x
    if rank == 1:
        return tf.reshape(x, [1])
    if rank == 2:
        return tf.reshape(x, [1, -1])
    return tf.reshape(x, [1, -1, 1]) if known < 2 else tf.expand_dims(x, -1)


def hstack(xs: Any) -> Any:
    """Beside each other."""
    parts = [_at_least(p, 1) for p in promoted(*xs)]
    return tf.concat(parts, 0 if parts[0].shape.rank == 1 else 1)


def vstack(xs: Any) -> Any:
    """Below each other."""
    return tf.concat([_at_least(p, 2) for p in promoted(*xs)], 0)


def dstack(xs: Any) -> Any:
    """Behind each other."""
    return tf.concat([_at_least(p, 3) for p in promoted(*xs)], 2)


def unstack(x: Any, num: int | None = None, axis: int = 0) -> list[Any]:
    """The parts along an axis."""
    return list(tf.unstack(tensor(x), num, axis))


def _cuts(x: Any, places: Any, axis: int, op: str) -> list[Any]:
    size = x.shape[axis]
    if size is None:
        fail("E1102", f"`{op}` needs to know the size of axis {axis}")
    ends = [min(p if p >= 0 else p + size, size) for p in np.asarray(places).tolist()]
    begins = [0, *ends]
    sizes = [max(e - b, 0) for b, e in zip(begins, [*ends, size], strict=True)]
    if sum(sizes) == size:
        return list(tf.split(x, sizes, axis=axis))
    out = []  # places out of order overlap, as NumPy's slices do
    for begin, end in zip(begins, [*ends, size], strict=True):
        index: list[Any] = [slice(None)] * rank_of(x, op)
        index[axis] = slice(begin, end)
        out.append(x[tuple(index)])
    return out


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts of one size, or cut at places."""
    x = tensor(x)
    axis = rounded_axis(axis, rank_of(x, "split"), "split")
    if isinstance(indices_or_sections, (int, np.integer)):
        count, size = int(indices_or_sections), x.shape[axis]
        if count <= 0 or (size is not None and size % count):
            fail(
                "E1103",
                f"`split` got axis {axis} of size {size}, which is not {count} parts of one size",
                fix="use `array_split`, or say where to cut",
            )
        return list(tf.split(x, count, axis=axis))
    return _cuts(x, indices_or_sections, axis, "split")


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """As `split`, where the first parts may be one larger."""
    x = tensor(x)
    axis = rounded_axis(axis, rank_of(x, "array_split"), "array_split")
    if not isinstance(indices_or_sections, (int, np.integer)):
        return _cuts(x, indices_or_sections, axis, "array_split")
    count, size = int(indices_or_sections), x.shape[axis]
    if size is None:
        fail("E1102", f"`array_split` needs to know the size of axis {axis}")
    if count <= 0:
        fail("E1103", f"`array_split` got {count} parts, expected at least 1")
    each, more = divmod(size, count)
    return list(tf.split(x, [each + (i < more) for i in range(count)], axis=axis))


def hsplit(x: Any, indices_or_sections: Any) -> list[Any]:
    """`split` along the second axis, or the only one."""
    x = tensor(x)
    return split(x, indices_or_sections, 0 if rank_of(x, "hsplit") == 1 else 1)


def vsplit(x: Any, indices_or_sections: Any) -> list[Any]:
    """`split` along the first axis."""
    return split(x, indices_or_sections, 0)


def dsplit(x: Any, indices_or_sections: Any) -> list[Any]:
    """`split` along the third axis."""
    return split(x, indices_or_sections, 2)


def tile(x: Any, repeats: Any) -> Any:
    """All of it again and again."""
    x = tensor(x)
    rank = rank_of(x, "tile")
    times = [repeats] if isinstance(repeats, int) else list(repeats)
    times = [1] * (rank - len(times)) + times
    for _ in range(len(times) - rank):
        x = tf.expand_dims(x, 0)
    return tf.tile(x, times)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each again and again."""
    x = tensor(x)
    found = tf.repeat(x, repeats, axis)
    if axis is None or x.shape.rank is None or not isinstance(repeats, int):
        return found
    sizes = sizes_of(x)
    sizes[rounded_axis(axis, len(sizes), "repeat")] *= repeats
    return reshaped(found, sizes)


_PAD_MODES = {"constant": "CONSTANT", "reflect": "REFLECT", "symmetric": "SYMMETRIC"}


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Any:
    """With more values around it."""
    x = tensor(x)
    rank = rank_of(x, "pad")
    widths = np.broadcast_to(np.asarray(pad_width), (rank, 2)).tolist()
    if mode not in _PAD_MODES:
        unsupported(
            f'`pad` with the mode "{mode}" is not supported', f"known are {', '.join(_PAD_MODES)}"
        )
    if mode != "constant" and constant_values is not None:
        fail("E1104", f'`pad` got `constant_values` with the mode "{mode}"')
    if mode == "constant":
        fill = tensor(0 if constant_values is None else constant_values, x.dtype)
        return tf.pad(x, widths, constant_values=fill)
    return tf.pad(x, widths, mode=_PAD_MODES[mode])


def meshgrid(*x: Any, indexing: str = "xy") -> list[Any]:
    """Coordinates of all points of a grid."""
    return list(tf.meshgrid(*[tf.reshape(tensor(v), [-1]) for v in x], indexing=indexing))


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes, as the last axis."""
    x = tensor(x)
    return tf.linalg.diag_part(moveaxis(x, (axis1, axis2), (-2, -1)), k=offset)


def diag(x: Any, k: int = 0) -> Any:
    """A matrix of its diagonal, or the diagonal of a matrix."""
    x = tensor(x)
    rank = rank_of(x, "diag")
    if rank == 1:
        return tf.linalg.diag(x, k=k)
    if rank == 2:
        return diagonal(x, k)
    return fail("E1102", f"`diag` got {rank} axes, expected 1 or 2")


def diagflat(x: Any, k: int = 0) -> Any:
    """A matrix of its diagonal, whatever form that has."""
    return diag(tf.reshape(tensor(x), [-1]), k)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of a diagonal."""
    from .reductions import sum as total

    return total(diagonal(x, offset, axis1, axis2), axis=-1)


def _below(x: Any, k: int) -> Any:
    """Where the row's number plus `k` is at least the column's."""
    shape = tf.shape(x)
    rows = tf.range(shape[-2])[:, None]
    columns = tf.range(shape[-1])[None, :]
    return columns <= rows + k


def tril(x: Any, k: int = 0) -> Any:
    """A matrix with zeros above a diagonal."""
    x = tensor(x)
    return tf.where(_below(x, k), x, tf.zeros_like(x))


def triu(x: Any, k: int = 0) -> Any:
    """A matrix with zeros below a diagonal."""
    x = tensor(x)
    return tf.where(_below(x, k - 1), tf.zeros_like(x), x)


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """Differences of neighbours, `n` times."""
    x = tensor(a)
    rank = rank_of(x, "diff")
    axis = rounded_axis(axis, rank, "diff")
    later: list[Any] = [slice(None)] * rank
    earlier: list[Any] = [slice(None)] * rank
    later[axis], earlier[axis] = slice(1, None), slice(None, -1)

    def once(v: Any, _: int) -> Any:
        after, before = v[tuple(later)], v[tuple(earlier)]
        return tf.not_equal(after, before) if v.dtype.is_bool else after - before

    return functools.reduce(once, range(n), x)


def copy(x: Any) -> Any:
    """The same values."""
    return tf.identity(tensor(x))


def get_item(x: Any, key: Any) -> Any:
    """`x[key]`."""
    return tensor(x)[key]


def view(x: Any, dtype: Any = None) -> Any:
    """The same bits as values of another dtype."""
    x = tensor(x)
    old, new = x.dtype.size, x.dtype.size if dtype is None else tf.as_dtype(dtype).size
    if old == new:
        return x if dtype is None else tf.bitcast(x, dtype)
    if rank_of(x, "view") == 0:
        fail("E1102", "`view` got a scalar and a dtype of another size, expected an axis to share")
    *rest, last = sizes_of(x)
    if old > new:
        return reshaped(tf.bitcast(x, dtype), [*rest, last * (old // new)])
    parts = new // old
    if isinstance(last, int) and last % parts:
        fail("E1102", f"`view` can't join {parts} values each of a last axis of size {last}")
    return tf.bitcast(reshaped(x, [*rest, last // parts, parts]), dtype)


def view_as_complex(x: Any) -> Any:
    """Complex numbers of pairs in the last axis."""
    x = tensor(x)
    if rank_of(x, "view_as_complex") == 0 or x.shape[-1] not in {None, 2}:
        fail("E1102", f"`view_as_complex` got the shape {x.shape}, expected pairs in the last axis")
    return tf.complex(x[..., 0], x[..., 1])


def view_as_real(x: Any) -> Any:
    """Pairs of the real and the imaginary part."""
    x = tensor(x)
    return tf.stack([tf.math.real(x), tf.math.imag(x)], axis=-1)
