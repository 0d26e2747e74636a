"""Where ops of a graph were asked to run, as tensors, variables and ops tell it."""

import pytest

import holdfast as tf

v1 = tf.compat.v1


@pytest.mark.parametrize("name", ["cpu:0", "/CPU:0", "/job:localhost/device:CPU:0"])
def test_tensors_and_variables_tell_where(name):
    with tf.Graph().as_default():
        with tf.device(name):
            variable = tf.Variable([1.0, 2.0])
            held = v1.get_variable("held", initializer=1.0)
            there = variable * 2.0
        for each in (variable, held, there, there.op):
            assert each.device == "/device:CPU:0"
        after = variable + 1.0
        assert after.device == after.op.device == ""
        assert tf.Variable(1.0).device == ""


def test_a_function_that_is_traced():
    seen = []

    @tf.function
    def f(x):
        with tf.device("/CPU:0"):
            y = x + 1.0
        seen.append((y.device, (y * 2.0).device))
        return y

    assert f(tf.constant(1.0)).device.endswith("/device:CPU:0")
    assert seen == [("/device:CPU:0", "")]
