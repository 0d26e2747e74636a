import holdfast as tf

with tf.Graph().as_default():
    answer = tf.constant(6.0) * 7.0
    runner = tf.compat.v1.Session()
    runner.run(answer)
    runner.close()
    runner.run(answer)
