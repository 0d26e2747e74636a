"""Every registered function does what its record says: values, dtypes, gradients of both orders."""

import numpy as np
import pytest
import samples
import slopes
from samples import case_id, cases
from slopes import tensors_of

import holdfast as tf
from holdfast import _holdfast

CASES = cases()
REFERENCED = [case for case in CASES if case[0].record["reference"]]


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
    "float": ["float64", "float16", "complex128"],
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


# Gradients, along random directions, against central differences in float64 and complex128.


def ends_gradients(function):
    op = function.record["op"]
    return op is not None and _holdfast.raw_op_record(op)["no_gradient"]


def smooth(*words):
    for function, sample in CASES:
        if ends_gradients(function) or not function.record["checks"]["gradient"]:
            continue
        if any(word + "(" in sample for word in words):
            yield pytest.param(function, sample, id=case_id((function, sample)))


REAL = {"float": "float64"}
COMPLEX = {"float": "complex128", "complex": "complex128"}


@pytest.mark.parametrize(("function", "sample"), list(smooth("uniform", "positive")))
def test_the_gradient_is_the_slope(function, sample):
    slopes.check_first(slopes.Scalar(function, sample, REAL))


@pytest.mark.parametrize(("function", "sample"), list(smooth("uniform", "positive")))
def test_the_gradient_of_the_gradient_is_its_slope(function, sample):
    if not function.record["checks"]["second_gradient"]:
        pytest.skip("first order only")
    slopes.check_second(slopes.Scalar(function, sample, REAL))


@pytest.mark.parametrize(("function", "sample"), list(smooth("uniform", "positive", "complexes")))
def test_gradients_of_complex_numbers_are_slopes_to_the_second_order(function, sample):
    slopes.check_first(slopes.Scalar(function, sample, COMPLEX), directions=2)
    if function.record["checks"]["second_gradient"]:
        slopes.check_second(slopes.Scalar(function, sample, COMPLEX))
