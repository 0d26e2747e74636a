"""Writes tensor_bundle.json: a checkpoint of TensorFlow's own, as base64. Run it where TensorFlow is installed."""

import base64
import json
import pathlib
import tempfile

import numpy as np
import tensorflow as tf


class Model(tf.Module):
    """A variable of every kind of file content."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(np.arange(6, dtype="f4").reshape(2, 3), name="w")
        self.texts = tf.Variable(["a", "", "hello" * 40])
        self.step = tf.Variable(7, dtype=tf.int64)
        self.list = [tf.Variable(tf.cast([1.5, 2.5], tf.bfloat16)), tf.Variable([True, False])]
        self.empty = tf.Variable(tf.zeros([0, 3], tf.float64))
        self.complex = tf.Variable(tf.constant([1 + 2j], tf.complex64))
        self.many = {f"v{i}": tf.Variable(float(i)) for i in range(40)}


model = Model()
optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model.w * 0.0)
optimizer.apply_gradients([(tape.gradient(loss, model.w), model.w)])
with tempfile.TemporaryDirectory() as folder:
    prefix = pathlib.Path(
        tf.train.Checkpoint(model=model, optimizer=optimizer).write(f"{folder}/ckpt")
    )
    files = {
        p.name.removeprefix("ckpt"): base64.b64encode(p.read_bytes()).decode()
        for p in sorted(prefix.parent.iterdir())
    }
out = {"tensorflow": tf.__version__, "files": files}
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=1) + "\n")
