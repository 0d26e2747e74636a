import holdfast as tf


@tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])])
def combine(a, b):
    left = a * 2
    right = b + 1
    return left + right


combine(tf.zeros(3), tf.zeros(4))
