"""Writes what the real Keras gives for recurrent layers, attention and embeddings.

Weights and inputs are the same formula on both sides, so that shapes alone are written. Run it with
a Python that has Keras 3 on TensorFlow; the tests only read what it wrote.
"""

import json
import os
from pathlib import Path

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf

HERE = Path(__file__).parent


def fixed(shape, place: int) -> np.ndarray:
    """The numbers of a weight or an input, by its place."""
    n = int(np.prod(shape))
    return (np.sin(np.arange(n) * 0.37 + place) * 0.5).reshape(shape).astype("float32")


def figures(x) -> dict:
    x = np.asarray(x, "float64")
    return {"shape": list(x.shape), "values": [float(f"{v:.5g}") for v in x.ravel()]}


def made(name: str, options: dict):
    def value(v):
        if isinstance(v, dict) and "class_name" in v:
            return made(v["class_name"], v["config"])
        return [value(one) for one in v] if isinstance(v, list) else v

    return getattr(keras.layers, name)(**{key: value(v) for key, v in options.items()})


def plain(v) -> bool:
    if isinstance(v, (list, tuple)):
        return all(plain(one) for one in v)
    return v is None or isinstance(v, (bool, int, float, str))


def record(case: dict) -> dict:
    keras.backend.clear_session()
    layer = made(case["class"], case["options"])
    if "ids" in case:
        inputs = tf.constant(case["ids"], "int32")
    else:
        several = [tf.constant(fixed(s, i)) for i, s in enumerate(case["inputs"])]
        inputs = several if case.get("list") else several[0]
    kwargs = dict(case.get("call", {}))
    if "mask" in case:
        mask = [None if m is None else tf.constant(np.array(m, "bool")) for m in case["mask"]]
        kwargs["mask"] = mask if case.get("list") else mask[0]
    for key, shapes in case.get("named", {}).items():
        first = 12 if key == "key" else 10
        tensors = [tf.constant(fixed(s, first + i)) for i, s in enumerate(shapes)]
        kwargs[key] = tensors if key == "initial_state" else tensors[0]
    for key, m in case.get("masks", {}).items():
        kwargs[key] = tf.constant(np.array(m, "bool"))
    layer(inputs, **kwargs)
    layer.set_weights([fixed(w.shape, 20 + i) for i, w in enumerate(layer.weights)])
    if hasattr(layer, "reset_state") and getattr(layer, "stateful", False):
        layer.reset_state()
    watched = [] if "ids" in case else (inputs if isinstance(inputs, list) else [inputs])
    with tf.GradientTape() as tape:
        tape.watch(watched)
        outputs = layer(inputs, **kwargs)
        leaves = keras.tree.flatten(outputs)
        loss = tf.add_n([tf.reduce_sum(y * fixed(y.shape, 30 + i)) for i, y in enumerate(leaves)])
    gradients = tape.gradient(loss, watched + [w.value for w in layer.trainable_weights])
    config = layer.get_config()
    out = dict(case)
    out["weights"] = [[w.path.split("/")[-1], list(w.shape)] for w in layer.weights]
    out["outputs"] = [figures(y) for y in leaves]
    out["gradients"] = [None if g is None else figures(tf.convert_to_tensor(g)) for g in gradients]
    out["keys"] = sorted(config)
    out["config"] = {
        key: v for key, v in config.items() if plain(v) and key not in ("name", "dtype")
    }
    return out


MASK = [[1, 1, 1, 0, 0], [1, 0, 1, 1, 0], [1, 1, 1, 1, 1]]


def inner(name: str, **options) -> dict:
    return {"class_name": name, "config": options}


def recurrent_cases() -> list[dict]:
    out = []

    def case(name, options, **more):
        out.append({"class": name, "options": options, "inputs": [[3, 5, 2]], **more})

    for name, states in (("SimpleRNN", 1), ("LSTM", 2), ("GRU", 1)):
        case(name, {"units": 4})
        case(name, {"units": 4, "return_sequences": True, "return_state": True})
        case(name, {"units": 3, "return_sequences": True, "go_backwards": True}, mask=[MASK])
        case(name, {"units": 3, "use_bias": False}, mask=[MASK])
        case(
            name,
            {"units": 3, "return_sequences": True, "unroll": True, "return_state": True},
            named={"initial_state": [[3, 3]] * states},
        )
        case(name, {"units": 3, "activation": "relu"})
        case(name, {"units": 3, "stateful": True, "return_state": True})
    case("LSTM", {"units": 3, "unit_forget_bias": False, "recurrent_activation": "hard_sigmoid"})
    case("GRU", {"units": 3, "reset_after": False, "return_sequences": True})
    case("GRU", {"units": 3, "reset_after": False, "use_bias": False})
    case("RNN", {"cell": inner("LSTMCell", units=3), "return_sequences": True})
    case("RNN", {"cell": inner("GRUCell", units=3), "return_state": True}, mask=[MASK])
    case(
        "RNN",
        {
            "cell": inner("SimpleRNNCell", units=3),
            "zero_output_for_mask": True,
            "return_sequences": True,
        },
        mask=[MASK],
    )
    stack = [inner("LSTMCell", units=3), inner("GRUCell", units=2), inner("SimpleRNNCell", units=4)]
    case("RNN", {"cell": inner("StackedRNNCells", cells=stack), "return_state": True})
    case(
        "RNN",
        {"cell": inner("StackedRNNCells", cells=stack), "return_sequences": True},
        mask=[MASK],
    )
    for mode in ("concat", "sum", "mul", "ave"):
        case("Bidirectional", {"layer": inner("LSTM", units=2), "merge_mode": mode})
    case("Bidirectional", {"layer": inner("GRU", units=2, return_sequences=True)}, mask=[MASK])
    case(
        "Bidirectional",
        {
            "layer": inner("LSTM", units=2, return_sequences=True, return_state=True),
            "merge_mode": None,
        },
    )
    case(
        "Bidirectional",
        {"layer": inner("GRU", units=2, return_state=True)},
        named={"initial_state": [[3, 2], [3, 2]]},
    )
    case(
        "Bidirectional",
        {
            "layer": inner("LSTM", units=2),
            "backward_layer": inner("LSTM", units=2, activation="relu", go_backwards=True),
        },
    )
    case("TimeDistributed", {"layer": inner("Dense", units=3, activation="tanh")})
    out.append(
        {
            "class": "TimeDistributed",
            "options": {"layer": inner("LSTM", units=2)},
            "inputs": [[2, 3, 4, 2]],
        }
    )
    for options in (
        {"input_dim": 7, "output_dim": 3},
        {"input_dim": 7, "output_dim": 2, "mask_zero": True},
    ):
        out.append({"class": "Embedding", "options": options, "ids": [[1, 0, 6], [3, 3, 2]]})
    return out


def attention_cases() -> list[dict]:
    out = []

    def case(name, options, **more):
        out.append({"class": name, "options": options, **more})

    short, padding = [[1, 1, 0], [1, 1, 1]], [[1, 1, 1, 0], [1, 0, 1, 1]]
    allowed = [
        [[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]],
        [[1, 1, 1, 1], [1, 1, 0, 1], [0, 1, 0, 1]],
    ]
    pair, triple = [[2, 3, 4], [2, 4, 4]], [[2, 3, 4], [2, 4, 4], [2, 4, 4]]
    for name in ("Attention", "AdditiveAttention"):
        case(name, {}, inputs=pair, list=True)
        case(name, {"use_scale": name == "Attention"}, inputs=triple, list=True)
        case(name, {}, inputs=pair, list=True, mask=[short, padding])
        case(
            name,
            {},
            inputs=pair,
            list=True,
            mask=[None, padding],
            call={"use_causal_mask": True, "return_attention_scores": True},
        )
    case("Attention", {"score_mode": "concat"}, inputs=pair, list=True)
    case("Attention", {"score_mode": "concat", "use_scale": True}, inputs=triple, list=True)
    for options in (
        {"num_heads": 2, "key_dim": 3},
        {"num_heads": 2, "key_dim": 3, "value_dim": 2, "output_shape": 5, "use_bias": False},
        {"num_heads": 1, "key_dim": 2, "sliding_window": 2},
    ):
        case("MultiHeadAttention", options, inputs=[[2, 3, 4]], named={"value": [[2, 4, 4]]})
    options = {"num_heads": 2, "key_dim": 3}
    value = {"value": [[2, 4, 5]]}
    case("MultiHeadAttention", options, inputs=[[2, 3, 4]], named=value | {"key": [[2, 4, 2]]})
    case(
        "MultiHeadAttention",
        options,
        inputs=[[2, 3, 4]],
        named=value,
        call={"return_attention_scores": True, "use_causal_mask": True},
    )
    case(
        "MultiHeadAttention",
        options,
        inputs=[[2, 3, 4]],
        named=value,
        masks={"attention_mask": allowed},
        call={"return_attention_scores": True},
    )
    case(
        "MultiHeadAttention",
        options,
        inputs=[[2, 3, 4]],
        named=value,
        masks={"value_mask": padding},
    )
    case("MultiHeadAttention", options | {"use_gate": True}, inputs=[[2, 3, 4]], named=value)
    case(
        "MultiHeadAttention",
        options | {"attention_axes": [2]},
        inputs=[[2, 3, 2, 4]],
        named={"value": [[2, 3, 4, 4]]},
    )
    case(
        "MultiHeadAttention",
        options,
        inputs=[[2, 3, 2, 4]],
        named={"value": [[2, 3, 2, 4]]},
        call={"return_attention_scores": True},
    )
    options = {"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2}
    value = {"value": [[2, 4, 3]]}
    case("GroupQueryAttention", options, inputs=[[2, 3, 3]], named=value)
    case(
        "GroupQueryAttention",
        options | {"use_bias": False, "use_gate": True},
        inputs=[[2, 3, 3]],
        named=value,
        call={"use_causal_mask": True},
    )
    case(
        "GroupQueryAttention",
        options,
        inputs=[[2, 3, 3]],
        named=value,
        masks={"attention_mask": allowed, "value_mask": padding},
        call={"return_attention_scores": True},
    )
    return out


def write(name: str, cases: list[dict]) -> None:
    with open(HERE / name, "w", encoding="utf-8") as f:
        f.write("[\n")
        f.write(",\n".join(json.dumps(record(c), separators=(",", ":")) for c in cases))
        f.write("\n]\n")


if __name__ == "__main__":
    write("layers_recurrent.json", recurrent_cases())
    write("layers_attention.json", attention_cases())
