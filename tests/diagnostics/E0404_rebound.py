import holdfast as tf

rate = tf.Variable(2.0)
for _ in range(3):
    with tf.GradientTape() as record:
        cost = rate * rate * 3.0
    slope = record.gradient(cost, rate)
    rate = rate - slope * 0.01
