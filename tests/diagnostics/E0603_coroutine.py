import holdfast as tf


@tf.function
async def fetch(x):
    return x
