"""Digamma, polygamma and zeta at poles, at infinities and far below 0."""

import numpy as np
import pytest

import holdfast as tf

M = tf.math
INF, NAN = np.inf, np.nan
POLES = [-0.0, 0.0, -1.0, -2.0, -1e10, -INF]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_where_the_sides_of_a_pole_differ_there_is_no_value(dtype):
    x = np.array(POLES, dtype)
    odd, even = np.full(6, INF), np.full(6, NAN)
    for n in range(7):
        out = M.polygamma(tf.constant(n, dtype), x)
        np.testing.assert_array_equal(out, odd if n % 2 else even)
        np.testing.assert_array_equal(M.zeta(tf.constant(n + 2, dtype), x), even if n % 2 else odd)
    np.testing.assert_array_equal(M.digamma(x), even)
    np.testing.assert_array_equal(M.lgamma(x), odd)
    np.testing.assert_array_equal(M.zeta(tf.constant(1.5, dtype), x), even)


def test_slopes_at_poles():
    x = tf.constant([0.0, -1.0, -2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = M.digamma(x), M.lgamma(x)
    np.testing.assert_array_equal(tape.gradient(y, x), [INF] * 3)
    np.testing.assert_array_equal(tape.gradient(z, x), [NAN] * 3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_far_to_the_right_terms_vanish(dtype):
    big = np.array([1e30, INF], dtype)
    np.testing.assert_array_equal(M.zeta(tf.constant(INF, dtype), big), [0, 0])
    np.testing.assert_array_equal(M.zeta(tf.constant(40.0, dtype), big), [0, 0])
    np.testing.assert_allclose(M.polygamma(tf.constant(3.0, dtype), big), [0, 0], atol=1e-89)


def test_far_to_the_left_as_by_the_reflection():
    x = np.array([-20.5, -100.25, -1e5 - 0.5, -1e5 - 0.25, -12345678.75, -1e12 - 0.125])
    angle, pi = np.pi * (x - np.floor(x)), np.pi
    above = M.polygamma(tf.constant(1.0, tf.float64), 1 - x).numpy()
    expected = (pi / np.sin(angle)) ** 2 - above
    np.testing.assert_allclose(M.polygamma(tf.constant(1.0, tf.float64), x), expected, rtol=1e-12)
    above = M.polygamma(tf.constant(2.0, tf.float64), 1 - x).numpy()
    expected = above - 2 * pi**3 * np.cos(angle) / np.sin(angle) ** 3
    out = M.polygamma(tf.constant(2.0, tf.float64), x)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-9)
