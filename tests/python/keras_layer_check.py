"""Compares a layer with what the real Keras gave: `check(case)` for a case of keras_reference.

What is looked at: the output, its dtype and gradients; the names, shapes and later values of
weights; losses; the config and the layer that is made from it; the same in a traced function and
in a model whose batch is open; mixed precision.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import holdfast as tf

REFERENCE = pathlib.Path(__file__).parent / "keras_reference"
sys.path.insert(0, str(REFERENCE))
import rules

keras = tf.keras
TOLERANCE = 2e-5
Case = dict[str, Any]


def cases() -> Iterator[tuple[str, Case]]:
    """All cases of all families, with names for them."""
    for listed in sorted(REFERENCE.glob("cases_*.py")):
        family = listed.stem.removeprefix("cases_")
        text = (REFERENCE / f"layers_{family}.json").read_text()
        for i, case in enumerate(json.loads(text)["cases"]):
            yield f"{family}-{i}-{case['layer']}", case


def made(case: Case, **more: Any) -> Any:
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in case["options"].items()}
    return getattr(keras.layers, case["layer"])(**options, **more)


def given(case: Case, tensors: list[Any]) -> Any:
    return tensors if case["in_list"] else tensors[0]


def call_options(case: Case) -> dict[str, Any]:
    call = case.get("call", {})
    return {k: tf.constant(v) if isinstance(v, list) else v for k, v in call.items()}


def inputs_of(case: Case) -> list[Any]:
    return [tf.constant(rules.inputs(s, k)) for k, s in enumerate(case["inputs"])]


def build(layer: Any, case: Case) -> None:
    """Makes the weights and gives them their values by rule."""
    shapes = [tuple(s) for s in case["inputs"]]
    layer.build(shapes if case["in_list"] else shapes[0])
    weights = layer.weights
    assert [(w.name.rpartition("/")[2].removesuffix(":0"), list(w.shape)) for w in weights] == [
        (name, shape) for name, shape in case["weights"]
    ]
    for k, w in enumerate(weights):
        value = rules.weight(tuple(w.shape), k, case["weights"][k][0])
        w.assign(tf.cast(value, w.dtype))


def assert_near(got: Any, want: Any, scale: Any, what: str) -> None:
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    limit = TOLERANCE * (1 + np.abs(scale))
    assert (np.abs(got - want) <= limit).all(), f"{what}: {got} instead of {want}"


def assert_sums(got: Any, want: list[float], what: str) -> None:
    found = rules.sums(np.asarray(tf.cast(got, "float32"), np.float64))
    assert_near(found, want, want[2], f"{what}, sums")


def assert_result(got: Any, want: dict[str, Any], what: str) -> None:
    assert list(got.shape) == want["shape"], what
    assert got.dtype.name == want["dtype"], what
    if "values" in want:
        assert_near(got.numpy().ravel(), want["values"], want["values"], what)
    else:
        assert_sums(got, want["sums"], what)


def same(ours: Any, theirs: Any) -> bool:
    """Whether a config's value says the same: an object by its class, no activation as linear."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.get("class_name") == theirs.get("class_name")
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    linear = (None, "linear")
    return ours == theirs or (ours in linear and theirs in linear)


def check_values(case: Case) -> None:
    layer, x, options = made(case), inputs_of(case), call_options(case)
    build(layer, case)
    with tf.GradientTape() as tape:
        for t in x:
            tape.watch(t)
        outputs = tf.nest.flatten(layer(given(case, x), **options))
        loss = tf.add_n([tf.reduce_sum(y * rules.factors(tuple(y.shape))) for y in outputs])
    sources = x + list(layer.trainable_weights)
    gradients = tape.gradient(loss, sources, unconnected_gradients="zero")
    assert len(outputs) == len(case["outputs"])
    for i, (y, want) in enumerate(zip(outputs, case["outputs"], strict=True)):
        assert_result(y, want, f"output {i}")
    for i, (g, want) in enumerate(zip(gradients, case["gradients"], strict=True)):
        assert_sums(g, want, f"gradient {i}")
    for w, want in zip(layer.non_trainable_weights, case["after"], strict=True):
        assert_sums(w.read_value(), want, f"{w.name} afterwards")
    assert_near([float(v) for v in layer.losses], case["losses"], 1, "losses")


def check_config(case: Case) -> None:
    layer = made(case)
    build(layer, case)
    config = layer.get_config()
    for key, value in case["config"].items():
        assert key in config, f"no `{key}` in {config}"
        assert same(config[key], value), f"{key}: {config[key]!r}, Keras has {value!r}"
    json.dumps(config)
    twin = type(layer).from_config(config)
    assert twin.get_config() == config
    # What Keras wrote makes the layer as well.
    theirs = {**case["config"], "name": layer.name, "trainable": layer.trainable}
    read = type(layer).from_config(theirs).get_config()
    assert read.keys() == config.keys()
    assert all(same(read[key], value) for key, value in config.items()), (read, config)


def check_traced(case: Case) -> None:
    layer, x, options = made(case), inputs_of(case), call_options(case)
    build(layer, case)
    traced = tf.function(lambda *tensors: layer(given(case, list(tensors)), **options))
    for y, want in zip(tf.nest.flatten(traced(*x)), case["outputs"], strict=True):
        assert_result(y, want, "traced")


def check_model(case: Case) -> None:
    layer, x, options = made(case), inputs_of(case), call_options(case)
    symbols = [keras.Input(batch_shape=(None, *s[1:])) for s in case["inputs"]]
    outputs = layer(given(case, symbols), **options)
    for y, want in zip(tf.nest.flatten(outputs), case["open_shapes"], strict=True):
        assert len(y.shape) == len(want)
        # All that Keras knows; a mask has a batch of its own.
        for ours, theirs in zip(tuple(y.shape), want, strict=True):
            assert theirs is None or ours == theirs, (y.shape, want)
    for k, w in enumerate(layer.weights):
        value = rules.weight(tuple(w.shape), k, case["weights"][k][0])
        w.assign(tf.cast(value, w.dtype))
    model = keras.Model(symbols, outputs)
    training = {k: v for k, v in options.items() if k == "training"}
    for y, want in zip(tf.nest.flatten(model(x, **training)), case["outputs"], strict=True):
        assert_result(y, want, "in a model")


def check_mixed(case: Case) -> None:
    """Computes in bfloat16, keeps its weights in float32, and comes near."""
    layer, x = made(case, dtype="mixed_bfloat16"), inputs_of(case)
    build(layer, case)
    assert all(w.dtype == tf.float32 or not w.dtype.is_floating for w in layer.weights)
    outputs = tf.nest.flatten(layer(given(case, x), **call_options(case)))
    for y, want in zip(outputs, case["outputs"], strict=True):
        assert y.dtype == tf.bfloat16
        assert list(y.shape) == want["shape"]
        # Random numbers of fewer digits are others.
        if "values" in want and "seed" not in case["options"]:
            got = np.asarray(tf.cast(y, "float32"), np.float64).ravel()
            values = np.asarray(want["values"])
            scale = 1 + np.abs(values).max(initial=0)
            assert (np.abs(got - values) <= 0.1 * scale).all(), (got, values)


CHECKS = {
    "values": check_values,
    "config": check_config,
    "traced": check_traced,
    "model": check_model,
    "mixed": check_mixed,
}
