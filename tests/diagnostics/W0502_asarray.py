"""A NumPy function takes the numbers of a list of Variables."""

import numpy as np

import holdfast as tf

weights = [tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])]
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.constant(np.exp(np.asarray(weights[1]))))
print(tape.gradient(loss, [weights[1]]))
