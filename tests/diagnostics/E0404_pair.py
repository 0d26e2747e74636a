"""A training step gives the names of two Variables to tensors at once."""

import holdfast as tf

slope = tf.Variable(1.0)
shift = tf.Variable(2.0)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = slope * shift
    d_slope, d_shift = tape.gradient(loss, [slope, shift])
    slope, shift = slope - 0.1 * d_slope, shift - 0.1 * d_shift
