import holdfast as tf


@tf.function
def total(n):
    s = 0
    for i in tf.range(n):
        s = s + tf.cast(i, tf.float32)
    return s


total(tf.constant(3))
