import holdfast as tf

query = tf.ones((2, 3))
memory = tf.ones((4, 3))
score = tf.matmul(query, memory)
