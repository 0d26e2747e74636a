import holdfast as tf

height = tf.constant(3.0)
with tf.GradientTape() as record:
    area = height * 4.0
print(record.gradient(area, height))
