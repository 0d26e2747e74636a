"""Small things that many programs use: rows through clipping, shapes that are known, raw ops by name."""

import time

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1
ROWS = np.array([[3.0, 4.0], [6.0, 8.0]], "float32")


def rows():
    return tf.IndexedSlices(tf.constant(ROWS), tf.constant([2, 0]), tf.constant([4, 2]))


CLIPPED = {
    "by value": (lambda x: tf.clip_by_value(x, 0.0, 5.0), np.minimum(ROWS, 5)),
    "by norm": (lambda x: tf.clip_by_norm(x, 5.0), ROWS * 5 / np.sqrt(125)),
    "by global norm": (
        lambda x: tf.clip_by_global_norm([x, tf.constant([10.0])], 5.0)[0][0],
        ROWS * 5 / 15,
    ),
}


@pytest.mark.parametrize("how", CLIPPED)
@pytest.mark.parametrize("traced", [False, True])
def test_rows_that_are_clipped_stay_rows(how, traced):
    clip, wanted = CLIPPED[how]
    found = (tf.function(clip) if traced else clip)(rows())
    assert isinstance(found, tf.IndexedSlices)
    np.testing.assert_allclose(found.values, wanted, rtol=1e-6)
    assert found.indices.numpy().tolist() == [2, 0]


@pytest.mark.parametrize("axes", [np.array([1, 0]), np.array([[1], [0]]), ([1], [0]), [[1], [0]]])
def test_a_product_over_axes_in_an_array_knows_its_shape(axes):
    a, b = np.ones([2, 3], "float32"), np.ones([3, 5], "float32")

    @tf.function(input_signature=[tf.TensorSpec([2, 3]), tf.TensorSpec([3, 5])])
    def product(a, b):
        y = tf.tensordot(a, b, axes)
        assert y.shape == (2, 5)
        return y

    np.testing.assert_allclose(product(a, b), a @ b)


@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_mean, tf.reduce_max])
def test_what_is_reduced_over_all_axes_is_a_scalar_whatever_its_rank(reduce):
    @tf.function(input_signature=[tf.TensorSpec(None)])
    def whole(x):
        y = reduce(x)
        assert y.shape == () and reduce(x, axis=None).shape == ()
        return y

    for x in (np.float32(2), np.ones([2, 3], "float32")):
        np.testing.assert_allclose(whole(x), getattr(np, reduce.__name__.split("_")[1])(x))


def test_raw_ops_have_tensorflows_names():
    raw = tf.raw_ops
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(raw.Einsum(inputs=[a, b], equation="ij,jk->ik"), a @ b)
    found = raw.ParallelDynamicStitch(indices=[[0, 2], [1]], data=[[1.0, 3.0], [2.0]])
    assert found.numpy().tolist() == [1, 2, 3]
    found = raw.ScatterNdNonAliasingAdd(
        input=[1.0, 2.0, 3.0], indices=[[0], [2], [0]], updates=[1.0, 1.0, 1.0]
    )
    assert found.numpy().tolist() == [3, 2, 4]
    found = raw.BandedTriangularSolve(matrix=[[2.0, 2.0], [0.0, 1.0]], rhs=[[2.0], [5.0]])
    np.testing.assert_allclose(found, [[1.0], [2.0]])
    values = tf.Variable([1.0, 2.0, 3.0])
    found = raw.ResourceGather(resource=values.handle, indices=[2, 0], dtype=tf.float32)
    assert found.numpy().tolist() == [3, 1]


def test_structures_of_tensors_are_keys_of_a_feed():
    Pair = __import__("collections").namedtuple("Pair", "a b")
    with tf.Graph().as_default(), v1.Session() as sess:
        a, b, c = (v1.placeholder(tf.float32, []) for _ in range(3))
        y = a + 10 * b + 100 * c
        assert sess.run(y, {(a, (b, c)): (1, (2, 3))}) == 321
        assert sess.run(y, {Pair(a, b): Pair(1, 2), c: 3}) == 321
        with pytest.raises((ValueError, TypeError)):
            sess.run(y, {(a, b): (1,), c: 3})


def test_a_run_costs_what_it_runs_not_what_the_graph_holds():
    def cost(nodes):
        with tf.Graph().as_default(), v1.Session() as sess:
            x = v1.placeholder(tf.float32, [])
            y = x + 1
            for _ in range(nodes):
                y + 1.0
            sess.run(y, {x: 1})
            times = []
            for _ in range(30):
                begin = time.perf_counter()
                sess.run(y, {x: 1})
                times.append(time.perf_counter() - begin)
            return min(times)

    small = cost(10)
    assert cost(10_000) < 5 * small + 50e-6
