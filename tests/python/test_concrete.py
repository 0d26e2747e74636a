"""Concrete functions: one trace as an object that is called, shown and looked into."""

import numpy as np
import pytest

import holdfast as tf


@tf.function
def scaled(x, times=2):
    return x * times


def test_every_trace_is_a_concrete_function():
    @tf.function
    def f(x, times=2):
        return x * times

    assert f._list_all_concrete_functions() == []
    f(tf.constant(1.0))
    f(tf.constant([1.0, 2.0]), times=3)
    first, second = f._list_all_concrete_functions()
    assert float(first(tf.constant(5.0))) == 10.0
    np.testing.assert_array_equal(second(tf.constant([1.0, 2.0])), [3.0, 6.0])


def test_a_concrete_function_tells_what_it_takes_and_gives():
    one = scaled.get_concrete_function(tf.TensorSpec([None, 3]), times=4)
    (x, times), keywords = one.structured_input_signature
    assert (x.shape.as_list(), x.dtype, times, keywords) == ([None, 3], tf.float32, 4, {})
    assert one.structured_outputs.shape.as_list() == [None, 3]
    assert (one.name, len(one.inputs), len(one.outputs)) == ("scaled", 1, 1)
    np.testing.assert_array_equal(one(tf.ones((2, 3))), np.full((2, 3), 4.0))
    np.testing.assert_array_equal(one.inference_fn(tf.ones((1, 3)))[0], [[4.0, 4.0, 4.0]])


def test_a_concrete_function_takes_no_other_kind_of_argument():
    one = scaled.get_concrete_function(tf.TensorSpec([3]))
    with pytest.raises(ValueError, match=r"expected float32"):
        one(tf.ones((4,)))
    with pytest.raises(TypeError, match="was traced for `times=2`"):
        one(tf.ones((3,)), times=5)
