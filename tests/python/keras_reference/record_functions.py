"""Writes what the real Keras gives for activations, initializers, regularizers and constraints.

Run it with a Python that has Keras 3 on TensorFlow; the tests only read what it wrote.
"""

import json
import os
from pathlib import Path

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np

HERE = Path(__file__).parent


def figures(x) -> list:
    return [float(f"{v:.7g}") for v in np.asarray(x, "float64").ravel()]


def matrix(rows: int, columns: int) -> np.ndarray:
    return (np.sin(np.arange(rows * columns) * 1.7) * 3).reshape(rows, columns).astype("float32")


ACTIVATIONS = [
    ("celu", {}),
    ("celu", {"alpha": 0.5}),
    ("elu", {}),
    ("elu", {"alpha": 2.0}),
    ("exponential", {}),
    ("gelu", {}),
    ("gelu", {"approximate": True}),
    ("glu", {}),
    ("glu", {"axis": 0}),
    ("hard_shrink", {}),
    ("hard_shrink", {"threshold": 1.5}),
    ("hard_sigmoid", {}),
    ("hard_silu", {}),
    ("hard_tanh", {}),
    ("leaky_relu", {}),
    ("leaky_relu", {"negative_slope": 0.5}),
    ("linear", {}),
    ("log_sigmoid", {}),
    ("log_softmax", {}),
    ("log_softmax", {"axis": 0}),
    ("mish", {}),
    ("relu", {}),
    ("relu", {"max_value": 1.0}),
    ("relu", {"max_value": 6.0}),
    ("relu", {"negative_slope": 0.3}),
    ("relu", {"threshold": 0.7}),
    ("relu", {"negative_slope": 0.3, "max_value": 2.0, "threshold": 0.7}),
    ("relu6", {}),
    ("selu", {}),
    ("sigmoid", {}),
    ("silu", {}),
    ("soft_shrink", {}),
    ("soft_shrink", {"threshold": 1.5}),
    ("softmax", {}),
    ("softmax", {"axis": 0}),
    ("softplus", {}),
    ("softsign", {}),
    ("sparse_plus", {}),
    ("sparse_sigmoid", {}),
    ("squareplus", {}),
    ("squareplus", {"b": 1.0}),
    ("tanh", {}),
    ("tanh_shrink", {}),
    ("threshold", {"threshold": 0.5, "default_value": -1.0}),
]

INITIALIZERS = [
    ("Constant", {"value": 2.5}, [2, 3]),
    ("GlorotNormal", {"seed": 3}, [4, 3]),
    ("GlorotUniform", {"seed": 3}, [4, 3]),
    ("GlorotUniform", {"seed": 4}, [2, 3, 2, 2]),
    ("GlorotUniform", {"seed": 4, "input_axes": [0], "output_axes": [1, 2]}, [4, 3, 2]),
    ("HeNormal", {"seed": 7}, [5]),
    ("HeUniform", {"seed": -7}, [4, 3]),
    ("Identity", {"gain": 2.0}, [2, 3]),
    ("LecunNormal", {"seed": 1 << 40}, [4, 3]),
    ("LecunUniform", {"seed": 0}, [4, 3]),
    ("Ones", {}, [3]),
    ("Orthogonal", {"seed": 5}, [4, 3]),
    ("Orthogonal", {"seed": 5, "gain": 2.0}, [2, 2, 6]),
    ("RandomNormal", {"seed": 2}, [3, 2]),
    ("RandomNormal", {"seed": 2, "mean": 1.0, "stddev": 2.0}, [3, 2]),
    ("RandomUniform", {"seed": 2}, [3, 2]),
    ("RandomUniform", {"seed": 2, "minval": 0.0, "maxval": 3.0}, [3, 2]),
    ("TruncatedNormal", {"seed": 2}, [3, 2]),
    ("VarianceScaling", {"seed": 2}, [3, 2]),
    (
        "VarianceScaling",
        {"seed": 2, "scale": 3.0, "mode": "fan_avg", "distribution": "untruncated_normal"},
        [3, 2],
    ),
    (
        "VarianceScaling",
        {"seed": 2, "mode": "fan_out", "distribution": "uniform"},
        [3, 2],
    ),
    ("Zeros", {}, [3]),
]

REGULARIZERS = [
    ("L1", {}),
    ("L1", {"l1": 0.3}),
    ("L2", {}),
    ("L2", {"l2": 0.3}),
    ("L1L2", {}),
    ("L1L2", {"l1": 0.1, "l2": 0.2}),
    ("OrthogonalRegularizer", {}),
    ("OrthogonalRegularizer", {"factor": 2.0, "mode": "columns"}),
]

CONSTRAINTS = [
    ("MaxNorm", {}),
    ("MaxNorm", {"max_value": 1.0, "axis": 1}),
    ("MaxNorm", {"max_value": 1.0, "axis": [0, 1]}),
    ("NonNeg", {}),
    ("UnitNorm", {}),
    ("UnitNorm", {"axis": 1}),
    ("MinMaxNorm", {}),
    ("MinMaxNorm", {"min_value": 3.0, "max_value": 4.0, "rate": 0.5, "axis": 1}),
]


def record() -> dict:
    x = matrix(4, 6)
    out: dict = {"x": figures(x), "shape": list(x.shape)}
    out["activations"] = [
        {"name": name, "options": o, "y": figures(getattr(keras.activations, name)(x, **o))}
        for name, o in ACTIVATIONS
    ]

    def made(module, name, o):
        one = getattr(module, name)(**o)
        config = one.get_config()
        for key, value in config.items():
            config[key] = float(f"{value:.7g}") if isinstance(value, float) else value
        return one, {"class": name, "options": o, "config": config}

    out["initializers"] = []
    for name, o, shape in INITIALIZERS:
        one, entry = made(keras.initializers, name, o)
        y = figures(one(shape, dtype="float32"))
        out["initializers"].append(entry | {"shape": shape, "y": y})
    out["regularizers"] = []
    for name, o in REGULARIZERS:
        one, entry = made(keras.regularizers, name, o)
        out["regularizers"].append(entry | {"y": figures(one(keras.ops.convert_to_tensor(x)))})
    out["constraints"] = []
    for name, o in CONSTRAINTS:
        one, entry = made(keras.constraints, name, o)
        out["constraints"].append(entry | {"y": figures(one(x))})
    return out


if __name__ == "__main__":
    with open(HERE / "functions.json", "w", encoding="utf-8") as f:
        json.dump(record(), f, separators=(",", ":"))
        f.write("\n")
