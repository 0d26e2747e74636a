"""Ops that choose and order: sorts, places, counts, quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import fail, unsupported
from ..config import floatx
from .elementwise import isnan
from .shapes import moveaxis
from .values import as_float, need_dense, promoted, rank_of, rounded_axis, tensor, tf


def sort(x: Any, axis: Any = -1) -> Any:
    """From the smallest on."""
    x = tensor(x)
    if x.dtype.is_bool:
        return tf.cast(sort(tf.cast(x, "int8"), axis), "bool")
    if axis is None:
        return tf.sort(tf.reshape(x, [-1]))
    return tf.sort(x, axis=axis)


def argsort(x: Any, axis: Any = -1) -> Any:
    """The places of values in their order; equal ones stay in theirs."""
    x = tensor(x)
    x = tf.cast(x, "int8") if x.dtype.is_bool else x
    if axis is None:
        return tf.argsort(tf.reshape(x, [-1]), stable=True)
    return tf.argsort(x, axis=axis, stable=True)


def argpartition(x: Any, kth: int, axis: Any = -1) -> Any:
    """Places in an order in which smaller ones come before the one at `kth`, larger ones after."""
    x = tensor(x)
    size = x.shape[-1 if axis is None else axis]
    if axis is not None and size is not None and not -size <= kth < size:
        fail("E1103", f"`kth` of `argpartition` is {kth}, and the axis has size {size}")
    return argsort(x, axis)


def top_k(x: Any, k: int, sorted: bool = True) -> tuple[Any, Any]:
    """The `k` largest of the last axis, and their places."""
    found = tf.math.top_k(tensor(x), k, sorted=sorted)
    return tuple(found)


def in_top_k(targets: Any, predictions: Any, k: int) -> Any:
    """Whether the target is among the `k` most probable."""
    predictions = tf.cast(tensor(predictions), "float32")
    return tf.math.in_top_k(targets=tensor(targets), predictions=predictions, k=k)


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left") -> Any:
    """Where values would have to come in so that the row stays in order."""
    row, values = promoted(sorted_sequence, values)
    if rank_of(row, "searchsorted") != 1:
        fail("E1102", f"`searchsorted` searches a row, and got {row.shape.rank} axes")
    if side not in {"left", "right"}:
        fail("E1104", f'`side` of `searchsorted` is {side!r}, expected "left" or "right"')
    found = tf.searchsorted(row, tf.reshape(values, [-1]), side=side)
    return tf.reshape(found, tf.shape(values))


def digitize(x: Any, bins: Any) -> Any:
    """In which bin each value falls."""
    return searchsorted(bins, x, side="right")


def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    """`x1` where the condition holds, else `x2`; alone, the places where it holds."""
    condition = tf.cast(tensor(condition), "bool")
    if (x1 is None) != (x2 is None):
        fail("E1104", "`where` takes both `x1` and `x2`, or neither of them")
    if x1 is None:
        return nonzero(condition)
    return tf.where(condition, *promoted(x1, x2))


def nonzero(x: Any) -> Any:
    """The places of values that are not 0, a row for each axis."""
    x = tf.cast(tensor(x), "bool")
    return tuple(tf.unstack(tf.cast(tf.transpose(tf.where(x)), "int32"), num=rank_of(x, "nonzero")))


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The first choice whose condition holds."""
    if len(condlist) != len(choicelist):
        fail(
            "E1103",
            f"`select` got {len(condlist)} conditions and {len(choicelist)} choices",
        )
    *choices, out = promoted(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        out = tf.where(tf.cast(tensor(condition), "bool"), choice, out)
    return out


def take(x: Any, indices: Any, axis: Any = None) -> Any:
    """Values at places along an axis; those below 0 count from the end."""
    x, indices = tensor(x), tf.cast(tensor(indices), "int32")
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    size = tf.shape(x)[axis]
    return tf.gather(x, tf.where(indices < 0, indices + size, indices), axis=axis)


def _met(a: int | None, b: int | None) -> int | None:
    """The size of two axes that are spread to each other; None where it is not known."""
    if a in {1, None}:
        return b if a == 1 or b != 1 else None
    return a


def take_along_axis(x: Any, indices: Any, axis: Any = None) -> Any:
    """For each row its own places along an axis."""
    x, indices = tensor(x), tf.cast(tensor(indices), "int32")
    if axis is None:
        if rank_of(indices, "take_along_axis") != 1:
            fail("E1102", "`take_along_axis` without an axis takes a row of places")
        return take(tf.reshape(x, [-1]), indices, 0)
    rank = rank_of(x, "take_along_axis")
    axis = rounded_axis(axis, rank, "take_along_axis")
    if rank != indices.shape.rank:
        fail(
            "E1102",
            f"`take_along_axis` got {rank} axes and places with {indices.shape.rank}",
        )
    rows, places = moveaxis(x, axis, -1), moveaxis(indices, axis, -1)
    known = [_met(a, b) for a, b in zip(rows.shape[:-1], places.shape[:-1], strict=True)]
    lead = tf.broadcast_dynamic_shape(tf.shape(rows)[:-1], tf.shape(places)[:-1])

    def spread(v: Any) -> Any:
        wide = tf.broadcast_to(v, tf.concat([lead, tf.shape(v)[-1:]], 0))
        return tf.ensure_shape(wide, [*known, v.shape[-1]])

    rows, places = spread(rows), spread(places)
    places = tf.where(places < 0, places + tf.shape(rows)[-1], places)
    return moveaxis(tf.gather(rows, places, axis=-1, batch_dims=rank - 1), -1, axis)


def unique(
    x: Any,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    size: Any = None,
    fill_value: Any = None,
) -> Any:
    """Each value once."""
    for name, given in (("axis", axis), ("size", size), ("fill_value", fill_value)):
        if given is not None:
            unsupported(f"`unique` with `{name}` is not supported", "values are taken as one row")
    flat = tf.reshape(tensor(x), [-1])
    values, inverse, counts = tf.unique_with_counts(flat)
    order = tf.argsort(values, stable=True) if sorted else tf.range(tf.shape(values)[0])
    new = tf.scatter_nd(order[:, None], tf.range(tf.shape(order)[0]), tf.shape(order))
    out = [tf.gather(values, order)]
    inverse = tf.gather(new, inverse)
    if return_index:
        total = tf.shape(flat)[0]
        first = tf.math.unsorted_segment_min(tf.range(total), inverse, tf.shape(values)[0])
        out.append(first)
    if return_inverse:
        out.append(tf.reshape(inverse, tf.shape(tensor(x))))
    if return_counts:
        out.append(tf.gather(counts, order))
    return out[0] if len(out) == 1 else tuple(out)


def isin(x1: Any, x2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Whether each value of `x1` is among those of `x2`."""
    a, b = promoted(x1, x2)
    found = tf.reduce_any(tf.equal(a[..., None], tf.reshape(b, [-1])), axis=-1)
    return tf.logical_not(found) if invert else found


def bincount(x: Any, weights: Any = None, minlength: int = 0, sparse: bool = False) -> Any:
    """How often each number occurs, or the sum of its weights; rows by themselves."""
    need_dense(sparse, "bincount")
    x = tf.cast(tensor(x), "int32")
    if rank_of(x, "bincount") not in {1, 2}:
        fail("E1102", f"`bincount` got {x.shape.rank} axes, expected 1 or 2")
    length = tf.maximum(tf.reduce_max(x) + 1, minlength)
    hot = tf.one_hot(x, length, dtype="int32" if weights is None else tensor(weights).dtype)
    if weights is not None:
        hot = hot * tensor(weights)[..., None]
    return tf.reduce_sum(hot, axis=-2)


def histogram(x: Any, bins: int = 10, range: Any = None) -> tuple[Any, Any]:
    """How many values fall between neighbouring edges, and the edges."""
    if not isinstance(bins, int) or bins <= 0:
        fail("E1103", f"`bins` of `histogram` is {bins!r}, expected a number above 0")
    x = tf.reshape(as_float(x), [-1])
    if range:
        low, high = (tensor(v, x.dtype) for v in range)
    elif x.shape[0] == 0:
        low, high = tensor(0.0, x.dtype), tensor(1.0, x.dtype)
    else:
        low, high = tf.reduce_min(x), tf.reduce_max(x)
        same = tf.equal(low, high)
        low, high = tf.where(same, low - 0.5, low), tf.where(same, high + 0.5, high)
    edges = tf.linspace(low, high, bins + 1)
    inside = tf.logical_and(x >= low, x <= high)
    x = tf.boolean_mask(x, inside)
    # The last bin has its right edge, too.
    place = tf.minimum(tf.searchsorted(edges, x, side="right") - 1, bins - 1)
    return tf.math.bincount(place, minlength=bins), edges


_METHODS = {"linear", "lower", "higher", "midpoint", "nearest"}


def quantile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """The value below which a share `q` of all lies."""
    return _quantile("quantile", x, q, axis, method, keepdims)


def _quantile(op: str, x: Any, q: Any, axis: Any, method: str, keepdims: bool) -> Any:
    if method not in _METHODS:
        fail("E1104", f"`method` of `{op}` is {method!r}, expected one of {sorted(_METHODS)}")
    x = as_float(x)
    rank = rank_of(x, op)
    axes = (
        list(np.arange(rank)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    )
    axes = [rounded_axis(int(a), rank, op) for a in axes]
    rest = [a for a in np.arange(rank).tolist() if a not in axes]
    moved = tf.transpose(x, perm=[*rest, *axes])
    rows = tf.reshape(moved, tf.concat([tf.shape(moved)[: len(rest)], [-1]], 0))
    if rows.shape[-1] == 0 or 0 in [x.shape[a] for a in axes]:
        fail("E1103", f"`{op}` got no values", "a share of nothing is no value")
    gone = isnan(rows)
    shares = tensor(q, x.dtype)
    if op == "quantile":
        rows = tf.sort(rows, axis=-1)
        last = tf.cast(tf.shape(rows)[-1] - 1, x.dtype)
        broken = tf.reduce_any(gone, axis=-1, keepdims=True)

        def at(place: Any) -> Any:
            return tf.gather(rows, tf.cast(place, "int32"), axis=-1)
    else:  # what is no number comes last, and does not count
        rows = tf.sort(tf.where(gone, tf.constant(float("inf"), x.dtype), rows), axis=-1)
        there = tf.reduce_sum(tf.cast(tf.logical_not(gone), "int32"), axis=-1, keepdims=True)
        last = tf.cast(tf.maximum(there - 1, 0), x.dtype)
        broken = tf.equal(there, 0)

        def at(place: Any) -> Any:
            return tf.gather(rows, tf.cast(place, "int32"), axis=-1, batch_dims=len(rest))

    place = tf.reshape(shares, [-1]) * last
    below, above = tf.floor(place), tf.math.ceil(place)
    low, high = at(below), at(above)
    if method == "linear":
        out = low + (high - low) * (place - below)
    elif method == "midpoint":
        out = (low + high) / 2
    elif method == "nearest":
        out = at(tf.round(place))
    else:
        out = low if method == "lower" else high
    out = tf.where(broken, tf.constant(float("nan"), out.dtype), out)
    out = moveaxis(out, -1, 0)  # shares come first
    if keepdims:
        for a in sorted(axes):
            out = tf.expand_dims(out, a + 1)
    return tf.squeeze(out, axis=[0]) if shares.shape.rank == 0 else out


def percentile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """`quantile` in hundredths."""
    return quantile(x, tensor(q, as_float(x).dtype) / 100, axis, method, keepdims)


def median(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The value in the middle."""
    return quantile(x, 0.5, axis, "midpoint", keepdims)


def nanquantile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """`quantile` of all that are numbers."""
    return _quantile("nanquantile", x, q, axis, method, keepdims)


def nanpercentile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """`nanquantile` in hundredths."""
    return nanquantile(x, tensor(q, as_float(x).dtype) / 100, axis, method, keepdims)


def nanmedian(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The number in the middle of all that are numbers."""
    return nanquantile(x, 0.5, axis, "midpoint", keepdims)


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """Coordinates of places in the flattened tensor."""
    indices = tensor(indices)
    wide = indices if indices.dtype in {tf.int32, tf.int64} else tf.cast(indices, "int32")
    found = tf.unravel_index(tf.reshape(wide, [-1]), tf.constant(list(shape), wide.dtype))
    parts = tf.unstack(tf.cast(found, indices.dtype), num=len(shape))
    return tuple(tf.reshape(p, tf.shape(indices)) for p in parts)


def one_hot(
    x: Any, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False
) -> Any:
    """A one in the place of each class; zeros for what is no class."""
    need_dense(sparse, "one_hot")
    x = tensor(x)
    x = x if x.dtype.is_integer else tf.cast(x, "int32")
    return tf.one_hot(x, num_classes, axis=axis, dtype=dtype or floatx())


def multi_hot(
    inputs: Any,
    num_classes: int | None = None,
    axis: int = -1,
    dtype: Any = None,
    sparse: bool = False,
    **kwargs: Any,
) -> Any:
    """Ones in the places of all classes that a row names."""
    if kwargs:
        fail("E1104", f"`multi_hot` has no option `{next(iter(kwargs))}`")
    if num_classes is None:
        fail("E1104", "`multi_hot` needs `num_classes`")
    need_dense(sparse, "multi_hot")
    inputs = tensor(inputs)
    along = 1 if (inputs.shape.rank or 0) > 1 else 0
    return tf.reduce_max(one_hot(inputs, num_classes, axis, dtype), axis=along)
