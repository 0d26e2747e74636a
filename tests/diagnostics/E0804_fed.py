import holdfast as tf

plan = tf.Graph()
with plan.as_default():
    rows = tf.constant([2, 1])
    twice = tf.repeat(tf.constant([[1.0], [2.0]]), rows, axis=0)
with tf.compat.v1.Session(graph=plan) as sess:
    sess.run(twice, feed_dict={rows: [1, 3]})
