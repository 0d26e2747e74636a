"""A side in the middle of a chain sets nothing."""

import holdfast as tf


@tf.function
def clipped(x):
    if x > 2.0:
        kept = x * 0.0 + 2.0
    elif x > 1.0:
        tf.print("kept as it is")
    else:
        kept = x
    return kept


clipped(tf.constant(1.5))
