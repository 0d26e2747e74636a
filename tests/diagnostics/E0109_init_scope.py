import holdfast as tf


@tf.function
def calibrate(x):
    offset = x * 3
    with tf.init_scope():
        scale = offset * 2
    return x * scale


calibrate(tf.constant(1.0))
