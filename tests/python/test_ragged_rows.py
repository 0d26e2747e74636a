"""Functions that look at rows of ragged tensors as wholes, not at single elements."""

import numpy as np
import pytest

import holdfast as tf

ragged = tf.ragged.constant
ROWS = [[1.0, 2.0], [3.0], [], [4.0, 5.0, 6.0]]


def in_rows(function, rows):
    return [function(np.array(row)).tolist() if row else [] for row in rows]


def softmax(row):
    powers = np.exp(row - row.max())
    return powers / powers.sum()


def close(found, wanted):
    assert [len(row) for row in found.to_list()] == [len(row) for row in wanted]
    flat = [x for row in wanted for x in row]
    np.testing.assert_allclose(found.flat_values, flat, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("staged", [False, True])
def test_softmax_is_of_each_row(staged):
    wrap = tf.function if staged else lambda f: f
    close(wrap(tf.nn.softmax)(ragged(ROWS)), in_rows(softmax, ROWS))
    close(wrap(tf.nn.log_softmax)(ragged(ROWS)), in_rows(lambda r: np.log(softmax(r)), ROWS))
    far = [[1000.0, 999.0], [-1000.0, -1001.0]]  # one row must not drown another
    close(wrap(tf.nn.softmax)(ragged(far)), in_rows(softmax, far))
    deep = ragged([[[1.0, 2.0], [3.0]], [[1.0, 1.0]]])
    assert tf.nn.softmax(deep).to_list()[1] == [[0.5, 0.5]]
    even = ragged([[[1.0, 1.0]], [[2.0, 2.0], [3.0, 3.0]]], ragged_rank=1)
    assert tf.nn.softmax(even).to_list() == [[[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]
    with pytest.raises(tf.errors.UnimplementedError, match="another axis than the last"):
        tf.nn.softmax(ragged(ROWS), axis=0)


def test_softmax_has_the_gradient_of_each_row():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        rows = tf.nn.softmax(tf.RaggedTensor.from_row_lengths(x * 1.0, [2, 1]))
        y = tf.reduce_sum(rows.flat_values * [1.0, 0.0, 5.0])
    a, b = softmax(np.array([1.0, 2.0]))
    np.testing.assert_allclose(tape.gradient(y, x), [a * b, -a * b, 0], atol=1e-6)


def test_logsumexp_of_a_row_does_not_hang_on_others():
    found = tf.reduce_logsumexp(ragged([[1000.0, 1000.0], [0.0, 0.0], [-1000.0]]), axis=1)
    np.testing.assert_allclose(found, [1000 + np.log(2), np.log(2), -1000], rtol=1e-6)
    down = tf.reduce_logsumexp(ragged([[1000.0, 0.0], [1000.0]]), axis=0)
    np.testing.assert_allclose(down, [1000 + np.log(2), 0], atol=1e-4)


def test_rows_without_elements_are_neither_true_nor_false():
    x = ragged([[[True, False], []], [[False]]])
    assert tf.reduce_any(x, axis=2).to_list() == [[True, False], [False]]
    assert tf.reduce_all(x, axis=2).to_list() == [[False, True], [False]]
    assert tf.reduce_any(x, keepdims=True).numpy().tolist() == [[[True]]]
    assert not bool(tf.reduce_all(x))


def test_a_variance_is_not_negative():
    x = ragged([[0.1] * 7, [1000.1] * 3, [3.3] * 5])
    assert (tf.math.reduce_variance(x, axis=1).numpy() >= 0).all()
    assert np.isfinite(tf.math.reduce_std(x, axis=1).numpy()).all()


def test_strings_are_joined_in_rows_and_down_columns():
    x = ragged([["a", "b"], [], ["c"]])
    assert tf.strings.reduce_join(x, axis=-1, separator="-").numpy().tolist() == [b"a-b", b"", b"c"]
    assert tf.strings.reduce_join(x, axis=0).numpy().tolist() == [b"ac", b"b"]
    assert tf.strings.reduce_join(x).numpy() == b"abc"


def test_split_takes_rows():
    x = ragged([[1, 2], [3], [4]])
    assert [part.to_list() for part in tf.split(x, 3)] == [[[1, 2]], [[3]], [[4]]]
    assert [part.to_list() for part in tf.split(x, [1, -1])] == [[[1, 2]], [[3], [4]]]
    for sizes in (2, [1, 1], [4, -1]):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="split"):
            tf.split(x, sizes)


def test_ragged_ids_look_up_rows_of_a_table():
    table = tf.reshape(tf.range(12.0), [6, 2])
    found = tf.nn.embedding_lookup(table, ragged([[1, 2], [], [5]]))
    assert found.to_list() == [[[2, 3], [4, 5]], [], [[10, 11]]]


def test_a_range_that_spans_more_than_its_dtype_counts():
    found = tf.ragged.range([0, -2147483648], [2147483647, 2147483647], [2000000000, 2147483647])
    assert found.to_list() == [[0, 2000000000], [-2147483648, -1, 2147483646]]


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.ragged.boolean_mask(ragged([[1, 2], [3]]), [True]),
        lambda: tf.ragged.boolean_mask([1, 2, 3], [True, False]),
        lambda: tf.ragged.stack_dynamic_partitions([1, 2, 3], [0, 1], 2),
        lambda: tf.ragged.stack_dynamic_partitions(ragged([[1, 2], [3]]), ragged([[0], [1, 1]]), 2),
        lambda: tf.nn.crelu(ragged([[1.0], [2.0, 3.0]])),
    ],
)
def test_what_does_not_pair_is_refused(call):
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        call()
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        tf.function(call)()


def test_gather_in_batches_goes_by_the_numbers_of_each_batch():
    x = ragged([[[1, 2], [3, 4, 5]], [[6, 7]]])
    assert tf.gather(x, [[1, 0], [0, 0]], axis=2, batch_dims=1).to_list() == [
        [[2, 1], [4, 3]],
        [[6, 6]],
    ]
    assert tf.gather(x, [0, 1], axis=2, batch_dims=1).to_list() == [[1, 3], [7]]
    inner = ragged([[[1], [0, 2]], [[1, 0]]])
    assert tf.gather(x, inner, batch_dims=2).to_list() == [[[2], [3, 5]], [[7, 6]]]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="differ in their rows"):
        tf.gather(x, ragged([[[1]], [[1], [0]]]), batch_dims=2)


def test_gather_of_ragged_forms_is_that_of_the_dense_tensor():
    dense = np.arange(24).reshape(2, 3, 4)
    for rank in (1, 2):
        params = tf.RaggedTensor.from_tensor(dense, ragged_rank=rank)
        for indices, axis, batch_dims in (
            ([[0, 2], [1, 1]], 2, 1),
            ([[0, 2], [1, 1]], 1, 1),
            ([[0, 2, 1], [1, 1, 3]], 2, 2),
            ([1, 3], 2, 1),
        ):
            wanted = tf.gather(dense, indices, axis=axis, batch_dims=batch_dims).numpy().tolist()
            forms = [indices]
            if np.ndim(indices) > 1:
                forms.append(tf.RaggedTensor.from_tensor(indices))
            for given in forms:
                found = tf.gather(params, given, axis=axis, batch_dims=batch_dims)
                found = found.to_list() if hasattr(found, "to_list") else found.numpy().tolist()
                assert found == wanted


def test_rows_that_differ_in_length_are_not_equal():
    a, b = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[1], [3]])
    assert (a == b) is False and (a != b) is True
    one = tf.constant([0, 1])
    x = tf.RaggedTensor.from_row_splits([[1, 2]], one)
    y = tf.RaggedTensor.from_row_splits([[3, 4, 5]], one)
    assert (x == y) is False and (x != y) is True
    assert (a == a + 0).to_list() == [[True, True], [True]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        _ = a == tf.ragged.constant([[1.0, 2.0], [3.0]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        _ = a < b
