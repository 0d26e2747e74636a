"""A model that Keras saved is read here, and what is written here is laid out as Keras does."""

import base64
import io
import json
import pathlib
import zipfile
import zlib

import h5py
import numpy as np
import pytest

import holdfast as tf

RECORDED = pathlib.Path(__file__).parents[1] / "recorded" / "keras_archive.json"


@pytest.fixture
def recorded(tmp_path):
    content = json.loads(RECORDED.read_text())
    path = tmp_path / "m.keras"
    path.write_bytes(zlib.decompress(base64.b64decode(content["file"])))
    return str(path), content["weights"]


def plain(tensor):
    return (tf.cast(tensor, tf.float32) if tensor.dtype == tf.bfloat16 else tensor).numpy()


def test_a_model_of_keras_is_read(recorded):
    path, expected = recorded
    metadata, config, weights, assets = tf._holdfast.archive_read(path)
    assert json.loads(metadata)["keras_version"].startswith("3.")
    assert json.loads(config)["class_name"] == "Functional"
    assert assets == []
    layers = {where: (name, dict(values)) for where, name, values in weights}
    first = layers["layers/dense"]
    assert first[0] == "first"
    assert plain(first[1]["0"]).tolist() == expected["first/kernel"]
    rough = layers["layers/dense_1"][1]
    assert (
        rough["0"].dtype == tf.bfloat16 and plain(rough["0"]).tolist() == expected["rough/kernel"]
    )
    inner = layers["layers/sequential/layers/dense_1"][1]
    assert plain(inner["0"]).tolist() == expected["sequential/dense_1/kernel"]
    norm = layers["layers/batch_normalization"][1]
    assert sorted(norm) == ["0", "1", "2", "3"]
    # The optimizer: a step, a rate, and two slots for each of what is trained.
    assert int(layers["optimizer"][1]["0"]) == 1
    assert len(layers["optimizer"][1]) == 2 + 2 * 10


def test_what_we_write_has_what_keras_has(recorded, tmp_path):
    path, _ = recorded
    metadata, config, weights, _ = tf._holdfast.archive_read(path)
    ours = str(tmp_path / "ours.keras")
    tf._holdfast.archive_write(
        ours, metadata.decode(), config.decode(), weights, [("a/b.txt", b"x")]
    )

    def content(file):
        with zipfile.ZipFile(file) as z:
            assert z.testzip() is None
            out = {}
            with h5py.File(io.BytesIO(z.read("model.weights.h5")), "r") as f:
                f.visititems(lambda name, item: out.__setitem__(name, item))
                out = {
                    name: (
                        np.asarray(item).tobytes() if isinstance(item, h5py.Dataset) else None,
                        dict(item.attrs),
                    )
                    for name, item in out.items()
                }
            return z.namelist(), z.read("config.json"), z.read("metadata.json"), out

    theirs, again = content(path), content(ours)
    assert again[0] == [*theirs[0], "assets/a/b.txt"]
    assert again[1:] == theirs[1:]
    assert tf._holdfast.archive_read(ours)[3] == [("a/b.txt", b"x")]


def test_weights_alone(tmp_path):
    path = str(tmp_path / "m.weights.h5")
    values = [("0", tf.ones([2, 3])), ("1", tf.cast([1.5], tf.bfloat16))]
    tf._holdfast.weights_write(path, [("layers/dense", "dense", values)])
    with h5py.File(path, "r") as f:
        assert f["layers/dense/vars"].attrs["name"] == "dense"
        assert f["layers/dense/vars/0"].shape == (2, 3)
        assert f["layers/dense/vars/1"].attrs["dtype"] == "bfloat16"
    ((where, name, seen),) = tf._holdfast.weights_read(path)
    assert (where, name, [key for key, _ in seen]) == ("layers/dense", "dense", ["0", "1"])


def test_links_out_of_the_weights_are_refused(tmp_path):
    path = str(tmp_path / "m.weights.h5")
    with h5py.File(path, "w") as f:
        f.create_group("layers/dense/vars")["0"] = h5py.ExternalLink("/etc/passwd", "x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="external link"):
        tf._holdfast.weights_read(path)


@pytest.mark.parametrize("name", ["nn.relu", "nn.softmax", "nn.gelu", "nn.swish", "tanh"])
def test_functions_of_tensorflow_are_activations_that_files_name(tmp_path, name):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    assert function.__name__ == name.rpartition(".")[2]
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [tf.keras.Input((3,)), layers.Dense(4, activation=function), layers.Activation(function)]
    )
    assert tf.keras.activations.serialize(function) == function.__name__
    model.save(tmp_path / "model.keras")
    x = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(x), model(x))
