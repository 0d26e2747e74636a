"""Writes keras_archive.json: a model of Keras' own, packed, as base64. Run it where Keras is installed."""

import base64
import json
import pathlib
import tempfile
import zlib

import keras
import numpy as np

keras.utils.set_random_seed(1)
inner = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(2)])
inputs = keras.Input((4,))
x = keras.layers.Dense(4, activation="relu", name="first")(inputs)
x = keras.layers.BatchNormalization()(x)
x = keras.layers.Dense(4, dtype="bfloat16", name="rough")(x)
x = keras.layers.Dropout(0.5)(x)
model = keras.Model(inputs, inner(x))
model.compile("adam", "mse", metrics=["mae"])
model.fit(np.ones((8, 4), "f4"), np.ones((8, 2), "f4"), verbose=0)
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "m.keras"
    model.save(path)
    packed = base64.b64encode(zlib.compress(path.read_bytes(), 9)).decode()
weights = {w.path: np.asarray(w.numpy(), "f4").tolist() for w in model.weights}
out = {"keras": keras.__version__, "weights": weights, "file": packed}
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=1) + "\n")
