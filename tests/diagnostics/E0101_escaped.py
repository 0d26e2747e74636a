import holdfast as tf


class Probe:
    pass


probe = Probe()


@tf.function(autograph=False)
def forward(x):
    probe.h = x * 2
    return x


forward(tf.constant(1.0))
forward(tf.constant(2.0))
print(probe.h + 1)
