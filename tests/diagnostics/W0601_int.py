import holdfast as tf


@tf.function
def advance(state, step):
    return state + step


state = tf.constant(0)
for i in range(8):
    state = advance(state, i)
