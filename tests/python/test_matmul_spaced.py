"""Products whose rows lie a large power of two apart, which are copied with space between rows."""

import numpy as np
import pytest

import holdfast as tf

# m, k, n: lengths of rows that are and are not multiples of 128 and 256, few and many rows.
SIZES = [
    (64, 37, 256),
    (63, 37, 256),
    (128, 50, 512),
    (256, 33, 128),
    (256, 33, 130),
    (384, 20, 257),
    (512, 9, 512),
    (70, 1, 1024),
    (1024, 12, 64),
    (2048, 5, 300),
]


def operands(m, k, n, left, right):
    r = np.random.RandomState(m + k + n)
    a = r.randn(*((k, m) if left else (m, k))).astype("float32")
    b = r.randn(*((n, k) if right else (k, n))).astype("float32")
    return a, b


@pytest.mark.parametrize("m, k, n", SIZES)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_product_is_that_of_numpy(m, k, n, left, right):
    a, b = operands(m, k, n, left, right)
    want = (a.T if left else a).astype("float64") @ (b.T if right else b).astype("float64")
    got = tf.matmul(a, b, transpose_a=left, transpose_b=right)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


def test_products_that_follow_each_other_do_not_mix_their_operands():
    small, large = operands(64, 8, 256, True, False), operands(512, 60, 512, True, False)
    first = tf.matmul(*small, transpose_a=True).numpy()
    second = tf.matmul(*large, transpose_a=True).numpy()
    for _ in range(3):
        np.testing.assert_array_equal(tf.matmul(*large, transpose_a=True), second)
        np.testing.assert_array_equal(tf.matmul(*small, transpose_a=True), first)


def test_gradient_of_a_layer_of_256_units():
    x, w = operands(96, 128, 256, False, False)
    weights = tf.Variable(w)
    with tf.GradientTape() as tape:
        y = tf.matmul(tf.constant(x), weights)
        loss = tf.reduce_sum(y * y)
    dy = 2 * (x.astype("float64") @ w)
    np.testing.assert_allclose(
        tape.gradient(loss, weights), x.T.astype("float64") @ dy, rtol=1e-4, atol=2e-2
    )
