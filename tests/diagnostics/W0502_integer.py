import holdfast as tf

count = tf.constant(3)
with tf.GradientTape() as record:
    record.watch(count)
    total = count * 4
print(record.gradient(total, count))
