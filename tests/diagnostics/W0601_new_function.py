import holdfast as tf

for i in range(5):

    @tf.function
    def double(x):
        return x * 2

    double(tf.constant(1.0))
