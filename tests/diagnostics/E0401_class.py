import holdfast as tf


class Counter(tf.Module):
    @tf.function
    def __call__(self, x):
        self.total = tf.Variable(0.0)
        self.total.assign_add(x)
        return self.total


counter = Counter()
print(counter(tf.constant(1.0)))
print(counter(tf.constant(1.0)))
