"""Gradients of products of many matrices with one: a sum of products is one product."""

import numpy as np
import pytest

import holdfast as tf

SHAPES = [(2, 3, 4), (5, 1, 2, 4), (1, 1, 4), (0, 3, 4), (2, 0, 4), (2, 3, 0)]


def numbers(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if dtype.is_complex:
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype.as_numpy_dtype)


@pytest.mark.parametrize("dtype", [tf.float64, tf.complex128])
@pytest.mark.parametrize("adjoint_b", [False, True])
@pytest.mark.parametrize("adjoint_a", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_shared_matrix_has_the_sum_of_all_products(shape, adjoint_a, adjoint_b, dtype):
    width = shape[-2] if adjoint_a else shape[-1]
    a = numbers(shape, dtype, 1)
    b = numbers((6, width) if adjoint_b else (width, 6), dtype, 2)
    rows = np.conj(np.swapaxes(a, -1, -2)) if adjoint_a else a
    up = numbers((*rows.shape[:-1], 6), dtype, 3)
    summed = list(range(len(shape) - 1))
    wanted = np.tensordot(np.conj(rows), up, axes=(summed, summed))
    wanted = np.conj(wanted.T) if adjoint_b else wanted

    def slope(x, w, d):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.matmul(x, w, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
        return tape.gradient(y, w, output_gradients=d)

    given = [tf.constant(t) for t in (a, b, up)]
    open_sizes = [tf.TensorSpec([None] * t.shape.rank, dtype) for t in given]
    for f in (slope, tf.function(slope), tf.function(slope, input_signature=open_sizes)):
        np.testing.assert_allclose(f(*given), wanted, rtol=1e-12, atol=1e-12)


def test_a_layer_over_sequences_makes_no_product_for_each():
    layer = tf.keras.layers.Dense(7)
    x = tf.ones([3, 11, 5])
    layer(x)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x) ** 2)
        return tape.gradient(loss, layer.kernel)

    step(x)
    assert "float32[3,5,7]" not in step.explain()
