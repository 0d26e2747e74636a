"""Blocks of space as batches: one number for square blocks, version 1's forms, blocks of no axes."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1
X = np.arange(2 * 4 * 6 * 3, dtype="float32").reshape(2, 4, 6, 3)
PADS = [[1, 1], [0, 2]]


@pytest.fixture
def there():
    return tf.space_to_batch(X, [2, 2], PADS)


@pytest.mark.parametrize("block", [2, np.int64(2), tf.constant(2)])
def test_one_number_is_a_square(there, block):
    np.testing.assert_array_equal(tf.space_to_batch(X, block, PADS), there)
    np.testing.assert_array_equal(tf.batch_to_space(there, block, PADS), X)


def test_version_1(there):
    for got in (
        v1.space_to_batch(X, PADS, 2),
        v1.space_to_batch(X, PADS, block_size=2),
        v1.space_to_batch(X, PADS, block_shape=[2, 2]),
        v1.nn.space_to_batch(X, paddings=PADS, block_size=2),
        v1.space_to_batch_nd(X, [2, 2], PADS),
        tf.raw_ops.SpaceToBatch(input=X, paddings=PADS, block_size=2),
    ):
        np.testing.assert_array_equal(got, there)
    for got in (
        v1.batch_to_space(there, PADS, 2),
        v1.batch_to_space(there, PADS, block_shape=[2, 2]),
        v1.batch_to_space_nd(there, [2, 2], PADS),
        tf.raw_ops.BatchToSpace(input=there, crops=PADS, block_size=2),
    ):
        np.testing.assert_array_equal(got, X)


def test_in_a_graph_with_a_size_that_comes_late(there):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32)
        block = v1.placeholder(tf.int32, [])
        y = tf.space_to_batch(x, block, PADS)
        slope = tf.gradients(tf.reduce_sum(y * y), x)[0]
        with v1.Session() as session:
            got, back = session.run([y, slope], {x: X, block: 2})
    np.testing.assert_array_equal(got, there)
    np.testing.assert_array_equal(back, 2 * X)


def test_blocks_of_no_axes():
    none = np.array([]), np.zeros([0, 2])
    for block, pads in (none, ([], np.zeros([0, 2], "int32"))):
        np.testing.assert_array_equal(tf.space_to_batch(X, block, pads), X)
        np.testing.assert_array_equal(tf.batch_to_space(X, block, pads), X)


def test_without_elements_a_dtype_says_nothing():
    x = tf.zeros([0, 4])
    assert tf.gather(x, []).shape == (0, 4)
    assert tf.gather(x, np.array([])).shape == (0, 4)
    assert tf.math.segment_sum(x, []).shape == (0, 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="float64"):
        tf.gather(x, np.array([0.0]))
