import holdfast as tf

kept, v = [], tf.Variable(2.0)


@tf.function
def network():
    h = v * v
    kept.append(h)
    return h * 3


with tf.GradientTape() as tape:
    y = network()
print(tape.gradient(y, kept[0]))
