import holdfast as tf


@tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None, None])])
def attend(a, b):
    query = a * 2
    memory = b + 1
    return tf.matmul(query, memory)


attend(tf.zeros((2, 3)), tf.zeros((4, 3)))
