"""What one part of a program sets does not reach where it has no business."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


# Seeds.


def draws(graph, ops):
    with v1.Session(graph=graph) as sess:
        return sess.run(ops)


def test_a_new_graph_has_no_seed_of_eager_code():
    tf.random.set_seed(7)
    drawn = []
    for _ in range(2):
        with tf.Graph().as_default() as graph:
            assert graph.seed is None
            drawn.append(draws(graph, tf.random.uniform([8])))
    assert (drawn[0] != drawn[1]).any()
    tf.random.set_seed(None)


@pytest.mark.parametrize("set_seed", [tf.random.set_seed, v1.set_random_seed])
def test_the_seed_of_a_graph_is_its_own(set_seed):
    tf.random.set_seed(1)
    first = tf.random.uniform([4]).numpy()
    tf.random.set_seed(1)
    drawn = []
    for _ in range(2):
        with tf.Graph().as_default() as graph:
            set_seed(5)
            assert graph.seed == 5
            drawn.append(draws(graph, [tf.random.uniform([4]), tf.random.uniform([4])]))
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0][0] != drawn[0][1]).any()
    np.testing.assert_array_equal(tf.random.uniform([4]), first)  # eager draws go on undisturbed
    tf.random.set_seed(None)


def test_parts_of_a_graph_have_the_graphs_seed():
    def numbers(eager_seed):
        tf.random.set_seed(eager_seed)
        with tf.Graph().as_default() as graph:
            graph.seed = 3
            inside = tf.cond(
                tf.constant(True), lambda: tf.random.uniform([4]), lambda: tf.zeros([4])
            )
            called = tf.function(lambda: tf.random.uniform([4]))()
            return draws(graph, [inside, called])

    np.testing.assert_array_equal(numbers(1), numbers(2))
    tf.random.set_seed(None)


def test_get_seed_says_what_an_op_would_get(graph):
    assert v1.get_seed(None) == (None, None)
    assert v1.get_seed(4) == (87654321, 4)
    v1.set_random_seed(2)
    assert v1.get_seed(4) == (2, 4)
    assert [v1.get_seed(None)[1] for _ in range(3)] == [0, 1, 2]
    v1.set_random_seed(0)
    assert v1.get_seed(0) == (0, 2**31 - 1)


# Collections.


@pytest.mark.parametrize("in_graph", [True, False])
def test_what_a_function_collects_stays_in_it(in_graph):
    with tf.Graph().as_default() if in_graph else tf.init_scope():
        v1.add_to_collection("x", 2)

        @tf.function
        def f():
            assert v1.get_collection("x")[-1] == 2
            v1.add_to_collection("x", 3)
            v1.add_to_collection("z", 7)
            assert v1.get_collection("x")[-2:] == [2, 3]
            assert v1.get_collection("z")[-1] == 7
            return tf.constant(1)

        f()
        assert v1.get_collection("x")[-1] == 2
        assert v1.get_collection("z") == []
        v1.get_default_graph().clear_collection("x")


# Variables without a value.


def test_a_variable_has_no_value_until_it_is_read(graph):
    a, b = tf.Variable(1.0, name="a"), tf.Variable([2.0], name="b")
    missing = v1.report_uninitialized_variables()
    known = [v1.is_variable_initialized(a), b.is_initialized()]
    with v1.Session() as sess:
        assert sess.run(missing).tolist() == [b"a", b"b"]
        assert sess.run(known) == [False, False]
        assert sess.run(a) == 1.0  # a read is enough
        assert sess.run(missing).tolist() == [b"b"]
        sess.run(b.initializer)
        assert sess.run(missing).tolist() == []
        assert sess.run(known) == [True, True]
    with v1.Session() as other:
        assert other.run(v1.report_uninitialized_variables([b])).tolist() == [b"b"]
        other.run(v1.global_variables_initializer())
        assert other.run(missing).size == 0


def test_a_question_in_a_branch_is_no_read(graph):
    v = tf.Variable(3.0)
    got = tf.cond(v.is_initialized(), lambda: tf.constant(1), lambda: tf.constant(2))
    with v1.Session() as sess:
        assert sess.run(got) == 2
        sess.run(v.initializer)
        assert sess.run(got) == 1


def test_eager_variables_have_their_value():
    v = tf.Variable(1.0)
    assert bool(v.is_initialized())
    assert bool(v1.is_variable_initialized(v))
    assert v1.report_uninitialized_variables([v]).numpy().tolist() == []


# Placeholders.


def test_a_placeholder_with_a_default_is_its_default_in_eager_code():
    x = v1.placeholder_with_default([1, 2], [None], name="x")
    assert x.numpy().tolist() == [1, 2]
    with tf.GradientTape() as tape:
        y = tf.constant(3.0)
        tape.watch(y)
        z = v1.placeholder_with_default(y, []) * 2
    assert tape.gradient(z, y) == 2.0


# Tapes.


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("trainable", [True, False])
def test_a_variable_that_is_its_own_target_has_gradient_one(persistent, trainable):
    v0, v1_ = tf.Variable(1.0), tf.Variable([2.0, 3.0], trainable=trainable)
    with tf.GradientTape(persistent=persistent) as tape:
        f = v1_
    found = tape.gradient(f, [v0, v1_])
    assert found[0] is None
    assert found[1].numpy().tolist() == [1.0, 1.0]


def test_a_target_that_is_a_source_counts_beside_others():
    v0, v = tf.Variable(1.0), tf.Variable([2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v0
    up = [tf.constant([5.0, 6.0]), tf.constant([1.0, 1.0])]
    found = tape.gradient([v, y], [v0, v], output_gradients=up)
    assert (found[0].numpy(), found[1].numpy().tolist()) == (5.0, [6.0, 7.0])
    assert tape.jacobian(v, [v])[0].numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    x = tf.constant(2.0)
    assert tape.gradient(x, [x])[0] == 1.0


@pytest.mark.parametrize("rows", [3, None])
def test_batch_jacobian_of_what_does_not_connect_is_zero(rows):
    @tf.function(input_signature=[tf.TensorSpec([rows, 2])])
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = tf.ones_like(x) * 3, tf.concat([x * x, x], 1)
        return tape.batch_jacobian(y, x), tape.batch_jacobian(z, x)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    none, some = f(x)
    assert none.shape == [3, 2, 2]
    assert not none.numpy().any()
    wanted = np.zeros([3, 4, 2])
    for i in range(2):
        wanted[:, i, i] = 2 * x.numpy()[:, i]
        wanted[:, 2 + i, i] = 1
    np.testing.assert_array_equal(some, wanted)


# Attributes.


def test_a_program_may_put_attributes_on_tensors(graph):
    import gc
    import weakref

    symbol = v1.placeholder(tf.float32, [])
    with tf.init_scope():
        pass
    symbol.mask = [1, 2]
    assert symbol.mask == [1, 2]

    class Holder:
        pass

    holder = Holder()
    holder.tensor = symbol
    symbol.holder = holder
    gone = weakref.ref(holder)
    del holder, symbol
    gc.collect()
    assert gone() is None


def test_attributes_of_eager_tensors_are_their_own():
    x, y = tf.constant(1.0), tf.constant(1.0)
    x.note = "x"
    assert not hasattr(y, "note")
    assert vars(x) == {"note": "x"}
    with pytest.raises(AttributeError):
        x.dtype = tf.int32
    del x.note
    assert not hasattr(x, "note")
