"""A training step puts tensors into a list that held Variables, one by one."""

import holdfast as tf

weights = [tf.Variable(1.0), tf.Variable(2.0)]
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = weights[0] * weights[1]
    grads = tape.gradient(loss, weights)
    for i, grad in enumerate(grads):
        weights[i] = weights[i] - 0.1 * grad
