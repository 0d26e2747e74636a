import holdfast as tf


@tf.function
def batches(x):
    for i in tf.range(3):
        yield x * i
