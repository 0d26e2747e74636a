"""Samples with nothing in them: a result of the reference's shape, or a refusal, never a crash.

A size that a sample's shapes have becomes 0 wherever it stands, so that operands still fit together,
and each axis becomes 0 alone, so that they do not.
"""

import numpy as np
import pytest
import samples
from samples import case_id, cases
from slopes import tensors_of

import holdfast as tf

UNKNOWN_TO_NUMPY = (ValueError, TypeError, IndexError, ZeroDivisionError, np.linalg.LinAlgError)


class Sizes:
    """Replaces sizes of shapes, and notes those it saw."""

    def __init__(self, everywhere=None, alone=None):
        self.everywhere, self.alone = everywhere, alone
        self.seen = []

    def __call__(self, shape):
        first = len(self.seen)
        self.seen += shape
        return tuple(
            0 if n == self.everywhere or first + i == self.alone else n for i, n in enumerate(shape)
        )


def emptied():
    for function, sample in cases():
        sizes = Sizes()
        samples.call(function, sample, None, sizes)
        if sizes.seen:
            yield pytest.param(function, sample, sizes.seen, id=case_id((function, sample)))


def made(function, sample, sizes):
    """The call, or nothing where the sample's own expression does not work on empty arrays."""
    try:
        return samples.call(function, sample, None, sizes)
    except (ValueError, IndexError, ZeroDivisionError):
        return None


def expected(call):
    try:
        return call.expected() if call.record["reference"] else None
    except UNKNOWN_TO_NUMPY:  # then the shape is ours to say
        return None


def check_values(call, result):
    wanted = expected(call)
    if wanted is None:
        return
    got = tensors_of(result)
    listed = isinstance(result, (list, tuple)) and isinstance(wanted, (list, tuple))
    wanted = list(wanted) if listed else [wanted]
    assert len(got) == len(wanted)
    checks = call.record["checks"]
    for mine, theirs in zip(got, wanted, strict=True):
        theirs = np.asarray(theirs)
        assert tuple(mine.shape) == theirs.shape
        if theirs.size and theirs.dtype.kind in "fc":
            tolerance = {"rtol": checks["rtol"], "atol": checks["atol"]}
            values = np.asarray(mine.numpy())
            # What NumPy divides by nothing is NaN; here it may be 0.
            theirs = np.where(np.isnan(theirs) & (values == 0), 0, theirs)
            np.testing.assert_allclose(values, theirs, **tolerance)


def check_gradients(call):
    arrays = call.arrays()
    inputs = {i: tf.constant(a) for i, a in enumerate(arrays) if a.dtype.kind in "fc"}
    if not inputs:
        return
    with tf.GradientTape() as tape:
        tape.watch(list(inputs.values()))
        total = [tf.reduce_sum(y) for y in tensors_of(call.run(inputs)) if y.dtype.is_floating]
    for source, g in zip(inputs.values(), tape.gradient(total, list(inputs.values())), strict=True):
        if g is not None:
            assert tf.convert_to_tensor(g).shape == source.shape


def check(function, sample, sizes):
    call = made(function, sample, sizes)
    if call is None:
        return
    try:
        result = call.run()
    except tf.errors.OpError as refused:
        assert refused.code.startswith("E11"), refused
        return
    check_values(call, result)
    if function.record["checks"]["gradient"]:
        check_gradients(call)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of means of nothing
@pytest.mark.parametrize(("function", "sample", "seen"), list(emptied()))
def test_an_empty_sample_is_computed_or_refused(function, sample, seen):
    for size in sorted({n for n in seen if n > 0}):
        check(function, sample, Sizes(everywhere=size))
    for axis, n in enumerate(seen):
        if n > 0:
            check(function, sample, Sizes(alone=axis))
