"""Networks with their channels first give what those with channels last give, traced or not."""

import numpy as np
import pytest

import holdfast as tf


def weights():
    draw = np.random.default_rng(3)
    shapes = {"a": (3, 3, 4, 8), "b": (3, 3, 8, 8), "d": (3, 3, 8, 1), "bias": (8,), "scale": (8,)}
    return {k: tf.Variable(draw.normal(0, 0.3, s).astype(np.float32)) for k, s in shapes.items()}


def network(x, w, first):
    """Convolutions, a pool, a bias, batch normalisation and a skip, in one layout or the other."""
    form = "NCHW" if first else "NHWC"
    strides = [1, 1, 2, 2] if first else [1, 2, 2, 1]
    pads = [[0, 0], [0, 0], [1, 2], [0, 1]] if first else [[0, 0], [1, 2], [0, 1], [0, 0]]
    h = tf.nn.bias_add(tf.nn.conv2d(x, w["a"], strides, pads, form), w["bias"], form)
    h = tf.nn.relu(h)
    g, _, _ = tf.compat.v1.nn.fused_batch_norm(h, w["scale"], w["bias"], data_format=form)
    g = tf.nn.conv2d(g, w["b"], 1, "SAME", form) + h
    g = g * tf.reshape(w["scale"], (8, 1, 1) if first else (8,))
    g = tf.nn.max_pool2d(g, 2, 1, "SAME", form)
    g = tf.nn.depthwise_conv2d(g, w["d"], [1, 1, 1, 1], "SAME", form)
    g = tf.nn.avg_pool2d(g, 2, 2, "VALID", form)
    spread = tf.math.reduce_std(g, axis=[2, 3] if first else [1, 2])
    return tf.reduce_mean(g, [2, 3] if first else [1, 2]) + spread


def loss_and_gradients(x, w, first):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.square(network(x, w, first)))
    return loss, tape.gradient(loss, [x, *w.values()])


@pytest.mark.parametrize("batch", [5, None])
def test_channels_first_and_last_agree(batch):
    w = weights()
    image = np.random.default_rng(4).normal(size=(5, 12, 14, 4)).astype(np.float32)
    turned = image.transpose(0, 3, 1, 2)
    first = tf.TensorSpec((batch, 4, 12, 14))
    traced = tf.function(lambda x: loss_and_gradients(x, w, True), input_signature=[first])
    want, (dx, *others) = loss_and_gradients(tf.constant(image), w, False)
    for run in (lambda x: loss_and_gradients(x, w, True), traced):
        loss, (dx_first, *others_first) = run(tf.constant(turned))
        np.testing.assert_allclose(loss, want, rtol=1e-4)
        np.testing.assert_allclose(dx_first.numpy().transpose(0, 2, 3, 1), dx, rtol=1e-3, atol=1e-4)
        for name, a, b in zip(w, others_first, others, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3, err_msg=name)


def test_a_graph_moves_channels_where_it_begins_and_ends():
    w = weights()
    f = tf.function(lambda x: tf.nn.relu(tf.nn.conv2d(tf.nn.relu(
        tf.nn.conv2d(x, w["a"], 1, "SAME", "NCHW")), w["b"], 1, "SAME", "NCHW")))  # fmt: skip
    f(tf.ones((2, 4, 16, 16)))
    steps = f.explain().splitlines()
    assert sum(" Transpose -> " in s for s in steps) == 2
    assert sum(" Conv2D -> float32[2,16,16,8]" in s for s in steps) == 2


def test_channels_first_over_three_axes():
    draw = np.random.default_rng(5)
    x, k = (
        draw.normal(size=(2, 5, 6, 7, 3)).astype("f"),
        draw.normal(size=(2, 2, 2, 3, 4)).astype("f"),
    )

    def conv(x, form):
        return tf.nn.relu(tf.nn.conv3d(x, k, [1] * 5, "SAME", form))

    want = conv(x, "NDHWC").numpy().transpose(0, 4, 1, 2, 3)
    for run in (conv, tf.function(conv)):
        np.testing.assert_allclose(
            run(tf.constant(x.transpose(0, 4, 1, 2, 3)), "NCDHW"), want, rtol=1e-4, atol=1e-4
        )
