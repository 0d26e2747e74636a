"""Sparse tensors against dense ones."""

import functools

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest

import holdfast as tf

matrices = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=3, max_side=4),
    elements=st.sampled_from([0.0, 0.0, 1.0, -2.0, 3.5]),
)


def dense(sparse):
    return tf.sparse.to_dense(sparse).numpy()


@hypothesis.given(matrices)
@hypothesis.settings(max_examples=30, deadline=None)
def test_what_is_done_to_a_sparse_tensor_is_done_to_the_dense_one(a):
    sp = tf.sparse.from_dense(a)
    same = np.testing.assert_allclose
    same(dense(sp), a)
    assert sp.shape == a.shape
    same(dense(tf.sparse.transpose(sp)), a.T)
    same(dense(tf.sparse.reshape(sp, [-1])), a.reshape(-1))
    same(tf.sparse.reduce_sum(sp, axis=1), a.sum(1), rtol=1e-6)
    same(tf.sparse.reduce_sum(sp, axis=-1, keepdims=True), a.sum(-1, keepdims=True), rtol=1e-6)
    summed = tf.sparse.reduce_sum(sp, axis=0, output_is_sparse=True)
    same(dense(summed), a.sum(0), rtol=1e-6)
    same(dense(tf.sparse.add(sp, sp)), a + a)
    same(tf.sparse.add(sp, tf.ones(a.shape)), a + 1)
    same(dense(tf.sparse.concat(0, [sp, sp])), np.concatenate([a, a], 0))
    same(dense(tf.sparse.concat(1, [sp, sp])), np.concatenate([a, a], 1))
    same(dense(tf.sparse.maximum(sp, tf.sparse.from_dense(-a))), np.abs(a))
    same(dense(tf.sparse.expand_dims(sp, 1)), a[:, None])
    same(dense(sp * a), a * a)
    cut = tf.sparse.slice(sp, [0] * a.ndim, [2] * a.ndim)
    same(dense(cut), a[tuple(slice(0, 2) for _ in a.shape)])
    parts = tf.sparse.split(sp, a.shape[1], axis=1)
    same(np.concatenate([dense(part) for part in parts], 1), a)
    order = np.random.RandomState(0).permutation(len(sp.values))
    mixed = tf.SparseTensor(sp.indices.numpy()[order], sp.values.numpy()[order], sp.dense_shape)
    same(dense(tf.sparse.reorder(mixed)), a)


@hypothesis.given(
    hnp.arrays(np.float32, (3, 4), elements=st.sampled_from([0.0, 1.0, 2.0])),
    st.booleans(),
    st.booleans(),
)
@hypothesis.settings(max_examples=20, deadline=None)
def test_products_and_their_gradients_are_those_of_dense_matrices(a, adjoint_a, adjoint_b):
    b = np.arange(10, dtype=np.float32).reshape(5, 2)[: (3 if adjoint_a else 4)]
    b = b.T.copy() if adjoint_b else b
    values = tf.Variable(tf.sparse.from_dense(a).values)
    where, right = tf.sparse.from_dense(a).indices, tf.Variable(b)

    def loss(sparse):
        if sparse:
            sp = tf.SparseTensor(where, values, [3, 4])
            y = tf.sparse.sparse_dense_matmul(sp, right, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
        else:
            left = tf.scatter_nd(where, values, [3, 4])
            y = tf.matmul(left, right, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
        return tf.reduce_sum(y * y)

    found = []
    for sparse in (True, False):
        with tf.GradientTape() as tape:
            y = loss(sparse)
        found.append([y, *map(tf.convert_to_tensor, tape.gradient(y, [values, right]))])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.SparseTensor([[0, 0]], [1, 2], [2, 2]),
        lambda: tf.SparseTensor([[0, 0]], [1], [2, 2, 2]),
        lambda: tf.SparseTensor([0, 0], [1], [2]),
        lambda: tf.sparse.to_dense(tf.SparseTensor([[2, 0]], [1], [2, 2])),
        lambda: tf.sparse.to_dense(tf.SparseTensor([[0, -1]], [1], [2, 2])),
        lambda: tf.sparse.to_dense(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])),
        lambda: tf.sparse.to_dense(tf.SparseTensor([[0, 1], [0, 1]], [1, 2], [2, 2])),
        lambda: tf.sparse.reshape(tf.sparse.eye(3), [4, 2]),
        lambda: tf.sparse.reshape(tf.sparse.eye(3), [-1, -1]),
        lambda: tf.sparse.transpose(tf.sparse.eye(3), [0, 0]),
        lambda: tf.sparse.add(tf.sparse.eye(3), tf.sparse.eye(4)),
        lambda: tf.sparse.concat(0, [tf.sparse.eye(3), tf.sparse.eye(4)]),
        lambda: tf.sparse.sparse_dense_matmul(tf.sparse.eye(3), tf.ones([4, 1])),
        lambda: tf.sparse.reduce_sum(tf.sparse.eye(3), axis=2),
        lambda: tf.sparse.retain(tf.sparse.eye(3), [True]),
        lambda: tf.sparse.reorder(tf.ones([2, 2])),
        lambda: tf.sparse.split(tf.sparse.eye(3), 5, axis=0),
        lambda: tf.sparse.reset_shape(tf.sparse.eye(3), [2, 3]),
    ],
)
def test_what_is_wrong_is_refused(make):
    with pytest.raises((ValueError, TypeError, IndexError)) as caught:
        make()
    assert "error[E" in str(caught.value)


def test_order_is_looked_at_when_a_graph_runs():
    whole = tf.function(tf.sparse.to_dense)
    assert whole(tf.SparseTensor([[0], [2]], [5, 6], [3])).numpy().tolist() == [5, 0, 6]
    with pytest.raises(tf.errors.InvalidArgumentError):
        whole(tf.SparseTensor([[2], [0]], [5, 6], [3]))


def test_empty_rows_masks_and_rows_of_tables():
    filled, empty = tf.sparse.fill_empty_rows(tf.SparseTensor([[1, 2]], [7], [3, 4]), 9)
    assert filled.indices.numpy().tolist() == [[0, 0], [1, 2], [2, 0]]
    assert filled.values.numpy().tolist() == [9, 7, 9]
    assert empty.numpy().tolist() == [True, False, True]
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 0], [3, 2])
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup_sparse(table, ids, None, combiner="mean")
    np.testing.assert_allclose(y, [[4.0, 5.0], [0.0, 0.0], [1.0, 2.0]])
    gradient = tf.convert_to_tensor(tape.gradient(y, table))
    np.testing.assert_allclose(gradient, [[1.0, 1.0], [0.5, 0.5], [0.5, 0.5]])
    soft = tf.sparse.softmax(tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1.0, 1.0, 5.0], [2, 3]))
    np.testing.assert_allclose(soft.values, [0.5, 0.5, 1.0])


def tables(number):
    """A table of twelve rows, which say their number, in shards of each strategy."""
    whole = np.stack([np.arange(12.0), np.arange(12.0) * 10], 1).astype(np.float32)
    runs = np.array_split(whole, number)
    return {"div": list(runs), "mod": [whole[i::number] for i in range(number)]}


IDS = tf.SparseTensor([[0, 0], [0, 1], [2, 0], [4, 3]], [7, 2, 11, 0], [7, 4])


@pytest.mark.parametrize("strategy", ["div", "mod"])
@pytest.mark.parametrize("number", [1, 3, 5])
def test_rows_of_shards_are_those_of_the_whole_table(number, strategy):
    want = [[9.0, 90.0], [0.0, 0.0], [11.0, 110.0], [0.0, 0.0], [0.0, 0.0]]
    shards = tables(number)[strategy]
    found = tf.compat.v1.nn.embedding_lookup_sparse(shards, IDS, None, strategy, combiner="sum")
    np.testing.assert_allclose(found, want)
    safe = tf.compat.v1.nn.safe_embedding_lookup_sparse(
        shards, IDS, combiner="sum", partition_strategy=strategy, default_id=3
    )
    rows = [9.0, 3.0, 11.0, 3.0, 0.0, 3.0, 3.0]
    np.testing.assert_allclose(safe, np.stack([rows, np.multiply(rows, 10)], 1))


def test_each_version_has_its_own_strategy():
    shards = tables(3)
    for function, strategy in [
        (tf.nn.embedding_lookup_sparse, "div"),
        (tf.compat.v1.nn.embedding_lookup_sparse, "mod"),
    ]:
        found = function(shards[strategy], IDS, None, combiner="sum")
        np.testing.assert_allclose(found[0], [9.0, 90.0])
    safe = tf.compat.v1.nn.safe_embedding_lookup_sparse(shards["div"], IDS, combiner="sum")
    np.testing.assert_allclose(safe[0], [9.0, 90.0])


def test_a_row_that_is_named_twice_has_one_gradient():
    table = tf.Variable(tf.ones([5, 2]))
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [3, 1, 3], [2, 2])
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum")
    slices = tape.gradient(y, table)
    assert sorted(slices.indices.numpy().tolist()) == [1, 3]
    np.testing.assert_allclose(
        tf.convert_to_tensor(slices), [[0, 0], [1, 1], [0, 0], [2, 2], [0, 0]]
    )


def test_ragged_ids_have_safe_rows_too():
    table = np.arange(8.0, dtype=np.float32).reshape(4, 2)
    ids = tf.ragged.constant([[1, -1], [], [2], []], dtype=tf.int64)
    weights = tf.ragged.constant([[2.0, 5.0], [], [0.0], []])
    found = tf.nn.safe_embedding_lookup_sparse(table, ids, weights, combiner="mean", default_id=3)
    np.testing.assert_allclose(found, [[2, 3], [6, 7], [6, 7], [6, 7]])


def test_shards_of_two_dtypes_are_refused():
    shards = tables(3)["div"]
    shards[1] = shards[1].astype(np.float64)
    with pytest.raises(TypeError, match="float32, float64"):
        tf.nn.embedding_lookup_sparse(shards, IDS, None)


def test_it_prints_its_parts():
    text = repr(tf.SparseTensor([[1]], [2.0], [3]))
    assert text.startswith(
        "SparseTensor(indices=tf.Tensor([[1]], shape=(1, 1), dtype=int64), values="
    )


NUMBERS = np.array([[1, 2, 2, 5], [0, 1, 1, 7], [0, 0, 0, 0]])
WEIGHTS = np.linspace(0.5, 2, 12, dtype="float32").reshape(3, 4)


def _kinds():
    """The same rows as a dense, a sparse and a ragged tensor, each with its weights."""
    places = np.argwhere(np.ones_like(NUMBERS))
    at = lambda values: tf.SparseTensor(places, values.ravel(), NUMBERS.shape)
    rows = lambda values: tf.RaggedTensor.from_row_lengths(values.ravel(), [4, 4, 4])
    return {
        "dense": (tf.constant(NUMBERS), tf.constant(WEIGHTS)),
        "sparse": (at(NUMBERS), at(WEIGHTS)),
        "ragged": (rows(NUMBERS), rows(WEIGHTS)),
    }


@pytest.mark.parametrize("kind", ["dense", "sparse", "ragged"])
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("options", [{}, {"minlength": 10}, {"maxlength": 3}])
def test_numbers_are_counted_wherever_they_are(kind, traced, options):
    values, weights = _kinds()[kind]
    length = options.get("maxlength", options.get("minlength", 8))
    counts = np.stack([np.bincount(row, minlength=10)[:length] for row in NUMBERS])
    sums = np.stack(
        [np.bincount(r, w, minlength=10)[:length] for r, w in zip(NUMBERS, WEIGHTS, strict=True)]
    )

    def count(values, weights):
        return [
            function(values, w, axis=axis, binary_output=binary, **options)
            for function in (tf.math.bincount, tf.sparse.bincount)
            for w, axis, binary in (
                (None, -1, False),
                (None, 0, False),
                (weights, -1, False),
                (weights, 0, False),
                (None, -1, True),
            )
        ]

    found = (tf.function(count) if traced else count)(values, weights)
    wanted = [counts, counts.sum(0), sums, sums.sum(0), counts > 0]
    for got, want in zip(found[:5], wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    for got, want in zip(found[5:], wanted, strict=True):
        np.testing.assert_allclose(dense(got), want, rtol=1e-6)
        assert got.values.shape[0] in (None, (want != 0).sum())


@pytest.mark.parametrize("count", [tf.math.bincount, tf.sparse.bincount])
def test_counts_of_what_does_not_fit_are_refused(count):
    sparse, _ = _kinds()["sparse"]
    for bad in (WEIGHTS, tf.sparse.from_dense(WEIGHTS[:2])):
        with pytest.raises((TypeError, ValueError), match="weights"):
            count(sparse, bad, axis=-1)
    with pytest.raises(tf.errors.UnimplementedError, match="axis"):
        count(sparse, axis=1)
    with pytest.raises(ValueError, match="negative|-1"):
        count(tf.sparse.from_dense([[1, -1]]), axis=-1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"indices": [[0, 0]]},
        {"indices": [[0, 0], [9, 0]]},
        {"indices": [[0, 0], [0, -1]]},
        {"dense_shape": [2]},
        {"size": -1},
        {"weights": [1.0]},
    ],
    ids=lambda a: str(*a),
)
def test_a_count_of_rows_by_hand_is_checked(arguments):
    whole = {"indices": [[0, 0], [1, 1]], "dense_shape": [2, 3], "size": 4, "weights": [1.0, 2.0]}
    raw = tf.raw_ops.SparseBincount
    assert raw(values=[1, 2], **whole).numpy().tolist() == [[0, 1, 0, 0], [0, 0, 2, 0]]
    with pytest.raises(ValueError, match="SparseBincount"):
        raw(values=[1, 2], **whole | arguments)


def test_the_largest_number_is_counted_where_a_size_allows_it():
    big = 2**63 - 1
    for given in (
        tf.constant([[1, big]]),
        tf.SparseTensor([[0, 0], [0, 1]], [1, big], [1, 2]),
        tf.RaggedTensor.from_row_lengths(tf.constant([1, big]), [2]),
    ):
        for axis in (0, -1):
            found = tf.sparse.bincount(given, axis=axis, maxlength=3)
            assert found.values.numpy().tolist() == [1]
            assert found.dense_shape.numpy().tolist()[-1] == 3
            with pytest.raises(ValueError, match=str(big)):
                tf.sparse.bincount(given, axis=axis)
        assert tf.math.bincount(given, axis=-1, maxlength=3).numpy().tolist() == [[0, 1, 0]]


def test_numbers_in_dense_rows_of_ragged_ones_are_counted_together():
    flat = tf.constant([[1, 2], [2, 2], [0, 1]])
    rows = tf.RaggedTensor.from_row_splits(flat, [0, 1, 3])
    weights = tf.RaggedTensor.from_row_splits(tf.cast(flat, tf.float32), [0, 1, 3])
    assert dense(tf.sparse.bincount(rows)).tolist() == [1, 2, 3]
    assert dense(tf.sparse.bincount(rows, weights)).tolist() == [0, 2, 6]
    for count in (tf.sparse.bincount, tf.math.bincount):
        with pytest.raises(ValueError, match="rows of numbers"):
            count(rows, axis=-1)


def test_sparse_counts_have_the_dtype_of_the_values():
    for dtype in (tf.int32, tf.int64):
        rows = tf.constant([[1, 2], [2, 0]], dtype)
        for given in (rows, tf.sparse.from_dense(rows), tf.RaggedTensor.from_tensor(rows)):
            for axis in (0, -1):
                for binary in (False, True):
                    found = tf.sparse.bincount(given, axis=axis, binary_output=binary)
                    assert found.dtype == dtype
    assert tf.sparse.bincount(tf.constant([1, 2], tf.int64), [0.5, 1.5]).dtype == tf.float32


@pytest.mark.parametrize("traced", [False, True])
def test_sparse_counts_of_no_numbers_have_the_place_of_0(traced):
    rows = tf.zeros([2, 0], tf.int32)
    for given in (rows, tf.sparse.from_dense(rows), tf.RaggedTensor.from_tensor(rows)):
        for options, size in (({}, 1), ({"minlength": 3}, 3), ({"maxlength": 0}, 0)):

            def count(given, options=options):
                return [tf.sparse.bincount(given, axis=axis, **options) for axis in (0, -1)]

            whole, by_row = (tf.function(count) if traced else count)(given)
            assert whole.dense_shape.numpy().tolist() == [size]
            assert by_row.dense_shape.numpy().tolist() == [2, size]


def test_a_loop_knows_the_shape_that_a_sparse_tensor_keeps():
    start = tf.sparse.from_dense([[1, 2], [3, 0]])

    def repeated(change):
        return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, change(x)), [0, start])[1]

    for run in (repeated, tf.function(repeated)):
        assert run(lambda x: tf.sparse.map_values(tf.add, x, 1)).shape == (2, 2)
        assert run(lambda x: tf.sparse.concat(0, [x, x])).shape == (8, 2)


@pytest.mark.parametrize("value", [5, 3, -1])
def test_an_indicator_refuses_numbers_that_have_no_column(value):
    given = tf.SparseTensor([[0, 0], [1, 0]], [value, 2], [2, 1])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="to_indicator"):
        tf.sparse.to_indicator(given, 3)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="to_indicator"):
        tf.function(lambda x: tf.sparse.to_indicator(x, 3))(given)


def test_of_no_elements_none_are_retained():
    nothing = tf.sparse.from_dense(tf.zeros([2, 3]))
    assert tf.sparse.retain(nothing, []).dense_shape.numpy().tolist() == [2, 3]


def test_sums_alone_are_measured_by_a_threshold():
    a = tf.SparseTensor([[0, 1], [1, 0]], [0.5, -0.5], [2, 2])
    b = tf.SparseTensor([[0, 0], [1, 0]], [0.4, 0.3], [2, 2])
    found = tf.sparse.add(a, b, 0.45)  # 0.4 is no sum; 0.3 - 0.5 is a small one
    np.testing.assert_allclose(tf.sparse.to_dense(found), [[0.4, 0.5], [0, 0]])
    assert found.values.shape == [2]


def test_graphs_by_hand_check_sparse_arguments_under_the_old_names():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        a, b = (v1.sparse_placeholder(tf.float32, [None, None]) for _ in range(2))
        joined = v1.sparse_concat(1, [a, b]).values
        turned = v1.sparse_reshape(a, [5, -1]).values
        dense = v1.placeholder(tf.float32, [None, None])
        times = (a * dense).values
        wide, high = ((np.array([[0, 0]]), [1.0], shape) for shape in ([2, 5], [5, 2]))
        with v1.Session() as session:
            run = functools.partial(
                session.run, feed_dict={a: wide, b: wide, dense: np.ones((2, 5))}
            )
            for each in (joined, turned, times):
                run(each)
            run.keywords["feed_dict"] |= {b: high, dense: np.ones((3, 5))}
            for each in (joined, times):
                with pytest.raises(tf.errors.InvalidArgumentError):
                    run(each)
            with pytest.raises(tf.errors.InvalidArgumentError, match="does not fit"):
                session.run(turned, {a: (np.array([[0, 0]]), [1.0], [2, 2])})


def test_elements_of_a_product():
    rng = np.random.RandomState(0)
    for batch in ((), (2,), (2, 3)):
        a, b = rng.randn(*batch, 4, 3), rng.randn(*batch, 3, 5)
        places = np.stack([rng.randint(0, 4, (*batch, 6)), rng.randint(0, 5, (*batch, 6))], -1)
        values = rng.randn(*batch, 6)
        same, found, shape = tf.sparse.sampled_addmm(
            places, values, [4, 5], a, b, beta=0.25, alpha=0.75, output_type=tf.float64
        )
        product = (a @ b).reshape(-1, 4, 5)
        rows, columns = places.reshape(-1, 6, 2).transpose(2, 0, 1)
        want = product[np.arange(len(product))[:, None], rows, columns].reshape(values.shape)
        np.testing.assert_allclose(found, 0.75 * want + 0.25 * values, rtol=1e-6)
        np.testing.assert_array_equal(same, places)
        assert shape.numpy().tolist() == [4, 5]
    ones = tf.ones([2, 2])
    _, found, _ = tf.function(tf.sparse.sampled_addmm)([[0, 1]], [1.0], [2, 2], ones, ones)
    assert found.numpy().tolist() == [3]
    for bad in (([[0, 1]], [1.0], [2, 3], ones, ones), ([[0, 1]], [1.0], [2, 2], ones[0], ones)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="sampled_addmm"):
            tf.sparse.sampled_addmm(*bad)
    with pytest.raises(tf.errors.InvalidArgumentError, match="output_type"):
        tf.sparse.sampled_addmm([[0, 1]], [1], [2, 2], ones, ones, output_type=tf.int32)


WIDE = 2**62  # two such axes have more elements than an int64 counts


def wide_pair():
    one = tf.SparseTensor([[0, 1], [WIDE - 1, 5]], [1.0, 2.0], [WIDE, WIDE])
    two = tf.SparseTensor([[0, 1], [3, WIDE - 1]], [-1.0, 5.0], [WIDE, WIDE])
    return one, two


@pytest.mark.parametrize("how", ["eager", "traced", "shapes unknown"])
def test_places_are_told_apart_however_large_the_shape_is(how):
    def run(one, two):
        mixed = tf.SparseTensor(one.indices[::-1], one.values[::-1], one.dense_shape)
        return [
            tf.sparse.maximum(one, two),
            tf.sparse.minimum(one, two),
            tf.sparse.add(one, two),
            tf.sparse.reorder(mixed),
            tf.sparse.softmax(two),
            tf.sparse.transpose(two),
            tf.sparse.reduce_sum(one, 0, keepdims=True, output_is_sparse=True),
            tf.sparse.reduce_max(one, 1, keepdims=True, output_is_sparse=True),
        ]

    if how == "traced":
        run = tf.function(run)
    elif how != "eager":
        kind = tf.SparseTensorSpec([None, None], tf.float32)
        run = tf.function(run, input_signature=[kind, kind])
    found = [(x.indices.numpy().tolist(), x.values.numpy().tolist()) for x in run(*wide_pair())]
    far = WIDE - 1
    both = [[0, 1], [3, far], [far, 5]]
    assert found == [
        (both, [1, 5, 2]),
        (both, [-1, 0, 0]),
        (both, [0, 5, 2]),
        ([[0, 1], [far, 5]], [1, 2]),
        ([[0, 1], [3, far]], [1, 1]),
        ([[1, 0], [far, 3]], [-1, 5]),
        ([[0, 1], [0, 5]], [1, 2]),
        ([[0, 0], [far, 0]], [1, 2]),
    ]


def test_order_is_checked_however_large_the_shape_is():
    _, two = wide_pair()
    for indices in ([[3, 0], [0, far := WIDE - 1]], [[0, far], [0, 1]], [[1, 1], [1, 1]]):
        with pytest.raises(ValueError, match="not in order"):
            tf.sparse.softmax(tf.SparseTensor(indices, [1.0, 2.0], two.dense_shape))


@pytest.mark.parametrize(
    "function",
    [
        tf.sparse.to_dense,
        lambda x: tf.sparse.reshape(x, [-1]),
        lambda x: tf.sparse.reduce_sum(tf.sparse.expand_dims(x, 0), 0),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_what_counts_more_elements_than_an_int64_does_is_refused(function, known):
    sparse, _ = wide_pair()
    if not known:
        function = tf.function(function, input_signature=[tf.SparseTensorSpec([None, None])])
    with pytest.raises(ValueError, match="more elements than an int64 counts"):
        function(sparse)


def test_a_reshape_may_have_as_many_elements_as_an_int64_counts():
    one = tf.SparseTensor([[2**63 - 2]], [1.0], [2**63 - 1])
    assert tf.sparse.reshape(one, [7, -1]).indices.numpy().tolist() == [[6, (2**63 - 1) // 7 - 1]]
    with pytest.raises(ValueError, match="does not fit"):
        tf.sparse.reshape(one, [2, -1])


@pytest.mark.parametrize("traced", [False, True])
def test_boxes_may_end_behind_all_that_there_is(traced):
    most = 2**63 - 1

    def cut(start, size):
        sparse = tf.SparseTensor([[1], [most - 1]], [1.0, 2.0], [most])
        return tf.sparse.slice(sparse, start, size)

    cut = tf.function(cut) if traced else cut
    for start, size, indices, left in (
        (most, most, [], 0),
        (1, most, [[0], [most - 2]], most - 1),
        (0, most, [[1], [most - 1]], most),
        (-1, 3, [[2]], 3),
        (-(2**63), most, [], most),
    ):
        found = cut(tf.constant([start]), tf.constant([size], tf.int64))
        assert found.indices.numpy().tolist() == indices
        assert found.dense_shape.numpy().tolist() == [left]
    with pytest.raises(ValueError, match="`size` has a negative number"):
        cut(tf.constant([0], tf.int64), tf.constant([-1], tf.int64))


@pytest.mark.parametrize("traced", [False, True])
def test_sizes_that_are_no_number_together_are_refused(traced):
    def join(a, b):
        one = tf.SparseTensor([[1]], [1.0], tf.stack([a]))
        two = tf.SparseTensor([[0]], [2.0], tf.stack([b]))
        return tf.sparse.concat(0, [one, two])

    join = tf.function(join) if traced else join
    most = join(tf.constant(WIDE), tf.constant(WIDE - 1))
    assert most.dense_shape.numpy().tolist() == [2**63 - 1]
    assert most.indices.numpy().tolist() == [[1], [WIDE]]
    for a, b in ((WIDE, WIDE), (2**63 - 1, 2), (5, 2**63 - 1)):
        with pytest.raises(ValueError, match=r"more\s+than\s+an\s+int64\s+holds"):
            join(tf.constant(a, tf.int64), tf.constant(b, tf.int64))
