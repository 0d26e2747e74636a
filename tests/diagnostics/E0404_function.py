import holdfast as tf

rate = tf.Variable(2.0)


def stepped(value, slope):
    return value - slope * 0.01


for _ in range(3):
    with tf.GradientTape() as record:
        cost = rate * rate * 3.0
    rate = stepped(rate, record.gradient(cost, rate))
