import holdfast as tf

plan = tf.Graph()
with plan.as_default():
    start = tf.constant(1.0)
    plan.finalize()
    end = start * 2.0
