"""Arrays in the form that models take: one-hot rows, unit rows, sequences of one length."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _holdfast
from ..._tensors.registry import function
from ...errors import fail

__all__ = ["normalize", "pad_sequences", "to_categorical"]


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Class numbers as rows with a one in the place of the class; a last axis of size 1 goes."""
    if isinstance(x, _holdfast.Tensor):
        if num_classes is None:
            num_classes = int(function("reduce_max")(x)) + 1
        if x.shape.rank is not None and x.shape.rank > 1 and x.shape[-1] == 1:
            x = function("squeeze")(x, axis=[-1])
        if x.dtype.is_floating:
            x = function("cast")(x, "int64")
        return function("one_hot")(x, num_classes)
    given = np.asarray(x)
    if given.size and given.dtype.kind not in "biuf":
        fail("E1104", f"`to_categorical` got values of the dtype {given.dtype}, expected classes")
    classes = given.astype(np.int64)
    shape = classes.shape[:-1] if classes.ndim > 1 and classes.shape[-1] == 1 else classes.shape
    flat = classes.reshape(-1)
    if not num_classes:
        if flat.size == 0:
            fail("E1104", "`to_categorical` got no classes, and no `num_classes`")
        num_classes = int(flat.max()) + 1
    wrong = flat[(flat < -num_classes) | (flat >= num_classes)]
    if wrong.size:
        fail(
            "E1103",
            f"`to_categorical` got the class {int(wrong[0])}, and there are {num_classes}",
            f"classes are numbers from 0 to {num_classes - 1}",
            fix="give `num_classes`, or leave it out to have it counted",
        )
    rows = np.zeros((flat.size, num_classes))
    rows[np.arange(flat.size), flat] = 1
    return rows.reshape((*shape, num_classes))


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """`x` divided by its norms along an axis; rows of zeros stay what they are."""
    if isinstance(x, _holdfast.Tensor):
        from ..ops.nn import normalize as normalized

        return normalized(x, axis=axis, order=order)
    x = np.asarray(x)
    norm = np.atleast_1d(np.linalg.norm(x, order, axis))
    norm[norm == 0] = 1
    return x / np.expand_dims(norm, -1 if axis is None else axis)


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Sequences as rows of one length: short ones are filled up, long ones are cut."""
    for name, side in (("padding", padding), ("truncating", truncating)):
        if side not in {"pre", "post"}:
            fail("E1104", f'`{name}` of `pad_sequences` is {side!r}, expected "pre" or "post"')
    if not hasattr(sequences, "__len__"):
        fail(
            "E1104",
            f"`sequences` is of type {type(sequences).__name__}, expected a list of sequences",
        )
    lengths = []
    for i, one in enumerate(sequences):
        if not hasattr(one, "__len__"):
            fail(
                "E1104",
                f"`sequences[{i}]` is {one!r}, expected a sequence",
                "each sequence is a list of steps",
                fix="for one sequence write `pad_sequences([sequence])`",
            )
        lengths.append(len(one))
    if maxlen is None:
        maxlen = max(lengths, default=0)
    text = isinstance(value, str)
    if text and dtype is not object and not np.issubdtype(dtype, np.character):
        fail(
            "E1104",
            f"`value` of `pad_sequences` is {value!r}, and `dtype` is {dtype}",
            fix="say `dtype=object` for texts",
        )
    step: Any = next((np.asarray(s).shape[1:] for s in sequences if len(s)), ())
    out = np.full((len(lengths), maxlen, *step), value, dtype=dtype)
    for i, one in enumerate(sequences):
        # With `maxlen` 0 nothing is left, where a slice from -0 on would take all.
        kept = one[max(len(one) - maxlen, 0) :] if truncating == "pre" else one[:maxlen]
        if not len(kept):
            continue
        steps = np.asarray(kept, dtype=dtype)
        if steps.shape[1:] != step:
            fail(
                "E1102",
                f"a step of `sequences[{i}]` has the shape {steps.shape[1:]}, expected {step}",
                "all steps have the shape of the first",
            )
        if padding == "post":
            out[i, : len(steps)] = steps
        else:
            out[i, maxlen - len(steps) :] = steps
    return out
