"""`bad_indices_policy`: positions that a tensor has not are refused, or left out where it says so."""

import numpy as np
import pytest

import holdfast as tf

INDICES = [[1, 0], [4, 1], [0, 2], [-1, 0], [2, 5]]
GOOD = [True, False, True, False, False]


def test_gather_gives_zeros():
    x = np.arange(1.0, 13.0, dtype="float32").reshape(4, 3)
    got = tf.gather_nd(x, INDICES, bad_indices_policy="IGNORE")
    np.testing.assert_array_equal(got, [4, 0, 3, 0, 0])
    rows = tf.gather_nd(x, [[3], [7]], bad_indices_policy="IGNORE")
    np.testing.assert_array_equal(rows, [[10, 11, 12], [0, 0, 0]])
    words = tf.gather_nd([b"a", b"b"], [[1], [2]], bad_indices_policy="IGNORE")
    np.testing.assert_array_equal(words, [b"b", b""])
    batched = tf.gather_nd(x, [[[0]], [[1]], [[2]], [[3]]], 1, bad_indices_policy="IGNORE")
    np.testing.assert_array_equal(batched, [[1], [5], [9], [0]])


def test_of_an_empty_tensor():
    x = tf.zeros([0, 2])
    np.testing.assert_array_equal(tf.gather_nd(x, [[0]], bad_indices_policy="IGNORE"), [[0, 0]])


@pytest.mark.parametrize("policy", ["", "DEFAULT", "ERROR"])
def test_otherwise_they_are_refused(policy):
    with pytest.raises(tf.errors.InvalidArgumentError, match="GatherNd"):
        tf.gather_nd([1.0, 2.0], [[2]], bad_indices_policy=policy)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ScatterNd"):
        tf.scatter_nd([[5]], [1.0], [3], bad_indices_policy=policy)


def test_an_unknown_word_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad_indices_policy"):
        tf.gather_nd([1.0, 2.0], [[0]], bad_indices_policy="SKIP")


def test_scatters_leave_updates_out():
    updates = np.array([10.0, 20.0, 30.0, 40.0, 50.0], "float32")
    want = np.zeros((4, 3), "float32")
    want[1, 0], want[0, 2] = 10, 30
    got = tf.scatter_nd(INDICES, updates, [4, 3], bad_indices_policy="IGNORE")
    np.testing.assert_array_equal(got, want)
    base = np.full((4, 3), 20.0, "float32")
    for name, change in {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "min": np.minimum,
        "max": np.maximum,
    }.items():
        wanted = base.copy()
        wanted[1, 0], wanted[0, 2] = change(20, 10), change(20, 30)
        scatter = getattr(tf, f"tensor_scatter_nd_{name}")
        got = scatter(base, INDICES, updates, bad_indices_policy="IGNORE")
        np.testing.assert_array_equal(got, wanted, name)
    raw = tf.raw_ops.TensorScatterUpdate(
        tensor=base, indices=INDICES, updates=updates, bad_indices_policy="IGNORE"
    )
    assert raw[1, 0] == 10 and raw[0, 2] == 30 and tf.reduce_sum(raw) == 200 + 40


def test_a_variable_keeps_what_is_not_meant():
    v = tf.Variable([1.0, 2.0, 3.0])
    tf.raw_ops.ResourceScatterNdAdd(
        ref=v.handle, indices=[[0], [9]], updates=[5.0, 7.0], bad_indices_policy="IGNORE"
    )
    np.testing.assert_array_equal(v, [6, 2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.ResourceScatterNdAdd(ref=v.handle, indices=[[0], [9]], updates=[5.0, 7.0])
    np.testing.assert_array_equal(v, [6, 2, 3])


@pytest.mark.parametrize("traced", [False, True])
def test_gradients_pass_them_by(traced):
    x = tf.constant(np.arange(12.0).reshape(4, 3))
    updates = tf.constant([10.0, 20.0, 0.5, 40.0, 50.0], tf.float64)
    weights = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0], tf.float64)

    def gathered(x):
        return tf.reduce_sum(weights * tf.gather_nd(x, INDICES, bad_indices_policy="IGNORE"))

    def scattered(u):
        moved = tf.tensor_scatter_nd_max(x, INDICES, u, bad_indices_policy="IGNORE")
        return tf.reduce_sum(moved * moved)

    def rows(x):
        return tf.reduce_sum(tf.gather_nd(x, [[1], [8], [1]], bad_indices_policy="IGNORE"))

    for f, at, want in [
        (gathered, x, {(1, 0): 1, (0, 2): 3}),
        (scattered, updates, {(0,): 20}),
        (rows, x, {(1, i): 2 for i in range(3)}),
    ]:
        f = tf.function(f) if traced else f
        with tf.GradientTape() as tape:
            tape.watch(at)
            y = f(at)
        slope = np.array(tf.convert_to_tensor(tape.gradient(y, at)))
        wanted = np.zeros(at.shape)
        for place, value in want.items():
            wanted[place] = value
        np.testing.assert_allclose(slope, wanted)
