"""`capture_call_time_value`: what each call of a traced function asks a closure for."""

import numpy as np
import pytest

import holdfast as tf


def graph():
    return tf.compat.v1.get_default_graph()


def test_each_call_asks():
    held = {"scale": 2.0}
    traces = []

    @tf.function
    def f(x):
        traces.append(1)
        scale = graph().capture_call_time_value(lambda: held["scale"], tf.TensorSpec(None))
        return x * scale

    x = tf.constant([1.0, 3.0])
    np.testing.assert_array_equal(f(x), [2, 6])
    for scale in (5.0, tf.constant(7.0), np.float32(9)):
        held["scale"] = scale
        for _ in range(3):
            np.testing.assert_array_equal(f(x), np.array([1, 3]) * np.float32(scale))
    assert len(traces) == 1


def test_in_nested_functions_loops_and_gradients():
    value = tf.constant(3.0)

    @tf.function
    def inner(x):
        asked = graph().capture_call_time_value(lambda: value, tf.TensorSpec([]))
        return x * asked

    @tf.function
    def outer(x):
        total = tf.constant(0.0)
        for _ in tf.range(2):
            total += inner(x)
        return total

    x = tf.constant(2.0)
    for number in (3.0, 4.0):
        value = tf.constant(number)
        with tf.GradientTape() as tape:
            tape.watch([x, value])
            y = outer(x)
        assert y == 2 * 2 * number
        slopes = tape.gradient(y, [x, value])
        assert slopes[0] == 2 * number and slopes[1] == 4


def test_numbers_in_a_loop():
    value = 1.0
    traces = []

    @tf.function
    def f():
        traces.append(1)
        total, i = tf.constant(0.0), tf.constant(0)
        while i < 3:
            total += graph().capture_call_time_value(lambda: value, tf.TensorSpec([]))
            i += 1
        return total

    for value in (1.0, 1.0, 2.0, tf.constant(5.0), 2.0):
        assert f() == 3 * value
    assert len(traces) < 10


def test_a_key_stands_for_one_closure():
    def never():
        raise AssertionError("it has an answer already")

    @tf.function
    def f():
        spec = tf.TensorSpec([], tf.int32)
        one = graph().capture_call_time_value(lambda: 4, spec, key="k")
        return one + graph().capture_call_time_value(never, spec, key="k")

    assert f() == 8


def test_answers_are_held_against_the_specification():
    value = tf.constant([1.0])

    @tf.function
    def f():
        return graph().capture_call_time_value(lambda: value, tf.TensorSpec([None])) + 1.0

    np.testing.assert_array_equal(f(), [2])
    value = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(f(), [2, 3])
    for value in (tf.constant([1]), tf.constant(1.0)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="asks for at each call"):
            f()


def test_outside_of_its_trace_it_is_refused():
    @tf.function
    def f(x):
        return x

    done = f.get_concrete_function(tf.TensorSpec([])).graph
    with pytest.raises(tf.errors.UnimplementedError, match="outside of its trace"):
        done.capture_call_time_value(lambda: 1.0, tf.TensorSpec([]))
