"""Two graphs that nothing but their tensors lead to meet in one op."""

import holdfast as tf


def tensor_of(value):
    g = tf.Graph()
    with g.as_default():
        return tf.constant(value)


first = tensor_of(1.0)
second = tensor_of(2.0)
tf.stack([first, second])
