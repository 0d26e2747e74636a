import holdfast as tf

lengths = tf.data.Dataset.range(1, 4)
words = lengths.map(lambda n: tf.ones([n]))
batches = words.batch(2)
for part in batches:
    print(part.shape)
