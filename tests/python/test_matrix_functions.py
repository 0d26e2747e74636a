"""Gradients of functions of matrices in float32, against float64."""

import numpy as np
import pytest

import holdfast as tf


@pytest.mark.parametrize("factor", [0.0, 1e-8, 1.0, 1e6])
def test_the_exponential_keeps_its_digits_however_large_the_upstream_gradient_is(factor):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(2, 4, 4))
    matrices = half @ half.transpose(0, 2, 1) + np.eye(4)
    upstream = rng.normal(size=(2, 4, 4)) * factor
    slopes = []
    for dtype in (tf.float32, tf.float64):
        x = tf.constant(matrices, dtype)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.linalg.expm(x)
        slopes.append(tape.gradient(y, x, tf.constant(upstream, dtype)).numpy())
    largest = np.abs(slopes[1]).max()
    np.testing.assert_allclose(slopes[0], slopes[1], rtol=0, atol=1e-4 * largest)


def test_the_exponential_of_nothing_has_a_gradient():
    x = tf.zeros([3, 0, 0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.linalg.expm(x)
    assert tape.gradient(y, x).shape == (3, 0, 0)
