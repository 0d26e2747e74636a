import holdfast as tf


class Gate:
    pass


gate = Gate()
gate.mode = "off"


@tf.function
def switch(x):
    if x > 0:
        gate.mode = "on"
    if gate.mode == "on":
        x = x * 2
    return x


switch(tf.constant(1.0))
