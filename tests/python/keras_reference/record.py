"""Records what layers of the real Keras give, so that tests can compare without it.

Run in an environment that has `keras` and TensorFlow: `python record.py [family ...]`. Each family
is a module `cases_<family>.py` beside this one with a list `CASES`; its figures are written to
`layers_<family>.json`. Inputs and weights follow rules, so only results are kept: small ones whole,
others, and all gradients, as three sums.
"""

import importlib
import json
import os
import pathlib
import sys

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import keras
import numpy as np
import rules
import tensorflow as tf

KEPT_WHOLE = 64


def plain(value):
    """A config as JSON has it, without what only Keras' own files need."""
    if isinstance(value, dict):
        if value.get("class_name") == "DTypePolicy":
            return value["config"]["name"]
        kept = {k: plain(v) for k, v in value.items()}
        if "class_name" in kept:
            kept.pop("module", None)
            kept.pop("registered_name", None)
            kept.pop("build_config", None)
        return kept
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def number(x):
    return float(f"{float(x):.7g}")


def sums(value):
    return [number(x) for x in rules.sums(np.asarray(value, np.float64))]


def result(value):
    array = np.asarray(tf.cast(value, "float32")) if value.dtype == "bfloat16" else value.numpy()
    out = {"shape": list(array.shape), "dtype": keras.backend.standardize_dtype(value.dtype)}
    if array.size <= KEPT_WHOLE:
        out["values"] = [number(x) for x in array.ravel()]
    else:
        out["sums"] = sums(array)
    return out


def record(case):
    layer = getattr(keras.layers, case["layer"])(**case["options"])
    inputs = [tf.constant(rules.inputs(s, k)) for k, s in enumerate(case["inputs"])]
    given = inputs[0] if len(inputs) == 1 and not case.get("in_list") else inputs
    shapes = [tuple(s) for s in case["inputs"]]
    layer.build(shapes[0] if given is inputs[0] else shapes)
    for k, weight in enumerate(layer.weights):
        weight.assign(rules.weight(tuple(weight.shape), k, weight.name))
    if hasattr(layer, "finalize_state"):  # it keeps what it made of its weights
        layer.finalize_state()
    more = {k: tf.constant(v) if isinstance(v, list) else v for k, v in case["call"].items()}
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = layer(given, **more)
        flat = tf.nest.flatten(outputs)
        loss = tf.add_n(
            [tf.reduce_sum(tf.cast(y, "float32") * rules.factors(tuple(y.shape))) for y in flat]
        )
    sources = inputs + [w.value for w in layer.trainable_weights]
    gradients = tape.gradient(loss, sources, unconnected_gradients="zero")
    open_shapes = [(None, *s[1:]) for s in shapes]
    symbols = [keras.Input(batch_shape=s) for s in open_shapes]
    twin = getattr(keras.layers, case["layer"]).from_config(layer.get_config())
    symbolic = twin(symbols[0] if given is inputs[0] else symbols, **more)
    config = plain(layer.get_config())
    for key in ("name", "trainable", "dtype"):
        config.pop(key, None)
    for key in ("quantization_config", "gptq_unpacked_column_size"):
        if config.get(key, "") is None:
            config.pop(key)
    return {
        **{k: v for k, v in case.items() if v not in ({}, None) and k != "options"},
        "options": plain(case["options"]),
        "config": config,
        "weights": [[w.name, list(w.shape)] for w in layer.weights],
        "outputs": [result(tf.convert_to_tensor(y)) for y in flat],
        "open_shapes": [list(y.shape) for y in tf.nest.flatten(symbolic)],
        "gradients": [sums(g) for g in gradients],
        "after": [sums(w) for w in layer.non_trainable_weights],
        "losses": [number(x) for x in layer.losses],
    }


def main(families):
    if not families:
        families = sorted(p.stem.removeprefix("cases_") for p in HERE.glob("cases_*.py"))
    for family in families:
        cases = importlib.import_module(f"cases_{family}").CASES
        lines = []
        for case in cases:
            try:
                lines.append(json.dumps(record(case)))
            except Exception:
                print("in", case, file=sys.stderr)
                raise
        whole = ",\n".join(lines)
        text = f'{{"keras": "{keras.__version__}", "cases": [\n{whole}\n]}}\n'
        (HERE / f"layers_{family}.json").write_text(text)
        print(family, len(cases), "cases", len(text), "bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
