"""A training step makes a dict of tensors out of a dict of Variables."""

import holdfast as tf

params = {"slope": tf.Variable(1.0), "shift": tf.Variable(2.0)}
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = params["slope"] * params["shift"]
    grads = tape.gradient(loss, params)
    params = {name: params[name] - 0.1 * grads[name] for name in params}
