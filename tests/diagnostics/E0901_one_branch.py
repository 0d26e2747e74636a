import holdfast as tf


@tf.function
def gain(x):
    if x > 0:
        boost = x * 2
    return boost


gain(tf.constant(1.0))
