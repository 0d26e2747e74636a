"""Two functions from one factory; the tensor of one of them is read, and only the other ran."""

import holdfast as tf

kept = {}


def make(key):
    def step(x):
        kept[key] = [x * 2.0]
        return x

    return tf.function(step, autograph=False)


train, test = make("train"), make("test")
train(tf.constant(1.0))
test.get_concrete_function(tf.constant(1.0))
print(kept["test"][0] + 1.0)
