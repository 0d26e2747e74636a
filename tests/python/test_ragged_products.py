"""Products, choices and joins of ragged tensors whose rows are matrices, lists or texts."""

import numpy as np
import pytest

import holdfast as tf

ragged = tf.ragged.constant


def wrapped(staged):
    return tf.function if staged else lambda f: f


def matrices(sizes, seed=0):
    draw = np.random.default_rng(seed)
    return [draw.integers(-3, 4, size).astype(np.float32) for size in sizes]


def stacked(found, depth):
    return ragged([x.tolist() for x in found], ragged_rank=depth, dtype=tf.float32)


@pytest.mark.parametrize("staged", [False, True])
def test_a_product_is_that_of_each_pair_of_matrices(staged):
    a, b = matrices([(1, 2), (3, 1), (2, 2)]), matrices([(2, 4), (1, 2), (2, 1)], 1)
    found = wrapped(staged)(tf.matmul)(stacked(a, 2), stacked(b, 2))
    for row, x, y in zip(found.to_list(), a, b, strict=True):
        np.testing.assert_allclose(row, x @ y)
    turned = tf.matmul(stacked([x.T for x in a], 2), stacked(b, 2), transpose_a=True)
    assert turned.to_list() == found.to_list()
    even = matrices([(2, 3), (1, 3), (4, 3)])
    square = tf.matmul(stacked(even, 1), stacked(even, 1), transpose_b=True)
    for row, x in zip(square.to_list(), even, strict=True):
        np.testing.assert_allclose(row, x @ x.T)
    one = tf.matmul(stacked(even, 1), np.ones((3, 3, 2), np.float32))
    assert one.shape.as_list() == [3, None, 2]
    deep = tf.matmul(tf.expand_dims(stacked(a, 2), 0), tf.expand_dims(stacked(b, 2), 0))
    assert deep.to_list() == [found.to_list()]
    flat = tf.matmul(ragged([[1.0, 2.0], [3.0, 4.0]]), ragged([[1.0], [1.0]]))
    assert flat.numpy().tolist() == [[3.0], [7.0]]


def test_matrices_that_do_not_fit_are_refused():
    a, b = stacked(matrices([(1, 2), (3, 1)]), 2), stacked(matrices([(2, 4), (2, 2)]), 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many rows as it has columns"):
        tf.matmul(a, b)
    with pytest.raises(tf.errors.InvalidArgumentError, match="differ in their batches"):
        tf.matmul(a, tf.concat([b, b], 0))  # the first two would fit
    with pytest.raises(tf.errors.InvalidArgumentError, match="differ in length"):
        tf.matmul(ragged([[1.0, 2.0], [3.0]]), [[1.0], [1.0]])


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("axis", [1, 2])
def test_ragged_numbers_choose_inside_of_every_row(axis, staged):
    x = np.arange(24).reshape(2, 3, 4)
    numbers = [[0, 2], [], [1]]
    found = wrapped(staged)(lambda at: tf.gather(x, at, axis=axis))(ragged(numbers, dtype=tf.int32))
    for i, at in enumerate(numbers):
        wanted = np.take(x, np.array(at, int), axis)
        part = found[:, i] if axis == 1 else found[:, :, i]
        assert part.to_list() == wanted.tolist()
    rows = ragged([[1, 2, 3], [4, 5]])
    assert tf.gather(rows, ragged([[0, 1], [1]]), axis=1).to_list() == [
        [[1, 2], [2]],
        [[4, 5], [5]],
    ]
    dense = tf.gather(rows, [[0, 1], [1, 0]], axis=1)
    assert dense.numpy().tolist() == [[[1, 2], [2, 1]], [[4, 5], [5, 4]]]


def test_a_mask_may_be_as_deep_as_the_elements():
    x = tf.RaggedTensor.from_row_splits(np.arange(12).reshape(4, 3), [0, 2, 2, 4])
    kept = tf.ragged.boolean_mask(x, x % 2 == 0)
    assert kept.to_list() == [[[0, 2], [4]], [], [[6, 8], [10]]]
    dense = tf.ragged.boolean_mask(np.ones((1, 2, 2)), [[[True, False], [True, True]]])
    assert dense.to_list() == [[[1.0], [1.0, 1.0]]]


@pytest.mark.parametrize("staged", [False, True])
def test_numbers_stand_beside_a_ragged_condition(staged):
    is_it = ragged([[True, False], [], [True]])
    found = wrapped(staged)(lambda c: (tf.where(c, 1, 0), tf.where(c, 1, 0.5)))(is_it)
    assert [x.dtype for x in found] == [tf.int32, tf.float32]
    assert [x.to_list() for x in found] == [[[1, 0], [], [1]], [[1, 0.5], [], [1]]]


def test_sums_so_far_go_along_any_axis():
    x = ragged([[[1, 2], [3]], [], [[4], [5, 6, 7]]])
    assert tf.cumsum(x, axis=2).to_list() == [[[1, 3], [3]], [], [[4], [5, 11, 18]]]
    assert tf.cumsum(x, axis=1).to_list() == [[[1, 2], [4]], [], [[4], [9, 6, 7]]]
    assert tf.cumsum(x, axis=0).to_list() == [[[1, 2], [3]], [], [[5], [8, 6, 7]]]
    back = tf.cumsum(x, axis=-1, exclusive=True, reverse=True)
    assert back.to_list() == [[[2, 0], [0]], [], [[0], [13, 7, 0]]]


def test_texts_and_losses_are_of_each_element():
    assert tf.strings.split([]).to_list() == []
    runs = tf.strings.ngrams(ragged([["a", "b"], ["c"]]), 2, b"|", (b"<", b">"))
    assert runs.to_list() == [[b"<|a", b"a|b", b"b|>"], [b"<|c", b"c|>"]]
    x = ragged([["a", "b"], []])
    assert tf.strings.join([x, x, "!"], "-").to_list() == [[b"a-a-!", b"b-b-!"], []]
    loss = tf.nn.sigmoid_cross_entropy_with_logits(ragged([[1.0], []]), ragged([[0.0], []]))
    np.testing.assert_allclose(loss.flat_values, [np.log(2)], rtol=1e-6)
    parts = tf.dynamic_partition(ragged([[1, 2], [3], [4]]), [0, 1, 0], 2)
    assert [part.to_list() for part in parts] == [[[1, 2], [4]], [[3]]]


def test_a_trace_joins_ragged_tensors_that_are_there():
    a, b = ragged([[1, 2], [3]]), ragged([[4, 5], [6]])

    @tf.function
    def both(c):
        return a + b, tf.where(c, a, b), ragged([[1], []]) * ragged([[2], []])

    found = both(ragged([[True, False], [False]]))
    assert [x.to_list() for x in found] == [[[5, 7], [9]], [[1, 5], [6]], [[2], []]]


def test_images_of_any_size_lie_side_by_side():
    small, large = np.ones((2, 3, 1)), np.zeros((4, 1, 1))
    both = tf.ragged.stack([small, large])
    assert both.shape.as_list() == [2, None, None, 1]
    assert both[0].to_list() == small.tolist() and both[1].to_list() == large.tolist()
    assert tf.ragged.stack([[1, 2], [3, 4]], axis=1).numpy().tolist() == [[1, 3], [2, 4]]


def test_parts_may_be_of_rows_that_are_counted_later():
    spec = tf.RaggedTensorSpec([None, None], tf.int32)

    @tf.function(input_signature=[spec])
    def halves(x):
        return tf.split(x, 2)

    @tf.function(input_signature=[spec, tf.TensorSpec([2], tf.int32)])
    def parts(x, sizes):
        return tf.split(x, sizes)

    x = ragged([[1, 2], [], [3], [4]])
    assert [part.to_list() for part in halves(x)] == [[[1, 2], []], [[3], [4]]]
    for sizes in ([1, 3], [1, -1]):
        assert [part.to_list() for part in parts(x, tf.constant(sizes))] == [
            [[1, 2]],
            [[], [3], [4]],
        ]
    for call in (lambda: halves(x[:3]), lambda: parts(x, tf.constant([1, 2]))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not those of the rows"):
            call()


def test_a_graph_by_hand_checks_ragged_arguments_too():
    with tf.Graph().as_default():
        at = tf.compat.v1.placeholder(tf.int32, [None])
        row = tf.gather(ragged([[1, 2], [3]]), at)
        mask = tf.compat.v1.placeholder(tf.bool, [None])
        kept = tf.ragged.boolean_mask(ragged([[1, 2], [3]]), mask)
        with tf.compat.v1.Session() as session:
            assert session.run(row.flat_values, {at: [1]}).tolist() == [3]
            with pytest.raises(tf.errors.InvalidArgumentError, match="no row's"):
                session.run(row.flat_values, {at: [2]})
            with pytest.raises(tf.errors.InvalidArgumentError, match="differ in their rows"):
                session.run(kept.flat_values, {mask: [True, True, False]})


def test_what_stands_alone_is_joined_with_nothing():
    x = ragged([[1, 2], [3]])
    assert tf.concat(x, 0).to_list() == [[1, 2], [3]]
    dense = np.arange(4).reshape(2, 2)
    for alone in (dense, tf.constant(dense), tf.Variable(dense)):
        for axis in (0, 1):
            assert tf.concat(alone, axis).numpy().tolist() == dense.tolist()


def test_there_are_no_counts_of_no_numbers():
    none = tf.RaggedTensor.from_row_splits(tf.zeros([0], tf.int32), [0, 0, 0])
    assert tf.math.bincount(none, axis=-1).shape.as_list() == [2, 0]
    assert tf.math.bincount(none, axis=-1, minlength=2).numpy().tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("ragged_rank", [0, 1, 2])
@pytest.mark.parametrize("indices_rank", [1, 2, 3])
def test_each_batch_is_gathered_from_by_dense_numbers_inside_of_rows(ragged_rank, indices_rank):
    draw = np.random.default_rng(3)
    params, indices = draw.normal(size=(4, 3, 2)), draw.integers(0, 3, (4, 5, 4, 4))
    wanted = tf.gather(params, indices, batch_dims=1)
    given = tf.RaggedTensor.from_tensor(params, ragged_rank=ragged_rank) if ragged_rank else params
    found = tf.gather(
        given, tf.RaggedTensor.from_tensor(indices, ragged_rank=indices_rank), batch_dims=1
    )
    np.testing.assert_array_equal(found.to_tensor(), wanted)


def test_numbers_of_a_batch_begin_at_its_own_first_row():
    # As many numbers inside of a row as there are rows: no other batch's beginning fits by chance.
    params = tf.RaggedTensor.from_row_lengths(tf.range(7), [2, 2, 3])
    indices = tf.RaggedTensor.from_row_lengths([[0, 1], [1, 0]], [0, 1, 1])
    assert tf.gather(params, indices, batch_dims=1).to_list() == [[], [[2, 3]], [[5, 4]]]


def test_functions_take_what_sessions_give_for_ragged_and_sparse_tensors():
    value = tf.compat.v1.ragged.constant_value
    numbers, flags = value([[1, 2], [3]]), value([[True, False], [True]])
    assert tf.ragged.boolean_mask(numbers, flags).to_list() == [[1], [3]]
    assert tf.concat([numbers, numbers], 1).to_list() == [[1, 2, 1, 2], [3, 3]]
    assert tf.where(flags, numbers, -numbers.flat_values[0]).to_list() == [[1, -1], [3]]
    assert tf.gather(numbers, [1, 0]).to_list() == [[3], [1, 2]]
    assert tf.ragged.stack([numbers, [[4]]]).to_list() == [[[1, 2], [3]], [[4]]]
    assert tf.strings.length(value([["ab"], ["c", "d"]])).to_list() == [[2], [1, 1]]
    codes = tf.strings.unicode_decode(value([["ab"], []]), "UTF-8")
    assert codes.to_list() == [[[97, 98]], []]
    sparse = tf.compat.v1.SparseTensorValue([[0, 1], [1, 0]], [42, 24], [2, 2])
    np.testing.assert_array_equal(tf.shape(sparse), [2, 2])
    assert (tf.size(sparse), tf.rank(sparse)) == (4, 2)


def test_parts_and_hot_numbers_lie_along_axes_inside_of_the_rows():
    numbers = ragged([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    for parts in (tf.split(numbers, 2, axis=2), tf.split(numbers, [1, 1], axis=-1)):
        assert [part.to_list() for part in parts] == [[[[1], [3]], [[5]]], [[[2], [4]], [[6]]]]
    with pytest.raises(NotImplementedError, match="split"):
        tf.split(numbers, 2, axis=1)
    hot = tf.one_hot(ragged([[[0, 1]], []], ragged_rank=1), 2, axis=2)
    assert hot.to_list() == tf.one_hot([[[0, 1]]], 2, axis=2).numpy().tolist() + [[]]
    with pytest.raises(NotImplementedError, match="one_hot"):
        tf.one_hot(ragged([[0], []]), 2, axis=1)


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_images_of_several_sizes_become_those_of_one(staged, method):
    first, second = (m[..., None] for m in matrices([(2, 3), (5, 4)]))
    wide = tf.ragged.stack([first, second])

    @wrapped(staged)
    def resized(images):
        return tf.image.resize(images, [4, 2], method)

    found = resized(wide)
    wanted = [tf.image.resize(each, [4, 2], method) for each in (first, second)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found.shape == [2, 4, 2, 1]
    assert resized(wide[:0]).shape == [0, 4, 2, 1]
    assert resized(tf.cast(wide, "int32")).dtype == ("int32" if method == "nearest" else "float32")


def test_the_shape_of_a_dense_tensor_may_be_known_by_the_call_alone():
    @tf.function(
        input_signature=[tf.RaggedTensorSpec([None, None], "int32"), tf.TensorSpec(None, "int64")]
    )
    def dense(rows, shape):
        return rows.to_tensor(shape=shape)

    rows = ragged([[1, 2, 3], [4]])
    np.testing.assert_array_equal(
        dense(rows, tf.constant([3, 2], "int64")), [[1, 2], [4, 0], [0, 0]]
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        dense(rows, tf.constant([3], "int64"))


def test_one_tensor_is_stacked_alone():
    one = tf.ragged.stack(tf.constant([[1, 2], [3, 4]]))
    assert one.to_list() == [[[1, 2], [3, 4]]]
