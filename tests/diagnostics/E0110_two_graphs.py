import holdfast as tf

reading = tf.Graph()
writing = tf.Graph()
with reading.as_default():
    words = tf.constant([1.0, 2.0])
with writing.as_default():
    letters = tf.constant([3.0, 4.0])
    both = tf.add(words, letters)
