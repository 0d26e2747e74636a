import holdfast as tf

old = tf.compat.v1
with tf.Graph().as_default():
    width = old.placeholder(tf.float32, [])
    height = old.placeholder(tf.float32, [])
    area = width * height
    with old.Session() as runner:
        runner.run(area, {width: 2.0})
