"""`tf.function(experimental_implements=...)`: a function of tensors alone."""

import copy
import pickle

import numpy as np
import pytest

import holdfast as tf

kinds = []


@tf.function(experimental_implements="scaled_sum")
def scaled(x, y, options=("plain", 2)):
    kinds.append((type(x), type(y)))
    return options[1] * x + y**2


def test_numbers_and_variables_are_given_as_tensors():
    v = tf.Variable(3.0)
    for x, y, want in ((1.0, 2.0, 6), (5.0, 1.0, 11), (v, 2.0, 10), (np.float32(2), v, 13)):
        assert scaled(x, y) == want
    assert scaled.experimental_get_tracing_count() == 1
    assert kinds == [(tf.Tensor, tf.Tensor)]
    v.assign(4.0)
    assert scaled(v, v) == 24
    assert scaled([1.0, 2.0][0], tf.constant([1.0, 2.0])).shape == (2,)


def test_gradients_reach_variables():
    x, y = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        z = scaled(x, y)
    assert [float(g) for g in tape.gradient(z, [x, y])] == [2, 4]


def test_a_concrete_function_and_a_call_inside_another():
    concrete = scaled.get_concrete_function(tf.TensorSpec(None), tf.TensorSpec(None))
    assert concrete(tf.constant(1.0), tf.constant(3.0)) == 11

    @tf.function
    def outer(x):
        return scaled(x, 3.0) + 1.0

    assert outer(tf.constant(1.0)) == 12


def test_what_is_no_argument_is_refused():
    held, v = tf.constant(2.0), tf.Variable(1.0)
    for use in (lambda x: x * held, lambda x: x + v):
        with pytest.raises(tf.errors.UnimplementedError, match="no arguments"):
            tf.function(use, experimental_implements="f")(1.0)


def test_copies_keep_it():
    again = pickle.loads(pickle.dumps(scaled))
    assert again is scaled and copy.copy(scaled) is scaled
