"""A training step makes a list of tensors out of a list of Variables."""

import holdfast as tf

weights = [tf.Variable(1.0), tf.Variable(2.0)]
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = weights[0] * weights[1]
    grads = tape.gradient(loss, weights)
    weights = [w - 0.1 * g for w, g in zip(weights, grads)]
