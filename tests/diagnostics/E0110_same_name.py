"""Two graphs that one function made meet in one op."""

import holdfast as tf


def make(value):
    g = tf.Graph()
    with g.as_default():
        t = tf.constant(value)
    return g, t


left, a = make(1.0)
right, b = make(2.0)
tf.add(a, b)
