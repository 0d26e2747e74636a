"""What a branch that is not taken leaves out reaches nobody, however deep it lies and whatever is known of it."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1
SHAPES = [None, [None], [2]]


def slope(build, feed, shape, order=1):
    """The derivative of `build(x)` at [1, 2], of which the graph knows `shape`."""
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, shape)
        y, fed = build(x), {}
        for _ in range(order):
            y = tf.gradients(y, x)[0]
        for name, value in feed.items():
            fed[v1.get_default_graph().get_tensor_by_name(f"{name}:0")] = value
        with v1.Session() as session:
            return session.run(y, {x: [1.0, 2.0], **fed}).tolist()


def yes(name):
    return v1.placeholder(tf.bool, name=name)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_branch_inside_a_branch(shape):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, shape)
        c, d = v1.placeholder(tf.bool), v1.placeholder(tf.bool)
        y = tf.cond(c, lambda: tf.cond(d, lambda: x * x, lambda: x), lambda: 3 * x * x * x)
        first = tf.gradients(y, x)[0]
        with v1.Session() as session:

            def at(*answers):
                return session.run(first, {c: answers[0], d: answers[1], x: [1, 2]}).tolist()

            assert at(True, True) == [2, 4]
            assert at(True, False) == [1, 1]
            assert at(False, True) == [9, 36]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("index", [0, 1, 2])
def test_one_of_three_to_the_second_order(shape, index):
    def build(x):
        i = v1.placeholder(tf.int32, name="i")
        return tf.switch_case(i, [lambda: x * x * x, lambda: 2 * x, lambda: tf.sin(x)])

    expected = [6 * np.array([1, 2.0]), [0.0, 0.0], -np.sin([1, 2.0])][index]
    np.testing.assert_allclose(slope(build, {"i": index}, shape, order=2), expected, rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("answer", "expected"), [(True, [3.0, 12.0]), (False, [3.0, 3.0])])
def test_a_branch_inside_a_loop(shape, answer, expected):
    def build(x):
        c = yes("c")
        body = lambda j, z: (j + 1, tf.cond(c, lambda: z * x, lambda: z + x))
        unknown = [tf.TensorShape([]), tf.TensorShape(shape)]
        return tf.while_loop(lambda j, z: j < 2, body, [0, x], shape_invariants=unknown)[1]

    assert slope(build, {"c": answer}, shape) == expected


def test_the_count_of_sufficient_statistics_is_a_tensor_of_the_graph():
    with tf.Graph().as_default():
        x = v1.placeholder_with_default(np.ones((3, 4), np.float32), [3, 4])
        count, total, squares, _ = tf.nn.sufficient_statistics(x, [0])
        mean, _ = tf.nn.normalize_moments(count, total, squares, None)
        with v1.Session() as session:
            assert session.run([count, mean])[1].tolist() == [1.0] * 4
            assert session.run(mean, {count: 6.0}).tolist() == [0.5] * 4
