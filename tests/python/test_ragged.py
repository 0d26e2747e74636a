"""Ragged tensors against plain Python lists."""

import functools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import holdfast as tf

rows_of_ints = st.lists(st.lists(st.integers(-9, 9), max_size=4), min_size=1, max_size=5)


def made(rows, dtype=tf.int32):
    return tf.ragged.constant(rows, dtype=dtype, ragged_rank=1)


@hypothesis.given(rows_of_ints)
@hypothesis.settings(max_examples=30, deadline=None)
def test_elements_rows_and_sums_are_those_of_lists(rows):
    rt = made(rows)
    assert rt.to_list() == rows
    assert (rt * 2 - 1).to_list() == [[2 * x - 1 for x in row] for row in rows]
    assert (rt > 0).to_list() == [[x > 0 for x in row] for row in rows]
    assert tf.reduce_sum(rt, axis=1).numpy().tolist() == [sum(row) for row in rows]
    width = max(map(len, rows))
    columns = [sum(row[i] for row in rows if i < len(row)) for i in range(width)]
    assert tf.reduce_sum(rt, axis=0).numpy().tolist() == columns
    assert rt.row_lengths().numpy().tolist() == [len(row) for row in rows]
    padded = [row + [7] * (width - len(row)) for row in rows]
    assert rt.to_tensor(7).numpy().tolist() == padded
    assert tf.concat([rt, rt], axis=1).to_list() == [row + row for row in rows]
    assert tf.concat([rt, rt], axis=0).to_list() == rows + rows
    assert tf.stack([rt, rt], axis=0).to_list() == [rows, rows]
    assert tf.reverse(rt, [1]).to_list() == [row[::-1] for row in rows]
    back = list(range(len(rows)))[::-1]
    assert tf.gather(rt, back).to_list() == rows[::-1]


@hypothesis.given(
    rows_of_ints,
    st.slices(5),
    st.integers(-5, 5),
    st.integers(-5, 5),
    st.sampled_from([1, 2, -1, None]),
)
@hypothesis.settings(max_examples=40, deadline=None)
def test_slices_are_those_of_lists(rows, outer, start, stop, step):
    rt = made(rows)
    assert rt[outer].to_list() == rows[outer]
    assert rt[:, start:stop:step].to_list() == [row[start:stop:step] for row in rows]
    assert rt[-1].numpy().tolist() == rows[-1]


@hypothesis.given(rows_of_ints)
@hypothesis.settings(max_examples=15, deadline=None)
def test_a_function_computes_the_same(rows):
    def compute(x):
        y = x + tf.cast(x.row_lengths()[:, None], tf.int32)
        return y[:, 1:], tf.reduce_max(x, 1), y.to_tensor(), tf.expand_dims(x, 1), x.to_sparse()

    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    traced = tf.function(compute, input_signature=[spec])
    eager, graph = compute(made(rows)), traced(made(rows))
    for a, b in zip(
        tf.nest.flatten(eager, expand_composites=True),
        tf.nest.flatten(graph, expand_composites=True),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_every_way_to_say_the_rows_makes_the_same():
    values, rows = [3, 1, 4, 1, 5], [[3], [], [1, 4, 1], [5]]
    make = tf.RaggedTensor
    for found in (
        make.from_row_splits(values, [0, 1, 1, 4, 5]),
        make.from_row_lengths(values, [1, 0, 3, 1]),
        make.from_row_starts(values, [0, 1, 1, 4]),
        make.from_row_limits(values, [1, 1, 4, 5]),
        make.from_value_rowids(values, [0, 2, 2, 2, 3]),
        make.from_tensor([[3, 0, 0], [0, 0, 0], [1, 4, 1], [5, 0, 0]], padding=0),
        make.from_tensor([[3, 9, 9], [9, 9, 9], [1, 4, 1], [5, 9, 9]], lengths=[1, 0, 3, 1]),
        make.from_sparse(tf.sparse.from_dense([[3, 0, 0], [0, 0, 0], [1, 4, 1], [5, 0, 0]])),
    ):
        assert found.to_list() == rows
        assert found.row_splits.dtype == tf.int64
    assert make.from_uniform_row_length(values[:4], 2).shape == (2, 2)
    nested = make.from_nested_row_splits(values, [[0, 1, 1, 3], [0, 1, 2, 5]])
    assert nested.to_list() == [[[3]], [], [[1], [4, 1, 5]]]
    assert nested.ragged_rank == 2 and nested.shape.as_list() == [3, None, None]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2]),
        lambda: tf.RaggedTensor.from_row_splits([1, 2, 3], [1, 3]),
        lambda: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 1, 3]),
        lambda: tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 2]),
        lambda: tf.RaggedTensor.from_row_lengths([1, 2, 3], [4, -1]),
        lambda: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 1]),
        lambda: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 1, 2], nrows=2),
        lambda: tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2),
        lambda: tf.RaggedTensor.from_row_splits([1], [0.0, 1.0]),
        lambda: tf.RaggedTensor.from_row_splits(5, [0, 1]),
        lambda: tf.RaggedTensor([1], [0, 1]),
        lambda: tf.ragged.constant([1, [2]]),
        lambda: made([[1, 2], [3]])[:, 0],
        lambda: made([[1, 2], [3]])[2],
        lambda: made([[1, 2], [3]]) + made([[1], [2, 3]]),
        lambda: made([[1, 2], [3]]) + tf.constant([[1, 2, 3]]),
        lambda: tf.gather(made([[1, 2], [3]]), [5]),
        lambda: tf.reduce_sum(made([[1]]), axis=4),
        lambda: made([[1]]).with_values([1, 2]),
        lambda: tf.convert_to_tensor(made([[1]])),
        lambda: bool(made([[1]])),
        lambda: tf.concat([made([[1]]), made([[1], [2]])], axis=1),
    ],
)
def test_what_is_wrong_is_refused(make):
    with pytest.raises((ValueError, TypeError, IndexError)) as caught:
        make()
    assert "error[E" in str(caught.value)


def test_bad_splits_are_refused_when_a_graph_runs():
    @tf.function
    def rows(values, splits):
        return tf.RaggedTensor.from_row_splits(values, splits).to_tensor()

    assert rows([1, 2, 3], tf.constant([0, 1, 3])).numpy().tolist() == [[1, 0], [2, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        rows([1, 2, 3], tf.constant([0, 5, 3]))


def test_they_print_as_nested_lists():
    assert repr(made([[1, 2], [], [3]])) == "<tf.RaggedTensor [[1, 2], [], [3]]>"
    assert str(tf.ragged.constant([["a"], []])) == "<tf.RaggedTensor [[b'a'], []]>"
    assert (
        str(tf.ragged.constant([[0.1, 1e10], [2.0]])) == "<tf.RaggedTensor [[0.1, 1e+10], [2.0]]>"
    )
    long = tf.ragged.constant([[i] * (i % 3) for i in range(2000)])
    assert "..." in repr(long) and len(repr(long)) < 200
    shape = tf.shape(made([[1, 2], []]))
    assert repr(shape) == "<DynamicRaggedShape lengths=[2, (2, 0)] num_row_partitions=1>"


def test_rows_of_rows():
    rt = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6], [], [7]]])
    assert tf.reduce_sum(rt, axis=0).to_list() == [[5, 7, 6], [3], [7]]
    assert tf.reduce_sum(rt, axis=1).to_list() == [[4, 2], [], [11, 5, 6]]
    assert tf.reduce_sum(rt, axis=[1, 2]).numpy().tolist() == [6, 0, 22]
    assert rt[2, 0, 1].numpy() == 5 and rt[:, :1, 1:].to_list() == [[[2]], [], [[5, 6]]]
    assert rt.merge_dims(1, 2).to_list() == [[1, 2, 3], [], [4, 5, 6, 7]]
    assert rt.to_tensor().shape == (3, 3, 3)
    assert tf.gather_nd(rt, [[0, 0, 1], [2, 2, 0]]).numpy().tolist() == [2, 7]
    assert tf.tile(rt, [1, 1, 2])[0].to_list() == [[1, 2, 1, 2], [3, 3]]
    assert (rt + tf.constant([[[10]], [[20]], [[30]]]))[2].to_list() == [[34, 35, 36], [], [37]]


@pytest.mark.parametrize("policy", ["", "DEFAULT", "ERROR", "IGNORE", "error"])
def test_places_that_are_not_there_are_treated_as_asked(policy):
    rows, places = tf.ragged.constant([[1, 2], [3]]), [[0, 1], [1, 1]]
    if policy in ("IGNORE", "error"):
        error = tf.errors.UnimplementedError if policy == "IGNORE" else ValueError
        with pytest.raises(error, match="`bad_indices_policy`"):
            tf.gather_nd(rows, places[:1], bad_indices_policy=policy)
    else:
        assert tf.gather_nd(rows, places[:1], bad_indices_policy=policy).numpy().tolist() == [2]
        with pytest.raises(ValueError, match="behind the end"):
            tf.gather_nd(rows, places, bad_indices_policy=policy)
    given = tf.ragged.constant([[[0]], [[1], [7]]], ragged_rank=1)
    for indices in (given, tf.ragged.constant([[[[0]], [[1], [7]]]], ragged_rank=2)):
        find = functools.partial(tf.gather_nd, tf.constant([5, 6]), indices, 0, policy)
        if policy == "IGNORE":
            assert find().flat_values.numpy().tolist() == [5, 6, 0]
        else:
            with pytest.raises(ValueError):
                find()


def test_gradients_flow_through_rows():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        rt = tf.RaggedTensor.from_row_splits(v, [0, 1, 3])
        y = tf.reduce_sum(rt.to_tensor() ** 2) + tf.reduce_sum(tf.reduce_max(rt, axis=1))
    np.testing.assert_allclose(tape.gradient(y, v), [3.0, 4.0, 7.0])


def test_functions_of_the_module():
    rt = made([[1, 2, 3], [], [4]])
    assert tf.ragged.boolean_mask(rt, rt > 1).to_list() == [[2, 3], [], [4]]
    assert tf.ragged.boolean_mask(rt, [True, True, False]).to_list() == [[1, 2, 3], []]
    assert tf.ragged.map_flat_values(tf.square, rt).to_list() == [[1, 4, 9], [], [16]]
    assert tf.ragged.range([2, 5], [5, 1], [1, -2]).to_list() == [[2, 3, 4], [5, 3]]
    assert tf.ragged.stack([[1, 2], [3]]).to_list() == [[1, 2], [3]]
    found = tf.ragged.stack_dynamic_partitions([10, 20, 30], [1, 0, 1], 3)
    assert found.to_list() == [[20], [10, 30], []]
    assert tf.ragged.segment_ids_to_row_splits([0, 0, 3]).numpy().tolist() == [0, 2, 2, 2, 3]
    assert tf.where(rt > 2, rt, 0).to_list() == [[0, 0, 3], [], [4]]
    assert tf.where(rt > 2).numpy().tolist() == [[0, 2], [2, 0]]
    assert tf.one_hot(rt, 2).shape.as_list() == [3, None, 2]
    assert (tf.constant(5) - rt).to_list() == [[4, 3, 2], [], [1]]


def test_cross_joins_each_value_with_each():
    a = tf.ragged.constant([["a"], ["b", "c"], []])
    b = tf.ragged.constant([["d"], ["e"], ["x"]])
    c = tf.ragged.constant([[1, 2], [3, 4], [5]])
    crossed = [
        [b"a_X_d_X_1", b"a_X_d_X_2"],
        [b"b_X_e_X_3", b"b_X_e_X_4", b"c_X_e_X_3", b"c_X_e_X_4"],
        [],
    ]
    assert tf.ragged.cross([a, b, c]).to_list() == crossed
    assert tf.function(lambda *x: tf.ragged.cross(x))(a, b, c).to_list() == crossed
    dense, sparse = tf.constant([[1, 2], [3, 4]]), tf.sparse.from_dense([["u", "v"], ["w", ""]])
    assert tf.ragged.cross([dense, sparse]).to_list() == [
        [b"1_X_u", b"1_X_v", b"2_X_u", b"2_X_v"],
        [b"3_X_w", b"4_X_w"],
    ]
    with pytest.raises(tf.errors.InvalidArgumentError, match="no rows"):
        tf.ragged.cross([tf.ragged.constant([[[1]]])])


def test_cross_refuses_what_it_cannot_join():
    words = tf.ragged.constant([["a"], ["b", "c"]])
    with pytest.raises(TypeError, match="input 1 of `tf.ragged.cross` is float32"):
        tf.ragged.cross([words, tf.ragged.constant([[1.5], [2.5]])])
    with pytest.raises(ValueError, match="2, 3 rows"):
        tf.ragged.cross([words, [["a"], ["b"], ["c"]]])


@pytest.mark.parametrize(
    ("values", "shape"),
    [([], (0, 100, 20)), ([], (0,)), ([[]], (1, 0)), ([[1, 2], [3, 4]], (2, 2))],
)
def test_an_inner_shape_may_be_that_of_the_whole(values, shape):
    made = tf.ragged.constant(values, inner_shape=shape)
    assert isinstance(made, tf.Tensor) and made.shape == shape
    assert tf.compat.v1.ragged.constant_value(values, inner_shape=shape).shape == shape


def test_a_loop_knows_how_long_rows_are_while_they_stay_so():
    even = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 3)
    uneven = tf.RaggedTensor.from_row_splits(tf.range(6), [0, 2, 6])

    def repeated(change, start=even, times=2):
        return tf.while_loop(lambda i, x: i < times, lambda i, x: (i + 1, change(x)), [0, start])[1]

    staged = []

    @tf.function
    def traced(change, start=even):
        result = repeated(change, start)
        staged.append(result.shape.as_list())
        return result

    for run in (repeated, traced):
        assert run(lambda x: x + 1).shape == (2, 3)
        changed = run(lambda x: uneven)
        assert changed.to_list() == [[0, 1], [2, 3, 4, 5]]
        assert changed.shape.as_list() == [2, None] and changed.uniform_row_length is None
        longer = run(lambda x: tf.concat([x, x], 1))
        assert [len(row) for row in longer.to_list()] == [12, 12]
        assert longer.shape.as_list() == [2, None]
        again = run(lambda x: even, uneven)
        assert again.to_list() == even.to_list()
    assert staged == [[2, 3], [2, None], [2, None], [2, None]]
    with tf.Graph().as_default():
        inside = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 3)
        assert repeated(lambda x: x * 2, inside).shape == (2, 3)
    with pytest.raises(TypeError, match="body of a loop"):
        repeated(lambda x: x.to_tensor())


def test_an_attempt_of_a_loop_that_knew_too_much_leaves_nothing():
    uneven = tf.RaggedTensor.from_row_splits(tf.range(6), [0, 2, 6])
    total = tf.Variable(0)

    @tf.function
    def traced(x):
        def body(i, x):
            total.assign_add(1)
            return i + 1, uneven

        return tf.while_loop(lambda i, x: i < 2, body, [0, x])[1]

    assert traced(tf.RaggedTensor.from_uniform_row_length(tf.range(6), 3)).shape[1] is None
    assert total.numpy() == 2
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        count = tf.Variable(0)

        def step(i, x):
            with tf.control_dependencies([count.assign_add(1)]):
                return i + 1, tf.RaggedTensor.from_row_splits(tf.range(6), [0, 2, 6])

        start = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 3)
        looped = tf.while_loop(lambda i, x: i < 2, step, [0, start])[1]
        assert session.run(looped).to_list() == [[0, 1], [2, 3, 4, 5]] and session.run(count) == 2


def test_a_written_loop_knows_how_long_rows_are_while_they_stay_so():
    even = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 3)
    uneven = tf.RaggedTensor.from_row_splits(tf.range(6), [0, 2, 6])
    shapes = []

    @tf.function
    def stays(x, times):
        for _ in tf.range(times):
            x = x + 1
        return x

    @tf.function
    def changes(x, times):
        pair = (x, x)
        for _ in tf.range(times):
            x = uneven
            pair = (pair[0] + 1, uneven)
        shapes.append([each.shape.as_list() for each in (x, *pair)])
        return x, pair

    for times in (0, 2):
        assert stays(even, tf.constant(times)).shape == (2, 3)
        x, pair = changes(even, tf.constant(times))
        expected = uneven if times else even
        assert x.to_list() == pair[1].to_list() == expected.to_list()
        assert pair[0].to_list() == (even + times).to_list()
    assert shapes[0][0] == [2, None] and shapes[0][2] == [2, None]
