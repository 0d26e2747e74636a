import holdfast as tf

side = tf.Variable(3.0)
with tf.GradientTape() as record:
    area = side * side
    volume = area * side
print(float(record.gradient(area, side)))
print(float(record.gradient(volume, side)))
