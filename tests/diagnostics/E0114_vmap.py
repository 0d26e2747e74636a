import holdfast as tf

kept = []


def per_example(row):
    kept.append(row * 2)
    return tf.reduce_sum(row)


tf.vectorized_map(per_example, tf.ones((3, 2)))
print(kept[0] + 1)
