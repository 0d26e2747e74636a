import holdfast.compat.v1 as tf

with tf.Graph().as_default():
    scores = tf.Variable([1.0, 2.0], name="scores")
    bias = tf.Variable(0.5, name="bias")
    best = tf.argmax(scores)
    loss = tf.cast(best, tf.float32)
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)
