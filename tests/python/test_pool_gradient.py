"""The gradient of a pool after a relu: the same numbers however a graph computes it, in the pool's own memory."""

import numpy as np
import pytest

import holdfast as tf


def pooled(x, size, stride, padding):
    h = tf.nn.relu(x)
    return h, tf.nn.max_pool2d(h, size, stride, padding)


def gradient(x, size, stride, padding, weights):
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, y = pooled(x, size, stride, padding)
        loss = tf.reduce_sum(y * weights)
    return tape.gradient(loss, x)


def image(shape, dtype):
    values = (
        np.random.default_rng(7).integers(-3, 4, shape).astype(np.float64)
    )  # many zeros and ties
    values[0, 1, 1, 0] = np.nan
    return tf.constant(values, dtype)


# Windows side by side, with cells left over, apart from each other, overlapping, and reaching over the border.
WINDOWS = [
    (8, 2, 2, "VALID"),
    (9, 2, 2, "VALID"),
    (9, 2, 3, "SAME"),
    (7, 3, 2, "VALID"),
    (7, 3, 2, "SAME"),
    (5, 5, 5, "VALID"),
]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16])
@pytest.mark.parametrize("size,window,stride,padding", WINDOWS)
def test_a_graph_computes_what_eager_code_does(size, window, stride, padding, dtype):
    x = image((2, size, size, 70), dtype)
    _, y = pooled(x, window, stride, padding)
    weights = tf.cast(tf.random.stateless_normal(y.shape, [1, 2]), dtype)
    traced = tf.function(gradient)
    expected = gradient(x, window, stride, padding, weights).numpy()
    for _ in range(3):  # the third runs in planned memory
        got = traced(x, window, stride, padding, weights)
    assert got.numpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize("size,window,stride,padding", WINDOWS)
def test_float32_has_the_bits_of_float64(size, window, stride, padding):
    """Windows of four cells have a loop of their own in float32: ties, NaN and -0 are what they are elsewhere."""
    values = image((2, size, size, 70), tf.float64).numpy()
    values[1, 2:5, :, 3:9] = np.nan
    values[values == 1] = -0.0
    results = []
    for dtype in (tf.float32, tf.float64):
        x = tf.constant(values, dtype)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.max_pool2d(x, window, stride, padding)
        up = np.random.default_rng(8).integers(-2, 3, y.shape).astype(np.float64)
        up[up == 1] = -0.0
        dx = tape.gradient(y, x, output_gradients=tf.constant(up, dtype))
        results.append([np.asarray(t).astype(np.float64).tobytes() for t in (y, dx)])
    assert results[0] == results[1]


@pytest.mark.parametrize("stride,shared", [(2, True), (1, False)])
def test_the_gradient_takes_the_memory_of_the_image(stride, shared):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            h, y = pooled(x + 1.0, 2, stride, "VALID")
            loss = tf.reduce_sum(y * y)
        return tf.reduce_sum(tape.gradient(loss, h) * 2.0)

    x = image((1, 16, 16, 32), tf.float32)
    for _ in range(3):
        f(x)
    line = next(
        l for l in f.memory_plan().splitlines() if "MaxPoolGrad" in l or "Relu" in l or "Fused" in l
    )
    assert ("in place" in line) == shared, f.memory_plan()
