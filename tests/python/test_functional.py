"""`map_fn` and `vectorized_map`: no rows, rows of unknown number, what a function has to give."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


@pytest.mark.parametrize("traced", [False, True])
def test_no_rows_need_no_signature(traced):
    def both(row):
        return {"twice": row * 2, "sum": tf.reduce_sum(tf.cast(row, tf.float64))}

    def over(rows):
        return tf.map_fn(both, rows, fn_output_signature=None)

    run = tf.function(over) if traced else over
    found = run(tf.zeros([0, 3], tf.int32))
    assert found["twice"].shape == [0, 3] and found["twice"].dtype == tf.int32
    assert found["sum"].shape == [0] and found["sum"].dtype == tf.float64


def test_finding_out_what_no_rows_give_leaves_nothing_behind():
    seen = []

    def remember(row):
        seen.append(row)
        return row

    assert tf.map_fn(remember, tf.zeros([0, 2])).shape == [0, 2]
    assert seen == []


@pytest.mark.parametrize("traced", [False, True])
def test_another_structure_than_the_signature_says_is_refused(traced):
    def over(rows):
        return tf.map_fn(lambda x: (x, -x), rows, fn_output_signature=[tf.int32, tf.int32])

    run = tf.function(over) if traced else over
    with pytest.raises(TypeError, match="list"):
        run(tf.range(3))
    pairs = tf.map_fn(lambda x: (x, -x), tf.range(3), fn_output_signature=(tf.int32, tf.int32))
    assert isinstance(pairs, tuple) and pairs[1].numpy().tolist() == [0, -1, -2]


@pytest.mark.parametrize("traced", [False, True])
def test_numbers_take_the_dtype_of_the_signature_and_tensors_have_to_have_it(traced):
    def over(rows):
        kinds = {"one": tf.float16, "half": tf.TensorSpec([], tf.float64), "same": tf.int32}
        given = {"one": 1, "half": 0.5}
        return tf.map_fn(lambda x: given | {"same": x}, rows, fn_output_signature=kinds)

    def other(rows):
        return tf.map_fn(lambda x: tf.cast(x, tf.int64), rows, fn_output_signature=tf.float32)

    run, refused = (tf.function(over), tf.function(other)) if traced else (over, other)
    found = run(tf.range(2))
    assert [t.dtype for t in found.values()] == [tf.float16, tf.float64, tf.int32]
    assert [t.numpy().tolist() for t in found.values()] == [[1.0, 1.0], [0.5, 0.5], [0, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="int64.*float32"):
        refused(tf.range(2))


@pytest.mark.parametrize("known", [False, True])
def test_one_row_stands_for_as_many_as_there_are(known):
    graph = tf.Graph()
    with graph.as_default():
        one, three = tf.constant([[3.5, 1.0]]), tf.constant([[-2.0, 0.0], [6.0, 1.0], [9.0, 2.0]])
        if not known:
            one = v1.placeholder_with_default(one, None)
            three = v1.placeholder_with_default(three, None)
        sums = [tf.vectorized_map(sum, pair) for pair in ((one, three), (three, one), (one, one))]
        with v1.Session() as session:
            found = session.run(sums)
    want = np.array([[1.5, 1.0], [9.5, 2.0], [12.5, 3.0]])
    np.testing.assert_allclose(found[0], want)
    np.testing.assert_allclose(found[1], want)
    np.testing.assert_allclose(found[2], [[7.0, 2.0]])


def test_rows_of_two_other_numbers_are_refused_when_they_are_known():
    graph = tf.Graph()
    with graph.as_default():
        two = v1.placeholder(tf.float32)
        three = v1.placeholder(tf.float32)
        both = tf.vectorized_map(sum, (two, three))
        with v1.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(both, {two: [1.0, 2.0], three: [1.0, 2.0, 3.0]})


def test_some_numbers_of_rows_are_known():
    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([3, 2])])
    def both(a, b):
        return tf.vectorized_map(lambda rows: rows[0] * rows[1], (a, b))

    b = tf.reshape(tf.range(6.0), [3, 2])
    np.testing.assert_allclose(both(tf.ones([1, 2]) * 2.0, b), b * 2.0)
    np.testing.assert_allclose(both(b, b), b * b)


def _looped(step):
    def row(x):
        return tf.while_loop(lambda k, a: k < 3.0, lambda k, a: (k + 1, step(k, a, x)), (0.0, x))[1]

    return row


DATA = np.array([0.5, -1.0, 2.0], np.float32)
ROWS = {
    "a constant in a loop": _looped(lambda k, a, x: a * 2),
    "the counter of a loop": _looped(lambda k, a, x: a + (x - k) ** 2),
    "the row in a loop": _looped(lambda k, a, x: a * x),
    "a scan over an array": lambda x: tf.reduce_sum(
        tf.scan(lambda _, y: (x - y) ** 2, DATA, tf.constant(0.0))
    ),
    "a fold": lambda x: tf.foldl(lambda a, y: a * y + x, DATA, tf.constant(1.0)),
    "a branch with constants": lambda x: tf.cond(x > 1, lambda: 3 * x * x, lambda: 2 - x),
    "a loop in a branch": lambda x: tf.cond(x > 1, lambda: ROWS["a constant in a loop"](x), lambda: x),
}  # fmt: skip


@pytest.mark.parametrize("orders", [1, 2])
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", ROWS)
def test_gradients_of_rows_are_those_of_map_fn(name, traced, orders):
    """Also where the gradient needs constants that the code for one row does not hold."""

    def slopes(mapped):
        def over(rows):
            with tf.GradientTape() as outer:
                outer.watch(rows)
                with tf.GradientTape() as inner:
                    inner.watch(rows)
                    y = mapped(ROWS[name], rows)
                first = inner.gradient(y, rows)
            return first if orders == 1 else outer.gradient(first, rows, unconnected_gradients="zero")  # fmt: skip

        run = tf.function(over) if traced else over
        return run(tf.constant([0.5, 1.5, -2.0]))

    expected = slopes(tf.map_fn)
    np.testing.assert_allclose(slopes(tf.vectorized_map), expected, rtol=1e-5)


TWO, THREE = np.array([1, 2], np.int32), np.array([1, 2, 3], np.int32)
OVER_ROWS = {
    "map_fn": lambda a, b: tf.map_fn(lambda r: r[0] + r[1], (a, b), fn_output_signature=tf.int32),
    "foldl": lambda a, b: tf.foldl(lambda s, r: s + r[0] + r[1], (a, b), initializer=0),
    "foldr": lambda a, b: tf.foldr(lambda s, r: s + r[0] + r[1], (a, b), initializer=0),
    "scan": lambda a, b: tf.scan(lambda s, r: s + r[0] + r[1], (a, b), initializer=0),
}


@pytest.mark.parametrize("name", OVER_ROWS)
@pytest.mark.parametrize("known", [False, True])
def test_elements_have_as_many_rows_each(name, known):
    over = OVER_ROWS[name]
    size = {} if known else {"input_signature": [tf.TensorSpec([None], tf.int32)] * 2}
    traced = tf.function(over, **size)
    error = ValueError if known else tf.errors.InvalidArgumentError
    for a, b in ((TWO, THREE), (THREE, TWO)):
        with pytest.raises(error, match="rows"):
            traced(tf.constant(a), tf.constant(b))
        with pytest.raises(ValueError, match="have . and . rows"):
            over(tf.constant(a), tf.constant(b))
    np.testing.assert_array_equal(traced(THREE, THREE), over(THREE, THREE))


def _sums(ragged, tensor):
    def both(rows):
        return tf.reduce_sum(rows[0]) + rows[1]

    return tf.map_fn(both, (ragged, tensor), fn_output_signature=tf.int32)


def test_a_ragged_tensor_has_as_many_rows_as_what_is_beside_it():
    ragged = tf.ragged.constant([[1, 2], [3]], dtype=tf.int32)
    with pytest.raises(ValueError, match="have 2 and 3 rows"):
        _sums(ragged, THREE)
    kinds = [tf.RaggedTensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)]
    traced = tf.function(_sums, input_signature=kinds)
    assert traced(ragged, TWO).numpy().tolist() == [4, 5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many rows"):
        traced(ragged, THREE)


def test_no_rows_of_a_ragged_tensor():
    none = tf.ragged.constant([], ragged_rank=1, dtype=tf.int32)
    assert tf.map_fn(tf.reduce_sum, none, fn_output_signature=tf.int32).shape == [0]
    wide = tf.TensorSpec([3], tf.float32)
    assert tf.map_fn(lambda _: tf.zeros([3]), none, fn_output_signature=wide).shape == [0, 3]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("size", "expected"), [(3, 3), (None, 0)])
def test_no_rows_give_a_sparse_tensor_of_none(traced, size, expected):
    def over(rows):
        kind = tf.SparseTensorSpec([size], tf.int32)
        return tf.map_fn(tf.sparse.from_dense, rows, fn_output_signature=kind)

    run = (
        tf.function(over, input_signature=[tf.TensorSpec([None, 3], tf.int32)]) if traced else over
    )
    assert run(tf.zeros([0, 3], tf.int32)).dense_shape.numpy().tolist() == [0, expected]
    assert run(tf.ones([2, 3], tf.int32)).dense_shape.numpy().tolist() == [2, 3]
