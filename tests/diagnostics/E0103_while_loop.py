import holdfast as tf


@tf.function
def last(x):
    kept = []

    def body(i):
        kept.append(x * tf.cast(i, tf.float32))
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    return kept[0] + 1


print(last(tf.constant(1.0)))
