"""What follows a convolution joins it, and every bit stays."""

import subprocess
import sys

import numpy as np
import pytest
from test_fusion import floats, same

import holdfast as tf

BIAS = np.linspace(-1, 1, 16).astype(np.float32)


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    before = tf.config.threading.get_intra_op_parallelism_threads()
    tf.config.threading.set_intra_op_parallelism_threads(request.param)
    yield
    tf.config.threading.set_intra_op_parallelism_threads(before)


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("batch", [3, 4, 8, 12])
def test_bias_and_activation(threads, batch, size):
    x, k = floats(batch, 40, 40, 16), floats(size, size, 16, 16, seed=1)
    ops = same(lambda x: tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME") + BIAS), x)
    assert ops.count("Conv2DThen") == 1 and "Conv2D" not in ops and "Fused" not in ops


def test_nans_go_through():
    x, k = floats(4, 40, 40, 16).numpy(), floats(3, 3, 16, 16, seed=1)
    x[1, 20, 20, 3] = np.nan
    x[2, 0, 0, 0] = np.inf
    f = tf.function(lambda x: tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME") + BIAS))
    y = f(tf.constant(x)).numpy()
    assert np.isnan(y[1, 19:22, 19:22]).all() and not np.isnan(y[0]).any()


def test_the_convolution_may_stand_anywhere_among_the_operands():
    x, k, s = floats(4, 40, 40, 16), floats(1, 1, 16, 16, seed=1), floats(4, 1, 1, 16, seed=2)

    def block(x, s):
        return tf.where(x > 0.0, x * s, tf.nn.gelu(x + 3.0 - tf.nn.conv2d(x, k, 1, "SAME")))

    ops = same(block, x, s)
    assert ops.count("Conv2DThen") == 1 and "Conv2D" not in ops


def test_each_channel_alone():
    x, k = floats(4, 40, 40, 16), floats(3, 3, 16, 1, seed=1)
    ops = same(
        lambda x: tf.nn.relu6(tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "SAME") * BIAS + 1.0), x
    )
    assert ops.count("DepthwiseConv2dNativeThen") == 1


def test_the_gradient_of_an_image(threads):
    x, k = floats(4, 40, 40, 16), floats(3, 3, 16, 16, seed=1)

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.conv2d(tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME") + BIAS), k, 1, "SAME")
            loss = tf.reduce_sum(y * y)
        return tape.gradient(loss, x)

    ops = same(gradient, x)
    assert ops.count("Conv2DBackpropInputThen") == 1 and ops.count("Conv2DThen") == 1


def test_a_result_that_others_read_stays_alone():
    x, k = floats(4, 40, 40, 16), floats(3, 3, 16, 16, seed=1)

    def both(x):
        y = tf.nn.conv2d(x, k, 1, "SAME")
        return tf.nn.relu(y), y

    assert same(both, x).count("Conv2DThen") == 0


def test_the_number_of_threads_may_change_between_calls():
    x, k = floats(3, 40, 40, 16), floats(3, 3, 16, 16, seed=1)
    f = tf.function(lambda x: tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME") + BIAS))
    before = tf.config.threading.get_intra_op_parallelism_threads()
    try:
        results = []
        for n in (1, 1, 2, 5, 8):  # three images can't be cut evenly for two threads
            tf.config.threading.set_intra_op_parallelism_threads(n)
            results.append(f(x).numpy())
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(before)
    assert all((r == results[0]).all() for r in results)


ANY_NUMBER_OF_THREADS = """
import holdfast as tf
tf.config.experimental.enable_op_determinism()
x, k = tf.random.stateless_normal((6, 40, 40, 16), (1, 2)), tf.random.stateless_normal((3, 3, 16, 16), (3, 4))
f = tf.function(lambda x: tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME") + 0.5))
results = []
for threads in (1, 2, 4):
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    results.append(f(x).numpy().tobytes())
assert "Conv2DThen" in f.explain()
print(len(set(results)))
"""


def test_determinism_keeps_bits_for_any_number_of_threads():
    run = subprocess.run(
        [sys.executable, "-c", ANY_NUMBER_OF_THREADS], capture_output=True, text=True, check=False
    )
    assert run.stdout == "1\n", run.stderr


def test_explain_says_what_was_joined():
    x, k = floats(4, 40, 40, 16), floats(3, 3, 16, 16, seed=1)
    f = tf.function(lambda x: tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME") + BIAS))
    f(x)
    text = f.explain()
    assert (
        "Conv2DThen -> float32[4,40,40,16]" in text
        and "fused: v2 = AddV2(x0, x1); v3 = Relu(v2)" in text
    )
