"""A session of one graph runs a tensor of another one from the same function."""

import holdfast as tf


def build(scale):
    whole = tf.Graph()
    with whole.as_default():
        return {"graph": whole, "y": tf.constant(scale) * 2.0}


nets = [build(1.0), build(2.0)]
with tf.compat.v1.Session(graph=nets[0]["graph"]) as sess:
    sess.run(nets[1]["y"])
