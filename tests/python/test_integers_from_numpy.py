"""Wherever a list of integers is taken, an array of them does, and so does a number of NumPy's."""

import numpy as np
import pytest
import samples
from samples import case_id, cases
from slopes import tensors_of

import holdfast as tf

KINDS = ("sizes", "axes", "shape", "ints", "ints?", "int", "int?")


def as_numpy(value, dtype):
    """The argument in NumPy's terms, or as it is where it holds other things than integers."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return dtype(value)
    flat = isinstance(value, (list, tuple)) and all(
        isinstance(part, int) and not isinstance(part, bool) for part in value
    )
    return np.array(value, dtype) if flat and not isinstance(value, samples.Made) else value


def integer_arguments():
    for function, sample in cases():
        call = samples.call(function, sample)
        kinds = {p["name"]: p["kind"] for p in function.record["params"]}
        given = dict(zip(kinds, call.args, strict=False)) | call.kwargs
        names = [n for n, v in given.items() if kinds[n] in KINDS and changed(v)]
        if names:
            yield pytest.param(function, sample, names, id=case_id((function, sample)))


def changed(value):
    return type(as_numpy(value, np.int64)) is not type(value)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(("function", "sample", "names"), list(integer_arguments()))
def test_integers_may_come_in_arrays(function, sample, names, dtype):
    call = samples.call(function, sample)
    plain = call.run()
    order = [p["name"] for p in function.record["params"]]
    call.args = [
        as_numpy(v, dtype) if name in names else v
        for name, v in zip(order, call.args, strict=False)
    ]
    call.kwargs = {k: as_numpy(v, dtype) if k in names else v for k, v in call.kwargs.items()}
    for mine, theirs in zip(tensors_of(call.run()), tensors_of(plain), strict=True):
        assert mine.shape == theirs.shape
        assert mine.dtype == theirs.dtype
        if function.record["reference"]:
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_an_attribute_of_a_raw_op_may_be_one_too():
    x = tf.constant([[1.0, 2.0]])
    for dims in ([0], np.array([0]), np.array([0], np.int32)):
        assert tf.raw_ops.Squeeze(input=x, squeeze_dims=dims).shape == (2,)
    assert len(tf.raw_ops.Unpack(value=x, num=np.int64(2), axis=np.int32(1))) == 2
