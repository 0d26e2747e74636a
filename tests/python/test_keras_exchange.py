"""The real Keras opens the files that we write, and we open its: the same predictions, the same configs.

Keras is in an environment of its own, which `./test` makes (`need_keras` in scripts/setup.sh).
"""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
from keras_exchange_models import MODELS, custom, fill, flat, train

import holdfast as tf

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
PYTHON = ROOT / ".venv-keras" / "bin" / "python"
STAMP = ROOT / ".venv-keras" / ".packages"


def reason():
    """Why Keras is not there."""
    log = ROOT / "build" / "keras-pip.log"
    lines = log.read_text().splitlines() if log.exists() else []
    errors = [line for line in lines if line.startswith("ERROR")] or ["`./test` makes it"]
    return f"no environment with the real Keras: {errors[-1]}"


if not STAMP.exists():
    pytest.skip(reason(), allow_module_level=True)


class Exchange:
    """What both sides wrote, and what they made of each other's files."""

    def __init__(self, folder):
        self.ours, self.theirs = folder / "ours", folder / "theirs"
        self.ours.mkdir()
        self.theirs.mkdir()
        self.predictions, self.losses = {}, {}
        for name in MODELS:
            self._write(name)
        self.said, self.arrays = {}, {}
        self._run_keras("numpy", [name for name in MODELS if name not in self.losses])
        self._run_keras("jax", self.losses)  # NumPy has no gradients

    def _write(self, name):
        tf.keras.backend.clear_session()
        model, x = MODELS[name](tf.keras)
        fill(model)
        if model.compiled:
            train(model, name, x, 2)
        model.save(self.ours / f"{name}.keras")
        model.save_weights(self.ours / f"{name}.weights.h5")
        self.predictions[name] = flat(model.predict(x, verbose=0))
        if model.compiled:
            self.losses[name] = train(model, name, x, 2)

    def _run_keras(self, backend, names):
        # A sanitizer's library is for our own process only.
        plain = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "PYTHONPATH")}
        done = subprocess.run(
            [PYTHON, HERE / "keras_exchange_child.py", self.ours, self.theirs, *names],
            env={
                **plain,
                "KERAS_BACKEND": backend,
                "JAX_PLATFORMS": "cpu",
                "PYTHONPATH": str(HERE),
            },
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        self.said |= json.loads((self.theirs / f"{backend}.json").read_text())
        with np.load(self.theirs / f"{backend}.npz") as arrays:
            self.arrays |= arrays

    def about(self, name, what):
        about = self.said[name][what]
        assert "error" not in about, about["error"]
        return about

    def arrays_of(self, name, what):
        return [v for k, v in self.arrays.items() if k.rpartition(" ")[0] == f"{name} {what}"]


@pytest.fixture(scope="module")
def exchange(tmp_path_factory):
    custom(tf.keras)
    return Exchange(tmp_path_factory.mktemp("exchange"))


def assert_same(name, got, want):
    """Alike up to the order of sums; 16-bit floats are rounded more coarsely."""
    assert len(got) == len(want)
    limit = 2e-2 if name == "mixed" else 2e-5
    for ours, theirs in zip(got, want, strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=limit, atol=limit)


def plain(config):
    """A config as a file has it."""
    return json.loads(json.dumps(tf.keras.saving.serialize_keras_object(config)))


@pytest.mark.parametrize("name", MODELS)
def test_keras_opens_our_files(exchange, name):
    about = exchange.about(name, "read")
    ours = exchange.predictions[name]
    assert_same(name, exchange.arrays_of(name, "read"), ours + ours)
    if name in exchange.losses:
        assert about["iterations"] == 2
        np.testing.assert_allclose(about["losses"], exchange.losses[name], rtol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_we_open_files_of_keras(exchange, name):
    about = exchange.about(name, "written")
    theirs = exchange.arrays_of(name, "written")
    tf.keras.backend.clear_session()
    model = tf.keras.models.load_model(exchange.theirs / f"{name}.keras")
    made, x = MODELS[name](tf.keras)
    assert_same(name, flat(model.predict(x, verbose=0)), theirs)
    made.load_weights(exchange.theirs / f"{name}.weights.h5")
    assert_same(name, flat(made.predict(x, verbose=0)), theirs)
    if "losses" in about:
        np.testing.assert_allclose(train(model, name, x, 2), about["losses"], rtol=1e-4)
