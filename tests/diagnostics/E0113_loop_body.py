import holdfast as tf

seen = []


def halve(x):
    y = x / 2.0
    seen.append(y)
    return y


with tf.Graph().as_default():
    small = tf.while_loop(lambda x: x > 1.0, halve, [tf.constant(8.0)])
    runner = tf.compat.v1.Session()
    runner.run(seen[0])
