"""TensorArray: pieces of several lengths, and copies that wait for what was to run before."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


@pytest.mark.parametrize("traced", [False, True])
def test_pieces_of_several_lengths(traced):
    def f(x):
        array = tf.TensorArray(tf.float32, size=3).split(x, [2, 0, 3])
        return array.read(0), array.read(1), array.read(2), array.concat()

    x = tf.constant(np.arange(10.0, dtype="float32").reshape(5, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, none, rest, whole = (tf.function(f) if traced else f)(x)
        loss = tf.reduce_sum(first) + 3 * tf.reduce_sum(rest) + tf.reduce_sum(whole)
    np.testing.assert_array_equal(first, x[:2])
    assert none.shape == (0, 2)
    np.testing.assert_array_equal(rest, x[2:])
    np.testing.assert_array_equal(whole, x)
    np.testing.assert_array_equal(tape.gradient(loss, x), [[2, 2]] * 2 + [[4, 4]] * 3)


def test_what_is_known_of_pieces():
    x = tf.ones([4, 3])
    alike = tf.TensorArray(tf.float32, size=2).split(x, [2, 2])
    assert alike.element_shape == (2, 3) and alike.stack().shape == (2, 2, 3)
    mixed = tf.TensorArray(tf.float32, size=2)
    mixed.split(x, [1, 3])  # eager code may go on with the old name
    assert mixed.element_shape.as_list() == [None, 3] and mixed.read(1).shape == (3, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="TensorArray"):
        tf.TensorArray(tf.float32, size=2, element_shape=[1, 3]).split(x, [1, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="dynamic_size"):
        tf.TensorArray(tf.float32, size=1).split(x, [1, 3])


def test_texts_without_elements():
    array = tf.TensorArray(tf.string, size=2).split([], [0, 0])
    assert array.read(1).dtype == tf.string
    array = tf.TensorArray(tf.string, size=3).unstack(np.zeros([3, 0], "S8"))
    assert array.stack().shape == (3, 0)


def test_a_copy_waits_for_what_is_to_run_before():
    with tf.Graph().as_default():
        count = tf.Variable(0)
        given = v1.placeholder(tf.float32, [2])
        array = tf.TensorArray(tf.float32, size=2).unstack(given)
        with tf.control_dependencies([count.assign_add(1)]):
            copy = array.identity()
        both = copy.stack() * [2.0, 5.0]
        slope = tf.gradients(both, given)[0]
        with v1.Session() as session:
            session.run(count.initializer)
            np.testing.assert_array_equal(session.run(both, {given: [1, 2]}), [2, 10])
            assert session.run(count) == 1
            np.testing.assert_array_equal(session.run(slope, {given: [1, 2]}), [2, 5])
            before = session.run(count)
            assert session.run(copy.size(), {given: [1, 2]}) == 2
            assert session.run(count) == before + 1


def test_a_length_that_is_known_is_part_of_the_stacked_shape():
    shapes = []

    @tf.function
    def stacked(n):
        fixed = tf.TensorArray(tf.float32, size=3).write(1, [1.0, 2.0])
        grows = tf.TensorArray(tf.float32, size=3, dynamic_size=True).write(4, [1.0, 2.0])
        rows = tf.TensorArray(tf.float32, size=3).unstack(tf.ones([n, 2]))
        more = tf.TensorArray(tf.float32, size=3).unstack(tf.ones([5, 2]))
        found = [array.stack() for array in (fixed, grows, rows, more)]
        shapes.extend(t.shape.as_list() for t in found)
        return found

    found = stacked(tf.constant(4))
    assert shapes == [[3, 2], [None, 2], [None, 2], [5, 2]]
    assert [t.shape.as_list() for t in found] == [[3, 2], [5, 2], [4, 2], [5, 2]]
