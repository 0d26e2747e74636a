import holdfast as tf


@tf.function
def pick(x):
    if x > 0:
        level = tf.constant(1)
    else:
        level = tf.constant(0.5)
    return level


pick(tf.constant(1.0))
