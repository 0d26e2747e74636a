import holdfast as tf


class Echo:
    def __init__(self):
        self.prev = None

    @tf.function(autograph=False)
    def step(self, x):
        y = x
        if self.prev is not None:
            y = y + self.prev
        self.prev = y
        return y


echo = Echo()
for _ in range(4):
    print(float(echo.step(tf.constant(1.0))))
