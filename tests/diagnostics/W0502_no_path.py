import holdfast as tf

height, width = tf.Variable(3.0), tf.Variable(2.0)
with tf.GradientTape() as record:
    area = width * width
    height.read_value()
print(record.gradient(area, height))
