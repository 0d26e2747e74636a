"""Gradients of a call of a traced function are those of its code: rows where a variable's rows are
read, and none where no path leads."""

import numpy as np
import pytest

import holdfast as tf


def gradient(f, x, source=None, pick=lambda y: y):
    source = x if source is None else source
    with tf.GradientTape() as tape:
        if source is x:
            tape.watch(x)
        y = pick(f(x))
    return tape.gradient(y, source)


def table():
    return tf.Variable(np.arange(10, dtype="f").reshape(5, 2))


def lookups():
    return {
        "gather": lambda v, i: tf.gather(v, i),
        "embedding_lookup": lambda v, i: tf.nn.embedding_lookup(v, i),
        "sparse_read": lambda v, i: v.sparse_read(i),
        "squared": lambda v, i: tf.gather(v, i) ** 2,
        "twice": lambda v, i: tf.concat([tf.gather(v, i), tf.gather(v, i + 1)], 0),
    }


@pytest.mark.parametrize("name", lookups())
def test_rows_of_a_variable_have_a_gradient_of_rows(name):
    v, look = table(), lookups()[name]
    ids = tf.constant([1, 3, 1])
    expected = gradient(lambda i: tf.reduce_sum(look(v, i)), ids, v)
    found = gradient(tf.function(lambda i: tf.reduce_sum(look(v, i))), ids, v)
    assert isinstance(expected, tf.IndexedSlices) and isinstance(found, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(found), tf.convert_to_tensor(expected))
    np.testing.assert_array_equal(found.dense_shape, [5, 2])


def test_rows_and_the_whole_add_up_to_a_dense_gradient():
    v = table()
    f = tf.function(lambda i: tf.reduce_sum(tf.gather(v, i)) + tf.reduce_sum(v * 2.0))
    found = gradient(f, tf.constant([0]), v)
    np.testing.assert_array_equal(found, [[3, 3]] + [[2, 2]] * 4)


def test_rows_of_several_calls_are_joined():
    v = table()
    f = tf.function(lambda i: tf.reduce_sum(tf.gather(v, i)))
    with tf.GradientTape() as tape:
        y = f(tf.constant([1])) + 3.0 * f(tf.constant([4])) + tf.reduce_sum(tf.gather(v, [2]))
    found = tape.gradient(y, v)
    assert sorted(found.indices.numpy()) == [1, 2, 4]
    np.testing.assert_array_equal(tf.convert_to_tensor(found)[:, 0], [0, 1, 1, 0, 3])


def test_a_tensor_has_a_dense_gradient():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    found = gradient(tf.function(lambda t: tf.reduce_sum(tf.gather(t, [1]))), x)
    np.testing.assert_array_equal(found, [[0, 0], [1, 1]])


def test_an_optimizer_changes_the_rows_that_were_read():
    v = table()
    f = tf.function(lambda i: tf.reduce_sum(tf.gather(v, i)))
    with tf.GradientTape() as tape:
        y = f(tf.constant([1, 1]))
    tf.compat.v1.train.GradientDescentOptimizer(0.5).apply_gradients([(tape.gradient(y, v), v)])
    np.testing.assert_array_equal(v.numpy()[:2], [[0, 1], [1, 2]])


def test_second_gradients_go_through_the_rows():
    v = table()
    f = tf.function(lambda i: tf.reduce_sum(tf.gather(v, i) ** 3))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(tf.constant([2, 4]))
        first = inner.gradient(y, v)
        assert isinstance(first, tf.IndexedSlices)
        total = tf.reduce_sum(first.values)
    second = tf.convert_to_tensor(outer.gradient(total, v))
    np.testing.assert_allclose(second[2], 6 * v.numpy()[2])
    np.testing.assert_allclose(second[4], 6 * v.numpy()[4])
    np.testing.assert_array_equal(second[0], [0, 0])


def test_a_persistent_tape_gives_rows_each_time():
    v = table()
    f = tf.function(lambda i: tf.reduce_sum(tf.gather(v, i) ** 2))
    with tf.GradientTape(persistent=True) as tape:
        y = f(tf.constant([2]))
    for _ in range(2):
        found = tape.gradient(y, v)
        assert isinstance(found, tf.IndexedSlices)
        np.testing.assert_array_equal(found.values, [[8, 10]])


# Paths.


CUT = {
    "map": lambda x: tf.stop_gradient(tf.map_fn(lambda a: a * 2.0, x)),
    "map_inside": lambda x: tf.map_fn(lambda a: tf.stop_gradient(a) * 2.0, x),
    "branch": lambda x: tf.stop_gradient(tf.cond(x[0] > 0.0, lambda: x, lambda: -x)),
    "branch_inside": lambda x: tf.cond(
        x[0] > 0.0, lambda: tf.stop_gradient(x), lambda: tf.stop_gradient(-x)
    ),
    "loop": lambda x: tf.stop_gradient(
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), (0, x))[1]
    ),
    "scan": lambda x: tf.stop_gradient(tf.scan(lambda a, b: a + b, x)),
    "cast": lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32),
}


@pytest.mark.parametrize("name", CUT)
def test_a_cut_path_has_no_gradient_in_any_call(name):
    x = tf.constant([1.0, 2.0])
    f = tf.function(CUT[name])
    assert gradient(CUT[name], x) is None
    assert gradient(f, x) is None
    assert gradient(f, x) is None  # what leaves the first call is not asked for


def test_an_output_has_only_the_gradients_that_lead_to_it():
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    @tf.function
    def f(x):
        return {"v": v * x, "w": w * x, "none": tf.constant(1.0)}

    x = tf.constant(5.0)
    assert gradient(f, x, v, lambda y: y["v"]).numpy() == 5.0
    assert gradient(f, x, v, lambda y: y["w"]) is None
    assert gradient(f, x, w, lambda y: y["w"]).numpy() == 5.0
    assert gradient(f, x, x, lambda y: y["w"]).numpy() == 3.0
    assert gradient(f, x, x, lambda y: y["none"]) is None
    both = gradient(f, x, v, lambda y: y["v"] + y["w"])
    assert both.numpy() == 5.0


def test_a_gradient_of_ones_own_need_not_look_at_what_arrives():
    @tf.custom_gradient
    def always(x):
        return x * 1.0, lambda dy: tf.constant(7.0)

    f = tf.function(lambda x: (x * 2.0, always(x)))
    x = tf.constant(1.0)
    assert gradient(f, x, x, lambda y: y[1]).numpy() == 7.0
