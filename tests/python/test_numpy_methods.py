"""Methods of NumPy's ufuncs called with tensors that have no value yet: the op that does the same, or a refusal."""

import numpy as np
import pytest

import holdfast as tf

X = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]], np.float32)

SAME = {
    "add.reduce": lambda x: np.add.reduce(x),
    "add.reduce over the last axis": lambda x: np.add.reduce(x, axis=-1),
    "add.reduce over all": lambda x: np.add.reduce(x, axis=None),
    "add.reduce that keeps its axis": lambda x: np.add.reduce(x, axis=1, keepdims=True),
    "multiply.reduce": lambda x: np.multiply.reduce(x, axis=1),
    "maximum.reduce": lambda x: np.maximum.reduce(x),
    "minimum.reduce": lambda x: np.minimum.reduce(x, axis=1),
    "add.accumulate": lambda x: np.add.accumulate(x, axis=1),
    "multiply.accumulate": lambda x: np.multiply.accumulate(x),
    "maximum.accumulate": lambda x: np.maximum.accumulate(x, axis=1),
    "minimum.accumulate": lambda x: np.minimum.accumulate(x),
    "multiply.outer": lambda x: np.multiply.outer(x[0], x[1]),
    "add.outer": lambda x: np.add.outer(x[0], x),
    "arctan2.outer": lambda x: np.arctan2.outer(x[0], x[1]),
    "sum": lambda x: np.sum(x, axis=0),
    "max": lambda x: np.max(x),
}


@pytest.mark.parametrize("name", SAME)
def test_a_method_of_a_ufunc_is_traced_where_an_op_does_the_same(name):
    found = tf.function(SAME[name])(tf.constant(X))
    expected = SAME[name](X)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_its_gradient_flows():
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = np.add.reduce(x * x)
        return tape.gradient(y, x)

    np.testing.assert_allclose(slope(tf.constant([1.0, 2.0])), [2.0, 4.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.logaddexp.reduce(x),
        lambda x: np.add.reduceat(x, [0, 1]),
    ],
)
def test_what_no_op_does_is_refused_by_name(call):
    with pytest.raises(tf.errors.DiagnosticError) as caught:
        tf.function(call)(tf.constant([1.0, 2.0]))
    assert "np." in str(caught.value)
