"""A chain of conditions without an `else` sets a name that is read after it."""

import holdfast as tf


@tf.function
def grade(x):
    if x > 2.0:
        mark = x * 3.0
    elif x > 1.0:
        mark = x * 2.0
    elif x > 0.0:
        mark = x
    return mark


grade(tf.constant(1.0))
