"""Records files that Keras and TensorFlow write, for tests that open them.

Run where TensorFlow is installed: python tests/recorded/keras_files.py
"""

import base64
import json
import pathlib
import tempfile
import zlib

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

HERE = pathlib.Path(__file__).parent


def packed(path: pathlib.Path) -> str:
    return base64.b64encode(zlib.compress(path.read_bytes(), 9)).decode()


def number(variables: list) -> None:
    """Gives variables values that tell them apart."""
    for i, v in enumerate(variables):
        size = int(np.prod(v.shape))
        v.assign(np.reshape(np.arange(size) / 8 + i, v.shape))


def raw_ops() -> keras.Model:
    x, y = keras.Input((4,), name="x"), keras.Input((4,), name="y")
    h = (x * 2 + ops.abs(y))[:, 1:3]
    h = ops.reshape(ops.concatenate([h, ops.relu(y)], axis=-1), (-1, 2, 3))
    h = ops.sum((1.0 - h) ** 2, axis=1) @ np.arange(6, dtype="float32").reshape(3, 2)
    h = ops.transpose(h[..., None], [0, 2, 1])
    h = layers.Dense(3, name="mixed")(ops.squeeze(ops.expand_dims(h, 1), 1)[:, 0])
    left, right, _ = ops.split(h, 3, axis=-1)
    h = ops.where(h > 0, ops.exp(-h), ops.cast(h < 1, "float32")) / (1 + ops.square(left - right))
    h = ops.clip(ops.softmax(h) + ops.max(h, axis=-1, keepdims=True), -5, 5) + ops.gelu(h)
    model = keras.Model([x, y], [h, ops.mean(h, axis=(0, 1))])
    number(model.weights)
    return model


def branches() -> keras.Model:
    """Layers whose order in files is not that of the calls; one is called twice."""
    left, right = keras.Input((4,), name="left"), keras.Input((4,), name="right")
    shared = layers.Dense(3, name="shared")
    a, b = shared(left), shared(right)
    deep = layers.Dense(2, name="deep_2")(layers.Dense(2, name="deep_1")(b))
    joined = layers.BatchNormalization(name="norm")(
        layers.Concatenate()([layers.Dense(2)(a), deep])
    )
    return keras.Model([left, right], [layers.Dense(1, name="out")(joined), layers.Dense(2)(a)])


def files(prefix: str) -> dict:
    folder, name = pathlib.Path(prefix).parent, pathlib.Path(prefix).name
    return {p.name[len(name) :]: packed(p) for p in sorted(folder.glob(f"{name}.*"))}


def checkpoint(folder: pathlib.Path) -> dict:
    model, optimizer = branches(), keras.optimizers.Adam(0.25)
    optimizer.build(model.trainable_variables)
    number(model.variables)
    number(optimizer.variables[2:])
    optimizer.iterations.assign(7)
    held = tf.train.Checkpoint(
        model=model, optimizer=optimizer, extra={"a": [tf.Variable(1.5), tf.Variable([2.5])]}
    )
    return files(held.save(str(folder / "keras")))


def slots(folder: pathlib.Path) -> dict:
    """Slots beside the variables they belong to, as optimizers had them before Keras 3."""
    variables = [tf.Variable([1.0, 2.0], name="a"), tf.Variable([[3.0]], name="b")]
    optimizer = tf.compat.v1.train.AdamOptimizer(0.5)
    optimizer.apply_gradients([(tf.ones_like(v) * (i + 1), v) for i, v in enumerate(variables)])
    path = tf.train.Checkpoint(optimizer=optimizer, held=variables).save(str(folder / "slots"))
    kept = {
        f"{name}/{i}": optimizer.get_slot(v, name).numpy().tolist()
        for i, v in enumerate(variables)
        for name in ("m", "v")
    }
    return {"files": files(path), "kept": kept}


def main() -> None:
    x = [np.linspace(-1, 1, 8).reshape(2, 4).tolist(), np.linspace(2, -3, 8).reshape(2, 4).tolist()]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = raw_ops()
        model.save(folder / "ops.keras")
        outputs = [np.asarray(o).tolist() for o in model([np.float32(x[0]), np.float32(x[1])])]
        other = branches()
        number(other.weights)
        other.save_weights(folder / "b.weights.h5")
        content = {
            "keras": keras.__version__,
            "tensorflow": tf.__version__,
            "inputs": x,
            "ops": {"file": packed(folder / "ops.keras"), "outputs": outputs},
            "branches": {
                "weights": packed(folder / "b.weights.h5"),
                "layers": [layer.name for layer in other.layers],
            },
            "checkpoint": checkpoint(folder),
            "slots": slots(folder),
        }
    (HERE / "keras_files.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
