"""What the package's logger is told, and what it is not."""

import logging

import pytest

import holdfast as tf


def test_a_function_that_every_call_traces_is_told_of_twice(caplog):
    @tf.function
    def f(x):
        return x

    for i in range(4):
        f(i)
    assert not caplog.records
    f(4)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("holdfast", logging.WARNING)
    assert "each of the last 5 calls of `f` traced it: `x` was 3, now 4" in record.getMessage()
    for i in range(5, 20):
        f(i)
    assert len(caplog.records) == 2


def test_calls_that_trace_nothing_in_between_are_rest_enough(caplog):
    @tf.function
    def f(x):
        return x

    for i in range(8):
        for _ in range(5):
            f(i)
    assert not caplog.records


def test_nothing_is_printed_twice(capfd):
    f = tf.function(lambda x: x)
    for i in range(6):
        f(i)
    assert capfd.readouterr().err.count("now 4") == 0
    assert tf.get_logger().handlers and tf.get_logger().propagate


def test_a_refusal_of_numpy_is_ours():
    empty = tf.zeros([2**40, 2**30, 0], tf.int8)
    with pytest.raises(ValueError, match="NumPy has no arrays of shape"):
        empty.numpy()


def test_more_dimensions_than_there_may_be_are_refused():
    many = tf.reshape(tf.ones([]), [1] * 100)
    with pytest.raises(ValueError, match="NumPy has arrays of at most 64 dimensions"):
        many.numpy()
    with pytest.raises(BufferError, match="100 dimensions"):
        memoryview(many)
    assert tf.reduce_sum(many).numpy() == 1.0
    with pytest.raises(ValueError, match="Reshape: the result has 300 dimensions"):
        tf.reshape(many, [1] * 300)
    with pytest.raises(ValueError, match="dimensions"):
        tf.ones([1] * 300)


def test_an_attribute_that_is_no_list_of_numbers_is_refused_by_name():
    with pytest.raises(TypeError, match="attribute `\\w*shape\\w*` is"):
        tf.raw_ops.TensorListFromTensor(tensor=tf.ones([2]), element_shape=[[1], [2, "a"]])
