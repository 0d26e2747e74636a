import holdfast as tf

first = tf.distribute.MirroredStrategy(["/CPU:0"])
second = tf.distribute.MirroredStrategy(["/CPU:0"])
with first.scope():
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
with second.scope():
    optimizer = tf.keras.optimizers.Adam()
model.compile(optimizer, "mse")
model.fit(tf.ones((4, 2)), tf.ones((4, 1)), verbose=0)
