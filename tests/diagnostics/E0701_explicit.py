import holdfast as tf

host = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.config.experimental.set_device_policy("explicit")
with tf.device("/CPU:1"):
    far = tf.ones((32, 32)) * 2.0
with tf.device("/CPU:0"):
    near = tf.ones((32,)) * 3.0
    both = far * near
