import holdfast as tf


@tf.function
def counter(start):
    count = tf.Variable(0.0)
    count.assign_add(start)
    return count


counter(tf.constant(1.0))
