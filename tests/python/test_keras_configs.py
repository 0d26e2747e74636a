"""Configs are spelled as Keras spells them, key by key in its order, and both spellings are read."""

import json
import pathlib
import sys

import pytest

import holdfast as tf

REFERENCE = pathlib.Path(__file__).parent / "keras_reference"
sys.path.insert(0, str(REFERENCE))
import config_cases

RECORDED = json.loads((REFERENCE / "configs.json").read_text())

# What Keras loses: an object that is made from its config is another one.
_LOST = {
    "losses.Huber": {"delta"},
    "losses.CosineSimilarity": {"axis"},
    "metrics.CosineSimilarity": {"axis"},
    "metrics.SparseTopKCategoricalAccuracy": {"from_sorted_ids"},
    "metrics.AUC": {"thresholds"},
    "initializers.Identity": {"gain"},
    "layers.SpatialDropout1D": {"dtype", "name", "trainable"},
    "layers.SpatialDropout2D": {"dtype", "name", "trainable"},
    "layers.SpatialDropout3D": {"dtype", "name", "trainable"},
    "layers.SimpleRNN": {"seed"},
}
# What ours say otherwise, and why.
_OTHERWISE = {
    "metrics.IoU": {"dtype": "counts are floats, so that weights need not be whole"},
    "metrics.BinaryIoU": {"dtype": "the same"},
    "metrics.MeanIoU": {"dtype": "the same"},
    "metrics.OneHotIoU": {"dtype": "the same"},
    "metrics.OneHotMeanIoU": {"dtype": "the same"},
    "metrics.AUC": {"num_thresholds": "as it was given: Keras takes off two that it added itself"},
}


def differences(ours, theirs, path=""):
    """Where two configs differ: keys, their order, values."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found = (
            [] if list(ours) == list(theirs) else [f"{path}: {list(ours)}, Keras {list(theirs)}"]
        )
        both = [key for key in ours if key in theirs]
        return found + [d for k in both for d in differences(ours[k], theirs[k], f"{path}.{k}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{path}[{i}]")]
    near = isinstance(ours, float) and isinstance(theirs, int | float)
    same = abs(ours - theirs) <= 1e-7 * abs(theirs) if near else ours == theirs
    return [] if same else [f"{path}: {ours!r}, Keras {theirs!r}"]


def comparable(config, kind):
    left_out = _LOST.get(kind, set()) | _OTHERWISE.get(kind, {}).keys()
    return {key: value for key, value in config.items() if key not in left_out}


@pytest.mark.parametrize("case", config_cases.cases())
def test_config(case):
    kind = case.partition("(")[0]
    ours = json.loads(json.dumps(config_cases.config(tf.keras, case)))
    theirs = RECORDED[case]
    said, wanted = ({**c, "config": comparable(c["config"], kind)} for c in (ours, theirs))
    assert not differences(said, wanted)


@pytest.mark.parametrize("case", config_cases.cases())
def test_what_keras_wrote_is_read(case):
    kind = case.partition("(")[0]
    made = config_cases.made(tf.keras, case)
    read = tf.keras.saving.deserialize_keras_object(RECORDED[case])
    assert type(read) is type(made)
    before, after = (
        json.loads(json.dumps(comparable(one.get_config(), kind))) for one in (made, read)
    )
    assert not differences(after, before)


@pytest.mark.parametrize("dtype", ["float64", "mixed_bfloat16"])
def test_a_dtype_is_read_in_either_spelling(dtype):
    layer = tf.keras.layers.Dense(2, dtype=dtype)
    config = layer.get_config()
    assert config["dtype"]["config"] == {"name": dtype}
    for spelled in (dtype, config["dtype"], tf.keras.DTypePolicy(dtype)):
        again = tf.keras.layers.Dense.from_config({**config, "dtype": spelled})
        assert again.dtype_policy.name == dtype


def test_older_configs_without_an_activation_are_read():
    config = tf.keras.layers.Dense(2, name="d").get_config()
    assert config["activation"] == "linear"
    again = tf.keras.layers.Dense.from_config({**config, "activation": None})
    assert again.get_config() == config


@tf.keras.saving.register_keras_serializable("configs")
def bent(x):
    return x + 0.5 * tf.abs(x)


def steep(x):
    return 3 * x


def test_functions_are_written_by_name():
    written = {
        "module": "builtins",
        "class_name": "function",
        "config": "configs>bent",
        "registered_name": "function",
    }
    layer = tf.keras.layers.Dense(2, activation=bent)
    assert layer.get_config()["activation"] == written
    assert tf.keras.layers.Dense.from_config(layer.get_config()).activation is bent
    other = tf.keras.layers.Dense(2, activation=steep)
    assert other.get_config()["activation"]["config"] == "steep"
    with tf.keras.saving.custom_object_scope({"steep": steep}):
        assert tf.keras.layers.Dense.from_config(other.get_config()).activation is steep
    with pytest.raises(ValueError, match="steep"):
        tf.keras.layers.Dense.from_config(other.get_config())
    with pytest.raises(tf.errors.UnimplementedError, match="no name in a config"):
        tf.keras.layers.Dense(2, activation=lambda x: x).get_config()


def test_a_model_of_calls_is_read_from_what_stands_for_it():
    x = tf.keras.Input((2,), name="x")
    model = tf.keras.Model({"x": x}, {"y": tf.keras.layers.Dense(1)(x)})
    whole = tf.keras.saving.serialize_keras_object(model)
    assert whole["class_name"] == "Functional"
    again = tf.keras.saving.deserialize_keras_object(whole)
    assert again.get_config() == model.get_config()


def test_values_around_objects_stay_what_they_are():
    given = {"steps": [1, 2.5, None, "relu"], "layer": tf.keras.layers.Dense(2), "by": steep}
    plain = tf.keras.saving.serialize_keras_object(given)
    assert plain["by"]["config"] == "steep"
    read = tf.keras.saving.deserialize_keras_object(plain, custom_objects={"steep": steep})
    assert read["steps"] == given["steps"] and read["by"] is steep
    assert read["layer"].get_config() == given["layer"].get_config()
    with pytest.raises(TypeError, match="names no class"):
        tf.keras.saving.deserialize_keras_object({"class_name": "Dense", "config": 3})


@pytest.mark.parametrize("name", ["mixed_float15", "", 12345])
def test_policies_that_are_not_known(name):
    with pytest.raises(ValueError, match="policy"):
        tf.keras.config.set_dtype_policy(name)
    assert tf.keras.config.dtype_policy().name == "float32"


def test_quantized_policies_are_not_supported():
    with pytest.raises(tf.errors.UnimplementedError):
        tf.keras.DTypePolicy("int8_from_float32")
    assert tf.keras.DTypePolicy("float32").quantization_mode is None
