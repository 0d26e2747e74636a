"""Ops that functional models call on symbols are in their configs, as Keras writes its operations."""

import base64
import json
import pathlib
import zlib

import numpy as np
import pytest

import holdfast as tf

RECORDED = json.loads(
    (pathlib.Path(__file__).parents[1] / "recorded" / "keras_files.json").read_text()
)
layers, ops = tf.keras.layers, tf.keras.ops


def again(model):
    """The model of the same config, with the same weights."""
    made = tf.keras.Model.from_config(json.loads(json.dumps(model.get_config())))
    made.set_weights(model.get_weights())
    return made


def described(model):
    return {entry["config"]["name"]: entry for entry in model.get_config()["layers"]}


def test_a_model_of_keras_with_operations_is_read(tmp_path):
    path = tmp_path / "m.keras"
    path.write_bytes(zlib.decompress(base64.b64decode(RECORDED["ops"]["file"])))
    model = tf.keras.models.load_model(path)
    x, y = (np.float32(one) for one in RECORDED["inputs"])
    for got, wanted in zip(model([x, y]), RECORDED["ops"]["outputs"], strict=True):
        assert np.allclose(got.numpy(), wanted, rtol=1e-5, atol=1e-6)
    model.save(path)
    for got, same in zip(tf.keras.models.load_model(path)([x, y]), model([x, y]), strict=True):
        assert np.array_equal(got.numpy(), same.numpy())


def test_operations_are_written_as_keras_does():
    x, y = tf.keras.Input((4,), name="x"), tf.keras.Input((4,), name="y")
    model = tf.keras.Model([x, y], (x * 2 + tf.abs(y))[:, 1:3])
    entries = described(model)
    assert list(entries) == ["x", "y", "multiply", "absolute", "add", "get_item"]
    product = entries["multiply"]
    assert (product["class_name"], product["module"]) == ("Multiply", "keras.src.ops.numpy")
    assert product["config"] == {"name": "multiply"}
    symbol, number = product["inbound_nodes"][0]["args"]
    assert symbol["config"]["keras_history"] == ["x", 0, 0] and number == 2
    _, key = entries["get_item"]["inbound_nodes"][0]["args"]
    assert [item["config"] for item in key] == [
        {"start": None, "stop": None, "step": None},
        {"start": 1, "stop": 3, "step": None},
    ]


PROGRAMS = {
    "arithmetic": lambda x: 1 / (x + 3) - x // 2 + x % 2 - (-x) ** 2,
    "of integers": lambda x: tf.cast(x * 4, tf.int32) * 3 + 1,
    "comparisons": lambda x: tf.where((x > 0) & (x <= 1), x, 0.5),
    "slices": lambda x: x[1:, ::-1, tf.newaxis][..., 0],
    "one item": lambda x: x[0],
    "reductions": lambda x: tf.reduce_sum(x, 1, keepdims=True) + tf.reduce_max(x) - ops.mean(x, -1),
    "shapes": lambda x: tf.transpose(tf.reshape(x, [-1, 2, 2]), [0, 2, 1]) + tf.ones([2, 2]),
    "joined": lambda x: tf.stack([tf.concat([x, x], 1), ops.tile(x, [1, 2])], axis=1),
    "split": lambda x: tf.split(x, 2, axis=1)[1] * ops.split(x, 2, axis=-1)[0],
    "products": lambda x: tf.matmul(x, tf.constant(np.eye(4, dtype="f4"))) @ ops.transpose(x),
    "transposed": lambda x: tf.matmul(x, x, transpose_b=True),
    "curves": lambda x: tf.nn.gelu(x) + tf.nn.silu(x) + tf.nn.elu(x) + tf.nn.leaky_relu(x, 0.3),
    "shape of the batch": lambda x: tf.reshape(x, [tf.shape(x)[0] * 2, 2]),
    "of ours alone": lambda x: tf.cumsum(x, axis=1, reverse=True) + tf.roll(x, 1, axis=1),
    "einsum": lambda x: ops.einsum("ij,kj->ik", x, x),
    "two results": lambda x: tf.math.top_k(x, 2).values,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_model_with_ops_comes_back(name, tmp_path):
    x = tf.keras.Input((4,))
    model = tf.keras.Model(x, PROGRAMS[name](x))
    value = np.linspace(-2, 2, 12).astype("f4").reshape(3, 4)
    wanted = model(value).numpy()
    assert np.array_equal(again(model)(value).numpy(), wanted)
    model.save(tmp_path / "m.keras")
    loaded = tf.keras.models.load_model(tmp_path / "m.keras")
    assert np.array_equal(loaded(value).numpy(), wanted)
    assert json.dumps(loaded.get_config()["layers"]) == json.dumps(model.get_config()["layers"])


def test_ops_between_layers_and_inside_models(tmp_path):
    a, b = tf.keras.Input((4,)), tf.keras.Input((4,))
    shared = layers.Dense(3)
    inner = tf.keras.Model(a, tf.nn.relu(shared(a) - 1))
    model = tf.keras.Model({"a": a, "b": b}, [inner(a) + inner(b * 2), layers.Add()([a, b]) + a])
    value = {"a": np.ones((2, 4), "f4"), "b": np.full((2, 4), 3, "f4")}
    model.save(tmp_path / "m.keras")
    loaded = tf.keras.models.load_model(tmp_path / "m.keras")
    for got, wanted in zip(loaded(value), model(value), strict=True):
        assert np.array_equal(got.numpy(), wanted.numpy())
    names = [entry["name"] for entry in model.get_config()["layers"]]
    assert len(names) == len(set(names))


def test_copies_have_the_ops_too():
    import copy
    import pickle

    x = tf.keras.Input((4,))
    model = tf.keras.Model(x, layers.Dense(2)(x * 2)[:, 0])
    value = np.ones((3, 4), "f4")
    for made in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(made(value).numpy(), model(value).numpy())


def test_what_a_config_can_not_hold_is_refused_by_name():
    x = tf.keras.Input((4,), dtype=tf.complex64)
    model = tf.keras.Model(x, x * tf.constant(2j, tf.complex64))
    with pytest.raises(NotImplementedError, match="complex64"):
        model.get_config()


def test_operations_that_are_not_known_are_refused_by_name():
    x = tf.keras.Input((4,), name="x")
    config = tf.keras.Model(x, x + 1).get_config()
    config["layers"][1]["class_name"] = "Kaiser"
    with pytest.raises(NotImplementedError, match="Kaiser"):
        tf.keras.Model.from_config(config)
    config["layers"][1].update(module="holdfast.raw_ops")
    with pytest.raises((TypeError, ValueError), match="Kaiser"):
        tf.keras.Model.from_config(config)


def test_files_list_layers_in_the_order_of_keras(tmp_path):
    left, right = tf.keras.Input((4,), name="left"), tf.keras.Input((4,), name="right")
    shared = layers.Dense(3, name="shared")
    a, b = shared(left), shared(right)
    deep = layers.Dense(2, name="deep_2")(layers.Dense(2, name="deep_1")(b))
    joined = layers.BatchNormalization(name="norm")(
        layers.Concatenate()([layers.Dense(2)(a), deep])
    )
    model = tf.keras.Model([left, right], [layers.Dense(1, name="out")(joined), layers.Dense(2)(a)])
    listed = [e["name"] for e in model.get_config()["layers"]]
    wanted = RECORDED["branches"]["layers"]
    named = [name for name in wanted if not name.startswith(("dense", "concatenate"))]
    assert [name for name in listed if name in named] == named
    path = tmp_path / "b.weights.h5"
    path.write_bytes(zlib.decompress(base64.b64decode(RECORDED["branches"]["weights"])))
    model.load_weights(path)
    for i, weight in enumerate(model.weights):
        size = int(np.prod(weight.shape))
        assert np.array_equal(weight.numpy(), np.reshape(np.arange(size) / 8 + i, weight.shape)), (
            weight.name
        )
