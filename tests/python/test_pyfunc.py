"""Python in the middle of a computation."""

import numpy as np
import pytest

import holdfast as tf


def test_py_function_gets_tensors_and_lets_gradients_through():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda t: t * t, [x], tf.float32)
    assert y.numpy().tolist() == [1, 4] and tape.gradient(y, x).numpy().tolist() == [2, 4]
    both = tf.py_function(func=lambda t: (t, 3), inp=[x], Tout=[tf.float32, tf.int32])
    assert isinstance(both, list) and both[1].dtype == tf.int32
    assert tf.py_function(lambda: None, [], []) == []
    assert tf.numpy_function(lambda: None, [], []) is None


def test_what_does_not_fit_tout_is_refused():
    with pytest.raises(TypeError):
        tf.py_function(lambda t: t, [tf.constant(1.0)], tf.int32)
    with pytest.raises(ValueError, match="expected 2"):
        tf.py_function(lambda: 1, [], [tf.int32, tf.int32])
    with pytest.raises(ZeroDivisionError):
        tf.py_function(lambda: 1 / 0, [], tf.int32)


def test_numpy_function_gets_arrays():
    seen = []
    y = tf.numpy_function(
        lambda a: (seen.append(type(a)), a * 2)[1], [tf.constant([1.0])], tf.float32
    )
    assert seen == [np.ndarray] and y.numpy().tolist() == [2]
