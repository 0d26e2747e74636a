"""Run by the real Keras: reads files of models in one folder, writes files of its own into another."""

import json
import pathlib
import sys

import keras
import numpy as np
from keras_exchange_models import MODELS, fill, flat, train


def read(folder, name, said):
    """What Keras makes of our file: predictions, and what further training gives."""
    made, x = MODELS[name](keras)
    again = keras.saving.load_model(folder / f"{name}.keras")
    said["config"] = again.get_config()
    found = flat(again.predict(x, verbose=0))
    made.load_weights(folder / f"{name}.weights.h5")
    found += flat(made.predict(x, verbose=0))
    if again.compiled:
        said["iterations"] = int(again.optimizer.iterations)
        said["losses"] = train(again, name, x, 2)
        said["compile"] = again.get_compile_config()
    return found


def write(folder, name, said):
    made, x = MODELS[name](keras)
    fill(made)
    if made.compiled:
        train(made, name, x, 2)
    made.save(folder / f"{name}.keras")
    made.save_weights(folder / f"{name}.weights.h5")
    found = flat(made.predict(x, verbose=0))
    if made.compiled:
        said["losses"] = train(made, name, x, 2)
        said["compile"] = made.get_compile_config()
    said["config"] = made.get_config()
    return found


def main(ours, theirs, names):
    said, arrays = {}, {}
    for what, folder, step in (("read", ours, read), ("written", theirs, write)):
        for name in names:
            keras.backend.clear_session()
            about = said.setdefault(name, {}).setdefault(what, {})
            try:
                for i, value in enumerate(step(folder, name, about)):
                    arrays[f"{name} {what} {i}"] = value
            except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
                about["error"] = f"{type(error).__name__}: {error}"
    backend = keras.backend.backend()
    np.savez(theirs / f"{backend}.npz", **arrays)
    (theirs / f"{backend}.json").write_text(json.dumps(said))


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:])
