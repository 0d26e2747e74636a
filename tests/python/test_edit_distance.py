"""`tf.edit_distance`: Levenshtein's distance of sequences in sparse tensors."""

import numpy as np
import pytest

import holdfast as tf


def distance(a, b):
    """By the definition, with nothing to make it fast."""
    if not a or not b:
        return len(a) + len(b)
    kept = distance(a[1:], b[1:]) + (a[0] != b[0])
    return min(kept, distance(a[1:], b) + 1, distance(a, b[1:]) + 1)


def sparse(rows, width, dtype):
    places = [[i // 2, i % 2, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [v for row in rows for v in row]
    shape = [(len(rows) + 1) // 2, 2, width]
    return tf.SparseTensor(np.array(places, np.int64).reshape(-1, 3), tf.constant(values, dtype), shape)  # fmt: skip


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "string"])
@pytest.mark.parametrize("seed", range(4))
def test_random_sequences(seed, dtype):
    rng = np.random.default_rng(seed)
    rows = [[list(rng.choice(list("abc"), rng.integers(0, 6))) for _ in range(6)] for _ in range(2)]
    expected = [distance(a, b) for a, b in zip(*rows, strict=True)]
    number = str if dtype == "string" else ord
    guess, truth = (sparse([[number(c) for c in row] for row in part], 6, dtype) for part in rows)
    got = tf.edit_distance(guess, truth, normalize=False)
    np.testing.assert_array_equal(np.ravel(got), expected)
    lengths = np.array([len(row) for row in rows[1]], float)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.nan_to_num(np.array(expected) / lengths, nan=0.0, posinf=np.inf)
    np.testing.assert_allclose(np.ravel(tf.edit_distance(guess, truth)), shares, rtol=1e-6)
    traced = tf.function(lambda a, b: tf.edit_distance(a, b))(guess, truth)
    np.testing.assert_allclose(np.ravel(traced), shares, rtol=1e-6)


def test_the_result_has_room_for_both():
    a = tf.SparseTensor([[0, 0]], [1], [1, 1])
    b = tf.SparseTensor([[0, 0], [2, 0]], [1, 1], [3, 4])
    np.testing.assert_array_equal(tf.edit_distance(a, b, normalize=False), [0, 0, 1])
    np.testing.assert_array_equal(tf.edit_distance(b, a), [0, 0, np.inf])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hypothesis_indices": [[0, 5]]}, "`hypothesis_indices` has 5"),
        ({"truth_indices": [[-1, 0]]}, "`truth_indices` has -1"),
        ({"truth_shape": [1, 1, 1]}, "truth_indices|truth_shape"),
        ({"truth_values": [1, 2]}, "2 rows"),
        ({"hypothesis_shape": [1, -1]}, "0 or more"),
        ({"hypothesis_indices": [0]}, "rank 2"),
        ({"hypothesis_shape": [2**62, 1], "truth_shape": [2**62, 1]}, "EditDistance|memory"),
    ],
)
def test_parts_that_do_not_fit_are_refused_by_name(change, words):
    parts = {
        f"{who}_{part}": np.array(value, np.int64)
        for who in ("hypothesis", "truth")
        for part, value in (("indices", [[0, 0]]), ("values", [1]), ("shape", [1, 1]))
    }
    parts |= {name: np.array(value, np.int64) for name, value in change.items()}
    with pytest.raises(tf.errors.OpError, match=words):
        tf.raw_ops.EditDistance(**parts)


def test_dense_tensors_and_two_dtypes_are_refused():
    a = tf.SparseTensor([[0, 0]], [1], [1, 1])
    with pytest.raises(TypeError, match="`truth`"):
        tf.edit_distance(a, [[1]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32.*float32"):
        tf.edit_distance(a, tf.SparseTensor([[0, 0]], [1.0], [1, 1]))
