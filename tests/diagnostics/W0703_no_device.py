import holdfast as tf

with tf.device("/GPU:5"):
    level = tf.constant(1.0) + 2.0
print(float(level))
