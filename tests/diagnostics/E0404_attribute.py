"""A training step puts a tensor into the attribute that held a Variable."""

import holdfast as tf


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.slope = tf.Variable(1.0)


line = Line()
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = line.slope**2
    grad = tape.gradient(loss, line.slope)
    line.slope = line.slope - 0.1 * grad
