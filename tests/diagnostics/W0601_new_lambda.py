"""A function is made where it is called, on every turn."""

import holdfast as tf


def train(x):
    double = tf.function(lambda v: v * 2.0)
    return double(x)


for _ in range(5):
    train(tf.constant(1.0))
