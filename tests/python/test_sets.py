"""Sets along the last axis of tensors, dense and sparse; combinations of the values of rows."""

import numpy as np
import pytest

import holdfast as tf

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "string"]
DENSE = {"a": [[3, 1, 1, 2], [5, 5, 5, 5], [7, 8, 9, 9]], "b": [[2, 9], [1, 5], [4, 4]]}
EXPECTED = {
    "intersection": [[2], [5], []],
    "union": [[1, 2, 3, 9], [1, 5], [4, 7, 8, 9]],
    "difference": [[1, 3], [], [7, 8, 9]],
}


def of(rows, dtype):
    """A tensor of numbers of one digit, or of those as texts."""
    return tf.strings.as_string(rows) if dtype == "string" else tf.constant(rows, dtype)


def as_rows(found):
    rows = [[] for _ in range(found.shape[0])]
    for (row, place), value in zip(found.indices.numpy(), found.values.numpy(), strict=True):
        assert place == len(rows[row])
        rows[row].append(int(value))
    return rows


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("sparse", ["", "a", "b", "ab"])
def test_sets_of_rows(name, dtype, sparse):
    given = {}
    for key, rows in DENSE.items():
        tensor = of(rows, dtype)
        if key in sparse:  # with a hole in front, which is no element
            wide = np.full((3, 1), "" if dtype == "string" else 0, object)
            whole = tf.concat(
                [of(wide, dtype) if dtype != "string" else tf.constant(wide.astype(str)), tensor], 1
            )
            tensor = tf.sparse.from_dense(whole)
        given[key] = tensor
    found = getattr(tf.sets, name)(given["a"], given["b"])
    assert as_rows(found) == EXPECTED[name] and found.dtype.name == dtype
    assert found.dense_shape.numpy().tolist() == [3, max(map(len, EXPECTED[name]))]


def test_the_reverse_of_a_difference():
    a, b = (tf.constant(rows) for rows in DENSE.values())
    want = [[9], [1], [4]]
    assert as_rows(tf.sets.difference(a, b, aminusb=False)) == want
    assert as_rows(tf.sets.difference(tf.sparse.from_dense(a), b, aminusb=False)) == want
    assert as_rows(tf.sets.difference(b, a)) == want


def test_more_axes():
    rng = np.random.RandomState(0)
    x, y = rng.randint(0, 6, (2, 3, 5)), rng.randint(0, 6, (2, 3, 4))
    for name in EXPECTED:
        found = getattr(tf.sets, name)(x, y)
        count = {}
        for *place, value in np.column_stack([found.indices, found.values]).tolist():
            count.setdefault(tuple(place[:2]), []).append(value)
        for place in np.ndindex(2, 3):
            want = getattr(set(x[place].tolist()), name)(y[place].tolist())
            assert count.get(place, []) == sorted(want)


def test_how_many_elements_there_are():
    a = tf.SparseTensor(
        [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 1, 0]], ["x", "y", "x", "z"], [2, 2, 3]
    )
    found = tf.sets.size(a)
    assert found.numpy().tolist() == [[2, 0], [0, 1]] and found.dtype == tf.int32
    assert tf.compat.v1.sets.set_size(a).numpy().tolist() == [[2, 0], [0, 1]]
    with pytest.raises(TypeError, match="expected a SparseTensor"):
        tf.sets.size([[1, 2]])


def test_in_graphs_of_unknown_sizes():
    spec = tf.TensorSpec([None, None], tf.int32)

    @tf.function(input_signature=[spec, spec, tf.SparseTensorSpec([None, None], tf.int32)])
    def found(a, b, c):
        both = tf.sets.union(a, b)
        assert both.shape.as_list() == [None, None]
        return both, tf.sets.intersection(both, c), tf.sets.size(c)

    a, b = (tf.constant(rows) for rows in DENSE.values())
    both, inside, count = found(a, b, tf.sparse.from_dense(b))
    assert as_rows(both) == EXPECTED["union"] and as_rows(inside) == [[2, 9], [1, 5], [4]]
    assert count.numpy().tolist() == [2, 2, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="but for the last one"):
        found(a, b[:2], tf.sparse.from_dense(b))
    known = tf.function(tf.sets.union).get_concrete_function(
        tf.TensorSpec([3, None], tf.int32), tf.TensorSpec([3, 2], tf.int32)
    )
    assert known.structured_outputs.shape.as_list() == [3, None]


def unordered():
    return tf.SparseTensor([[1, 0], [0, 1]], [4, 7], [2, 5])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda a: tf.sets.union(a, [[1], [2]]), "but for the last"),
        (lambda a: tf.sets.union(a, tf.cast(a, tf.int64)), "`a` is int32 but `b` is int64"),
        (lambda a: tf.sets.union([1.0, 2.0], [1.0, 2.0]), "float32"),
        (lambda a: tf.sets.union([1, 2], [1, 2]), "rank"),
        (lambda a: tf.sets.union(a[:2], unordered()), "not in order at row 1"),
        (lambda a: tf.sets.size(unordered()), "not in order at row 1"),
        (
            lambda a: tf.sets.size(tf.SparseTensor([[0, 5]], [1], [2, 3]), validate_indices=False),
            "expected 0 to 2",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        make(tf.constant(DENSE["a"]))


def test_the_order_of_indices_is_free_if_nobody_asks():
    found = tf.sets.intersection([[7], [4]], unordered(), validate_indices=False)
    assert as_rows(found) == [[7], [4]]


# Combinations.


def features():
    first = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
    return first, tf.constant([["g", "h"], ["i", "j"]]), tf.constant([[1], [2]])


def test_combinations_of_sparse_tensors_and_matrices():
    first, texts, numbers = features()
    found = tf.sparse.cross([texts, first, numbers])  # sparse ones come first
    assert found.indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]]
    want = [b"a_X_g_X_1", b"a_X_h_X_1", b"b_X_i_X_2", b"b_X_j_X_2", b"c_X_i_X_2", b"c_X_j_X_2"]
    assert found.values.numpy().tolist() == want
    assert found.dense_shape.numpy().tolist() == [2, 4]
    other = tf.sparse.cross([first, numbers], separator="-")
    assert other.values.numpy().tolist() == [b"a-1", b"b-2", b"c-2"]


def test_combinations_as_numbers():
    first, texts, numbers = features()
    found = tf.sparse.cross_hashed([first, numbers], num_buckets=100)
    ragged = tf.ragged.cross_hashed([first, numbers], num_buckets=100)
    assert found.values.numpy().tolist() == ragged.values.numpy().tolist()
    assert ragged.row_lengths().numpy().tolist() == [1, 2]
    assert (found.values.numpy() < 100).all() and found.dtype == tf.int64
    other = tf.sparse.cross_hashed([first, numbers], num_buckets=100, hash_key=7)
    assert other.values.numpy().tolist() != found.values.numpy().tolist()
    later = tf.function(lambda x, y: tf.sparse.cross_hashed([x, y], 100))(first, numbers)
    assert later.values.numpy().tolist() == found.values.numpy().tolist()
    for bad in ([], [[["a"]]], texts):
        with pytest.raises((TypeError, ValueError), match=r"tf\.sparse\.cross_hashed"):
            tf.sparse.cross_hashed(bad)
    with pytest.raises(ValueError, match="hash_key"):
        tf.ragged.cross_hashed([texts], hash_key=1 << 64)
    with pytest.raises(ValueError, match="num_buckets"):
        tf.ragged.cross_hashed([texts], num_buckets=-1)
