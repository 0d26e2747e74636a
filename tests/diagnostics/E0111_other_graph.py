import holdfast as tf

left = tf.Graph()
right = tf.Graph()
with left.as_default():
    error = tf.constant(1.0) * 2.0
with right.as_default():
    tf.constant(2.0)
runner = tf.compat.v1.Session(graph=right)
runner.run(error)
