"""Every registered function does what its record says: values, dtypes, gradients of both orders."""

import numpy as np
import pytest
import samples
from samples import case_id, cases

import holdfast as tf
from holdfast import _holdfast

CASES = cases()
REFERENCED = [case for case in CASES if case[0].record["reference"]]


def tensors_of(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def as_arrays(expected, count):
    if count == 1 and not (isinstance(expected, (list, tuple)) and len(expected) == 1):
        return [np.asarray(expected)]
    return [np.asarray(part) for part in expected]


def check(result, expected, rtol, atol):
    got = tensors_of(result)
    wanted = (
        as_arrays(expected, len(got))
        if isinstance(result, (list, tuple))
        else [np.asarray(expected)]
    )
    assert len(got) == len(wanted)
    for tensor, value in zip(got, wanted, strict=True):
        assert tuple(tensor.shape) == value.shape
        mine = np.asarray(tensor.numpy())
        if tensor.dtype == tf.string:  # NumPy's zero of an array of objects is the number
            value = np.where(value == 0, b"", value) if value.dtype == object else value
        if tensor.dtype.is_floating or tensor.dtype.is_complex:
            wide = np.complex128 if tensor.dtype.is_complex else np.float64
            np.testing.assert_allclose(mine.astype(wide), value.astype(wide), rtol, atol)
        else:
            np.testing.assert_array_equal(
                mine, value.astype(object if mine.dtype == object else value.dtype)
            )


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_a_sample_gives_what_its_reference_gives(case):
    function, sample = case
    call = samples.call(function, sample)
    result = call.run()
    if function.record["reference"]:
        checks = function.record["checks"]
        check(result, call.expected(), checks["rtol"], checks["atol"])


@pytest.mark.parametrize("case", REFERENCED, ids=case_id)
def test_the_same_call_gives_the_same_bits(case):
    call = samples.call(*case)
    for a, b in zip(tensors_of(call.run()), tensors_of(call.run()), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


OTHER_DTYPES = {
    "float": ["float64", "float16"],
    "int": ["int64", "int16", "int8", "uint8", "uint16", "uint32", "uint64"],
    "complex": ["complex128"],
}
LOOSE = {"float16": 2e-2}


def other_dtypes():
    for function, sample in REFERENCED:
        for kind, word in (
            ("float", "uniform|positive"),
            ("int", "ints"),
            ("complex", "complexes"),
        ):
            if any(w + "(" in sample for w in word.split("|")):
                for dtype in OTHER_DTYPES[kind]:
                    yield pytest.param(
                        function, sample, kind, dtype, id=f"{case_id((function, sample))}-{dtype}"
                    )


@pytest.mark.parametrize(("function", "sample", "kind", "dtype"), list(other_dtypes()))
def test_other_dtypes_give_what_the_reference_gives(function, sample, kind, dtype):
    call = samples.call(function, sample, {kind: dtype})
    try:
        result = call.run()
    except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError) as refused:
        if refused.code in ("E1101", "E1103", "E1105"):  # also numbers that the dtype cannot hold
            pytest.skip(f"does not take {dtype}")
        raise
    try:
        expected = call.expected()
    except (TypeError, ValueError) as failed:
        pytest.skip(f"the reference does not work in {dtype}: {failed}")
    checks = function.record["checks"]
    slack = LOOSE.get(dtype, 0)
    check(result, expected, max(checks["rtol"], slack), max(checks["atol"], slack))


# Gradients, along random directions, against central differences in float64.


def ends_gradients(function):
    op = function.record["op"]
    return op is not None and _holdfast.raw_op_record(op)["no_gradient"]


def differentiable():
    for function, sample in CASES:
        if ends_gradients(function) or not function.record["checks"]["gradient"]:
            continue
        if "uniform(" in sample or "positive(" in sample:
            yield pytest.param(function, sample, id=case_id((function, sample)))


class Scalar:
    """A function of the sample's floats: its outputs weighed and summed."""

    def __init__(self, function, sample):
        self.call = samples.call(function, sample, {"float": "float64"})
        self.rng = np.random.default_rng(5)
        self.at = {
            i: a for i, a in enumerate(self.call.arrays()) if a.dtype == np.float64 and a.size
        }
        if not self.at:
            pytest.skip("no float input")
        try:
            outputs = tensors_of(self.call.run())
        except tf.errors.InvalidArgumentError as refused:
            if refused.code == "E1101":
                pytest.skip("does not take float64")
            raise
        self.weights = [
            # An empty segment or an empty sum has the least float there is: no slope can be measured.
            self.rng.uniform(0.5, 1.5, tuple(y.shape)) * (np.abs(y.numpy()) < 1e30)
            if y.dtype == tf.float64
            else None
            for y in outputs
        ]
        if all(w is None or not w.size for w in self.weights):
            pytest.skip("no float output")

    def direction(self):
        return {i: self.rng.uniform(-1, 1, a.shape) for i, a in self.at.items()}

    def moved(self, direction, step):
        return {i: tf.constant(a + step * direction[i]) for i, a in self.at.items()}

    def value(self, inputs):
        total = tf.constant(0.0, tf.float64)
        for y, w in zip(tensors_of(self.call.run(inputs)), self.weights, strict=True):
            if w is not None:
                y = tf.where(w != 0, y, tf.zeros_like(y))
                total = total + tf.reduce_sum(y * w)
        return total

    def slope(self, inputs, along):
        """The derivative of `value` along a direction, as a tensor."""
        order = list(inputs)
        with tf.GradientTape() as tape:
            tape.watch(list(inputs.values()))
            y = self.value(inputs)
        found = tape.gradient(
            y, [inputs[i] for i in order], unconnected_gradients=tf.UnconnectedGradients.ZERO
        )
        total = tf.constant(0.0, tf.float64)
        for i, g in zip(order, found, strict=True):
            total = total + tf.reduce_sum(tf.convert_to_tensor(g) * along[i])
        return total


def close(mine, theirs, scale):
    assert mine == pytest.approx(theirs, rel=2e-4, abs=2e-5 * max(1.0, scale))


STEP = 1e-5


@pytest.mark.parametrize(("function", "sample"), list(differentiable()))
def test_the_gradient_is_the_slope(function, sample):
    scalar = Scalar(function, sample)
    for _ in range(3):
        d = scalar.direction()
        up, down = (float(scalar.value(scalar.moved(d, s))) for s in (STEP, -STEP))
        here = scalar.moved(d, 0)
        close(
            float(scalar.slope(here, d)), (up - down) / (2 * STEP), abs(float(scalar.value(here)))
        )


@pytest.mark.parametrize(("function", "sample"), list(differentiable()))
def test_the_gradient_of_the_gradient_is_its_slope(function, sample):
    if not function.record["checks"]["second_gradient"]:
        pytest.skip("first order only")
    scalar = Scalar(function, sample)
    d, along = scalar.direction(), scalar.direction()
    up, down = (float(scalar.slope(scalar.moved(d, s), along)) for s in (STEP, -STEP))
    inputs = scalar.moved(d, 0)
    order = list(inputs)
    with tf.GradientTape() as tape:
        tape.watch(list(inputs.values()))
        s = scalar.slope(inputs, along)
    found = tape.gradient(
        s, [inputs[i] for i in order], unconnected_gradients=tf.UnconnectedGradients.ZERO
    )
    mine = sum(
        float(tf.reduce_sum(tf.convert_to_tensor(g) * d[i]))
        for i, g in zip(order, found, strict=True)
    )
    close(mine, (up - down) / (2 * STEP), abs(float(s)))
