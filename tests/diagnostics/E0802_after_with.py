import holdfast as tf

with tf.Graph().as_default():
    answer = tf.constant(6.0) * 7.0
    with tf.compat.v1.Session() as runner:
        runner.run(answer)
    runner.run(answer)
