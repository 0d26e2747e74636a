import holdfast as tf

height = tf.Variable(3.0)
with tf.GradientTape() as record:
    area = tf.constant(height.numpy() * 4.0)
print(record.gradient(area, height))
