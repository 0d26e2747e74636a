import holdfast as tf


@tf.function
def score(x):
    kept = []

    def hot_path():
        kept.append(x * 2)
        return kept[0]

    y = tf.cond(x > 0, hot_path, lambda: x)
    return y + kept[0]


score(tf.constant(1.0))
