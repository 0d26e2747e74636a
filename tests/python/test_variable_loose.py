"""Variables that leave sizes, or their number, open."""

import copy
import pickle

import pytest

import holdfast as tf

ANY = tf.TensorShape(None)


def test_values_of_any_rank_come_and_go():
    v = tf.Variable([[1.0, 2.0]], shape=ANY)
    assert v.shape.rank is None and v.read_value().shape == [1, 2]
    assert repr(v) == (
        "<tf.Variable 'Variable:0' shape=<unknown> dtype=float32, "
        "numpy=array([[1., 2.]], dtype=float32)>"
    )
    v.assign(3.0)
    assert v.numpy() == 3 and v.read_value().shape == []
    assert (v + 1).numpy() == 4
    v.assign([1.0, 2.0, 3.0])
    assert v[1].numpy() == 2 and tf.reduce_sum(v).numpy() == 6


def test_open_sizes_are_kept_to():
    v = tf.Variable(tf.zeros([0, 3]), shape=[None, 3])
    for _ in range(2):
        v.assign(tf.concat([v, tf.ones([1, 3])], 0))
    assert v.shape.as_list() == [None, 3] and v.numpy().tolist() == [[1, 1, 1]] * 2
    with pytest.raises(ValueError, match=r"expected shape \[\?,3\]") as caught:
        v.assign([[1.0, 2.0]])
    assert caught.value.code == "E1102"
    with pytest.raises(ValueError, match="got the shape"):
        tf.Variable([[1.0, 2.0]], shape=[None, 3])


def test_a_function_sees_the_shape_of_each_call():
    v = tf.Variable([1.0, 2.0], shape=ANY)

    @tf.function
    def f(x):
        v.assign(x)
        return v * 2, tf.shape(v), tf.rank(v)

    # Often enough that plans made for these sizes run too.
    for value in ([1.0, 2.0, 3.0], [[1.0]], 5.0) * 3:
        doubled, shape, rank = f(tf.constant(value))
        assert doubled.numpy().tolist() == (tf.constant(value) * 2).numpy().tolist()
        assert shape.numpy().tolist() == tf.constant(value).shape and rank.numpy() == len(shape)
    assert f.experimental_get_tracing_count() <= 3


def test_a_function_that_only_reads_follows():
    v = tf.Variable([1.0, 2.0], shape=ANY)
    total = tf.function(lambda: tf.reduce_sum(v * v))
    for value in ([1.0, 2.0], [[3.0]], [[1.0], [1.0]], 4.0, [1.0, 2.0]):
        v.assign(value)
        assert total().numpy() == tf.reduce_sum(tf.square(value)).numpy()
    assert total.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("shape", [ANY, [None]])
@pytest.mark.parametrize("traced", [False, True])
def test_gradients(shape, traced):
    v = tf.Variable([1.0, 2.0], shape=shape)

    def slope():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        return tape.gradient(loss, v)

    run = tf.function(slope) if traced else slope
    for value in ([1.0, 2.0], [3.0], [4.0, 5.0, 6.0], [1.0, 2.0]):
        v.assign(value)
        assert run().numpy().tolist() == [2 * x for x in value]
    if shape is ANY:
        v.assign([[7.0]])
        assert run().numpy().tolist() == [[14.0]]


def test_jacobian():
    v = tf.Variable([1.0, 2.0], shape=ANY)
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.jacobian(y, v).numpy().tolist() == [[2, 0], [0, 4]]


@pytest.mark.parametrize("value", [[1.0], 1.0])
def test_an_update_does_not_change_the_shape(value):
    v = tf.Variable(value, shape=ANY)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \[3\], `Variable` \["):
        v.assign_add([1.0, 1.0, 1.0])
    assert v.numpy() == 1
    v.assign_sub(value)
    assert v.numpy() == 0


@pytest.mark.parametrize("shape", [ANY, [None]])
def test_parts_of_what_it_is_now(shape):
    v = tf.Variable([1.0, 2.0], shape=shape)

    @tf.function
    def change():
        v[1:].assign(v[1:] * 2)
        v.scatter_nd_add([[0]], [10.0])
        v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([1])))

    for value in ([1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0]):
        v.assign(value)
        change()
        assert v.numpy().tolist() == [11, 5, 6][: len(value)]


def test_parts_that_do_not_fit_any_more_are_refused():
    v = tf.Variable([1.0, 2.0, 3.0], shape=ANY)

    @tf.function
    def cut():
        v[1:].assign([7.0, 8.0])

    @tf.function
    def rows():
        v.scatter_update(tf.IndexedSlices(tf.constant([5.0]), tf.constant([0])))

    @tf.function
    def parts():
        v.scatter_nd_update([[0]], [6.0])

    for _ in range(3):
        cut(), rows(), parts()
    assert v.numpy().tolist() == [6, 7, 8]
    v.assign(tf.zeros([9]))
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \[2\], the slice \[8\]"):
            cut()
    v.assign(tf.zeros([9, 2]))
    for change in (rows, parts):
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                change()
    v.assign(1.0)
    for change in (cut, rows, parts):
        with pytest.raises(tf.errors.InvalidArgumentError):
            change()
    assert v.numpy() == 1


def test_copies_keep_the_loose_shape():
    v = tf.Variable([1.0], shape=ANY)
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        other.assign([[2.0]])
        assert other.shape.rank is None and v.numpy().tolist() == [1]


def test_set_shape_narrows():
    v = tf.Variable([1.0, 2.0], shape=ANY)
    v.set_shape([2])
    assert v.shape == [2]


def test_in_a_graph_and_its_sessions():
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], shape=ANY)
        grown = v.assign([[1.0], [2.0]])
        first = tf.compat.v1.Variable([1.0], validate_shape=False)
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            assert session.run(v).tolist() == [1, 2]
            session.run(grown)
            assert session.run(v + 1).tolist() == [[2], [3]]
            assert session.run(first.assign([3.0, 4.0])).tolist() == [3, 4]


def test_strings_too():
    v = tf.Variable(["a"], shape=ANY)
    v.assign("b")
    assert v.numpy() == b"b"
