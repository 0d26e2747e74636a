"""What is made of several tensors goes wherever a tensor goes, and no class is known by name."""

import numpy as np
import pytest

import holdfast as tf


def ragged():
    return tf.ragged.constant([[1.5, 2.5], [], [3.0, 4.0, 5.0]])


def sparse():
    return tf.SparseTensor([[0, 2], [1, 0], [3, 1]], [1.0, -2.0, 4.0], [4, 3])


def slices():
    return tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([3, 1]), tf.constant([5, 1]))


def same(a, b):
    assert type(a) is type(b)
    for x, y in zip(
        tf.nest.flatten(a, expand_composites=True),
        tf.nest.flatten(b, expand_composites=True),
        strict=True,
    ):
        np.testing.assert_array_equal(x, y)


KINDS = [ragged, sparse, slices]


@pytest.mark.parametrize("make", KINDS)
def test_a_composite_is_a_leaf_unless_it_is_to_be_expanded(make):
    value = make()
    assert tf.is_tensor(value)
    assert not tf.nest.is_nested(value)
    assert tf.nest.flatten({"a": value, "b": 1}) == [value, 1] or make is ragged
    parts = tf.nest.flatten((value, 7), expand_composites=True)
    assert len(parts) > 2
    again = tf.nest.pack_sequence_as((value, 7), parts, expand_composites=True)
    same(again[0], value)
    with pytest.raises(ValueError):
        tf.nest.assert_same_structure([value], [tf.constant(1)], expand_composites=True)


@pytest.mark.parametrize("make", KINDS)
def test_a_function_takes_gives_and_captures_it(make):
    value = make()

    @tf.function
    def both(x, extra=None):
        return {"given": x, "captured": value, "parts": tf.nest.flatten(x, expand_composites=True)}

    for _ in range(3):
        found = both(value, extra=[make()])
        same(found["given"], value)
        same(found["captured"], value)
        assert len(found["parts"]) >= 2


@pytest.mark.parametrize("make", KINDS)
def test_branches_and_loops_carry_it(make):
    value = make()

    @tf.function
    def chosen(x, yes):
        kept = x
        if yes:
            kept = x
        for _ in tf.range(2):
            kept = tf.nest.map_structure(tf.identity, kept, expand_composites=True)
        return tf.cond(yes, lambda: kept, lambda: x)

    same(chosen(value, tf.constant(True)), value)
    same(chosen(value, tf.constant(False)), value)
    _, after = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x), (tf.constant(0), value))
    same(after, value)


def test_what_a_traced_method_stores_is_there_after_each_call():
    class Holder(tf.Module):
        @tf.function
        def __call__(self, x):
            self.kept = x * 2.0
            return tf.reduce_sum(x)

    holder = Holder()
    holder(ragged())
    assert holder.kept.to_list() == [[3.0, 5.0], [], [6.0, 8.0, 10.0]]
    holder(ragged() + 1.0)
    assert holder.kept.to_list() == [[5.0, 7.0], [], [8.0, 10.0, 12.0]]


def test_another_number_of_values_needs_no_other_trace():
    traces = []

    @tf.function
    def total(x):
        traces.append(1)
        return tf.reduce_sum(x, axis=1)

    for rows in ([[1.0], [2.0]], [[1.0, 2.0, 3.0], []], [[], [7.0] * 9]):
        np.testing.assert_allclose(total(tf.ragged.constant(rows)), [sum(row) for row in rows])
    assert len(traces) == 1


def test_an_input_signature_says_what_fits():
    @tf.function(
        input_signature=[
            tf.RaggedTensorSpec([None, None], tf.float32),
            tf.SparseTensorSpec([None, 3], tf.float32),
        ]
    )
    def both(x, y):
        return x.to_tensor(), tf.sparse.to_dense(y)

    a, b = both(ragged(), sparse())
    assert a.shape == (3, 3) and b.shape == (4, 3)
    both(tf.ragged.constant([[1.0]]), tf.sparse.eye(3))
    with pytest.raises(TypeError):
        both(tf.ragged.constant([[1]]), sparse())
    with pytest.raises((TypeError, ValueError)):
        both(tf.ones([2, 2]), sparse())


def test_a_concrete_function_knows_its_specs():
    @tf.function
    def twice(x):
        return x * 2.0

    spec = tf.RaggedTensorSpec([None, None], tf.float32)
    concrete = twice.get_concrete_function(spec)
    assert concrete.structured_input_signature[0][0].ragged_rank == 1
    assert concrete(ragged()).to_list() == [[3.0, 5.0], [], [6.0, 8.0, 10.0]]


def test_gradients_are_composites_of_the_same_rows():
    rt, sp = ragged(), sparse()
    with tf.GradientTape() as tape:
        tape.watch([rt, sp])
        y = tf.reduce_sum(rt * rt) + tf.sparse.reduce_sum(tf.sparse.map_values(tf.square, sp))
    d_ragged, d_sparse = tape.gradient(y, [rt, sp])
    assert d_ragged.to_list() == [[3.0, 5.0], [], [6.0, 8.0, 10.0]]
    assert isinstance(d_sparse, tf.SparseTensor)
    np.testing.assert_allclose(d_sparse.values, [2.0, -4.0, 8.0])


def test_a_session_fetches_and_feeds_them():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        sp = v1.sparse_placeholder(tf.float32, [2, 2])
        rt = v1.ragged.placeholder(tf.int32, 2)
        value = v1.SparseTensorValue([[1, 0], [0, 1]], [5.0, 6.0], [2, 2])
        rows = v1.ragged.constant_value([[[1], [2, 3]], []], dtype=np.int32)
        found, sums, kept = session.run(
            [tf.sparse.reorder(sp), tf.reduce_sum(rt, axis=2), rt], {sp: value, rt: rows}
        )
    assert found.indices.tolist() == [[0, 1], [1, 0]] and found.values.tolist() == [6.0, 5.0]
    assert sums.to_list() == [[1, 5], []] and kept.to_list() == [[[1], [2, 3]], []]


def test_specs_compare_pickle_and_print():
    import pickle

    spec = tf.type_spec_from_value(ragged())
    assert spec == tf.RaggedTensorSpec([3, None], tf.float32)
    assert repr(spec) == "RaggedTensorSpec(TensorShape([3, None]), tf.float32, 1, tf.int64)"
    assert tf.RaggedTensorSpec([None, None], tf.float32).is_compatible_with(ragged())
    assert not tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(ragged())
    assert tf.SparseTensorSpec([4, None], tf.float32).is_compatible_with(sparse())
    assert not tf.SparseTensorSpec([5, 3], tf.float32).is_compatible_with(sparse())
    assert isinstance(spec, tf.TypeSpec)
    assert pickle.loads(pickle.dumps(spec)) == spec
    same(pickle.loads(pickle.dumps(ragged())), ragged())
    same(pickle.loads(pickle.dumps(sparse())), sparse())


def test_a_function_that_takes_no_composite_says_so():
    with pytest.raises(TypeError, match="RaggedTensor"):
        tf.linalg.det(ragged())
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.linalg.matmul(sparse(), tf.ones([3, 1]))


@pytest.mark.parametrize("make", KINDS)
def test_functions_over_rows_say_that_they_take_none(make):
    for run in (
        lambda: tf.scan(lambda a, row: a, make()),
        lambda: tf.foldl(lambda a, row: a, make()),
        lambda: tf.vectorized_map(lambda row: row, make()),
    ):
        with pytest.raises(NotImplementedError, match=type(make()).__name__):
            run()


def test_map_fn_takes_rows_of_ragged_and_sparse_tensors():
    rows = tf.ragged.constant([[1, 2], [], [3]])
    of_rows = tf.RaggedTensorSpec([None], tf.int32)

    def all_of_them(rows, deep, sparse, counts):
        sums = tf.map_fn(tf.reduce_sum, rows, fn_output_signature=tf.int32)
        doubled = tf.map_fn(lambda row: row * 2, rows)
        ranges = tf.map_fn(tf.range, counts, fn_output_signature=of_rows)
        both = tf.map_fn(
            lambda row: (row, tf.size(row)), rows, fn_output_signature=(of_rows, tf.int32)
        )
        inner = tf.map_fn(lambda r: r + 1, deep)
        dense = tf.map_fn(tf.sparse.to_dense, sparse, fn_output_signature=tf.int32)
        scaled = tf.map_fn(lambda s: s * 2, sparse)
        return sums, doubled, ranges, both, inner, dense, scaled

    deep = tf.ragged.constant([[[1], []], [], [[2, 3]]])
    sparse = tf.sparse.from_dense([[0, 1], [0, 0], [2, 3]])
    given = rows, deep, sparse, tf.constant([3, 1, 2])
    for run in (all_of_them, tf.function(all_of_them)):
        sums, doubled, ranges, (same_rows, sizes), inner, dense, scaled = run(*given)
        assert sums.numpy().tolist() == [3, 0, 3]
        assert doubled.to_list() == [[2, 4], [], [6]]
        assert ranges.to_list() == [[0, 1, 2], [0], [0, 1]]
        assert same_rows.to_list() == [[1, 2], [], [3]]
        assert sizes.numpy().tolist() == [2, 0, 1]
        assert inner.to_list() == [[[2], []], [], [[3, 4]]]
        assert dense.numpy().tolist() == [[0, 1], [0, 0], [2, 3]]
        assert tf.sparse.to_dense(scaled).numpy().tolist() == [[0, 2], [0, 0], [4, 6]]
    none = tf.map_fn(lambda row: row * 2, tf.ragged.constant([], ragged_rank=1, dtype=tf.int32))
    assert none.to_list() == []
    with pytest.raises(TypeError, match="fn_output_signature"):
        tf.map_fn(lambda row: (row, row), rows, fn_output_signature=of_rows)
    with pytest.raises(NotImplementedError, match="IndexedSlices"):
        tf.map_fn(lambda row: row, tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1])))


@pytest.mark.parametrize("shape", [[None, 3], [None, None], "spec"])
def test_a_loop_keeps_the_shape_that_is_said_of_a_sparse_tensor(shape):
    start = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [3, 3])
    said = tf.SparseTensorSpec([None, None], tf.int32) if shape == "spec" else tf.TensorShape(shape)

    @tf.function
    def by_statement(n):
        v = start
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(v, said)])
            v = tf.sparse.concat(0, [v, v])
        return v

    @tf.function
    def by_call(n):
        return tf.while_loop(
            lambda i, v: i < n,
            lambda i, v: (i + 1, tf.sparse.concat(0, [v, v])),
            (0, start),
            shape_invariants=(tf.TensorShape([]), said),
        )[1]

    for grown in (by_statement, by_call):
        for n in (0, 2):
            found = grown(tf.constant(n))
            assert found.dense_shape.numpy().tolist() == [3 * 2**n, 3]
            assert found.values.numpy().tolist() == [1, 2] * 2**n


def test_wrong_invariants_of_composites_are_refused():
    ragged = tf.ragged.constant([[1], [2, 3]])
    with pytest.raises(tf.errors.UnimplementedError, match="RaggedTensorSpec"):
        tf.function(
            lambda: tf.while_loop(
                lambda v: False, lambda v: v, [ragged], shape_invariants=[tf.TensorShape(None)]
            )
        )()
    with pytest.raises(TypeError, match="2 shape invariants for 1"):
        tf.while_loop(lambda v: False, lambda v: v, [1], shape_invariants=[[], []])


def test_dtypes_of_composites_are_checked():
    sparse, ragged = tf.sparse.from_dense([1.0, 0.0]), tf.ragged.constant([[1.0]])
    for value in (sparse, ragged):
        tf.debugging.assert_type(value, tf.float32)
        with pytest.raises(TypeError, match="int32"):
            tf.debugging.assert_type(value, tf.int32)


def test_what_a_session_fetched_is_added_to_sparse_tensors():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        sparse = tf.sparse.from_dense([1.0, 0.0, 2.0])
        fetched = session.run(sparse)
        for both in ((sparse, fetched), (fetched, sparse), (fetched, fetched)):
            found = session.run(tf.sparse.add(*both))
            assert found.values.tolist() == [2, 4] and found.indices.tolist() == [[0], [2]]


SMALL = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [3, 3])
EVEN = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 2)


def by_statement(choice):
    if choice:
        value, rows = SMALL, EVEN
    else:
        value = tf.sparse.concat(0, [SMALL, SMALL])
        rows = tf.RaggedTensor.from_uniform_row_length(tf.range(6), 3)
    return value, rows


def by_call(choice):
    return tf.cond(
        choice,
        lambda: (SMALL, EVEN),
        lambda: (
            tf.sparse.concat(0, [SMALL, SMALL]),
            tf.RaggedTensor.from_uniform_row_length(tf.range(6), 3),
        ),
    )


@pytest.mark.parametrize("program", [by_statement, by_call])
@pytest.mark.parametrize("choice", [True, False])
def test_a_branch_knows_of_a_composite_what_both_sides_know(program, choice):
    @tf.function
    def run(choice):
        value, rows = program(choice)
        assert value.shape.as_list() == [None, 3] and rows.uniform_row_length is None
        return value, rows, tf.sparse.to_dense(value), rows.to_tensor()

    value, rows, dense, whole = run(tf.constant(choice))
    wanted, even = program(choice)
    assert value.shape == wanted.shape == dense.shape and rows.shape[0] == even.shape[0]
    np.testing.assert_array_equal(dense, tf.sparse.to_dense(wanted))
    np.testing.assert_array_equal(whole, even.to_tensor())


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_loop_knows_of_a_composite_what_holds_each_time(n):
    def grown(n):
        v = SMALL
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(v, None)])
            v = tf.sparse.expand_dims(v)
        return v

    found, wanted = tf.function(grown)(tf.constant(n)), grown(tf.constant(n))
    assert found.shape == wanted.shape == [3, 3] + [1] * n
    np.testing.assert_array_equal(found.indices, wanted.indices)


def _late(dtype, given, program):
    """What a session gives for a program over a placeholder."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        late = v1.placeholder(dtype, [None] * np.ndim(given))
        return session.run(program(late), {late: given})


LATE = {
    "order": (
        tf.int64,
        lambda i: tf.sparse.to_dense(tf.SparseTensor(i, tf.constant([1, 2]), [3])),
        [[0], [2]],
        [[2], [0]],
    ),
    "pairs": (
        tf.int64,
        lambda i: (
            tf.sparse.map_values(
                tf.add,
                tf.SparseTensor(i, tf.constant([1, 2]), [3]),
                tf.SparseTensor([[0], [2]], tf.constant([1, 2]), [3]),
            ).values
        ),
        [[0], [2]],
        [[0], [1]],
    ),
    "size": (
        tf.int64,
        lambda n: tf.sparse.reset_shape(tf.SparseTensor([[2]], [1], [3]), n).dense_shape,
        [4],
        [1],
    ),
    "counts": (tf.int32, lambda x: tf.sparse.bincount(x).values, [1, 1], [1, -1]),
    "splits": (
        tf.int64,
        lambda s: tf.RaggedTensor.from_row_splits(tf.range(3), s).row_splits,
        [0, 3],
        [0, 9],
    ),
}


@pytest.mark.parametrize("name", LATE)
def test_what_a_session_learns_late_is_checked(name):
    dtype, program, good, bad = LATE[name]
    _late(dtype, good, program)
    with pytest.raises(tf.errors.InvalidArgumentError):
        _late(dtype, bad, program)
