import holdfast as tf


@tf.function(autograph=False)
def repeat(x, times):
    for _ in range(times):
        x = x * 2
    return x


repeat(tf.constant(1.0), tf.constant(3))
