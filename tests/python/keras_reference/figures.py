"""Figures of the real Keras as small JSON: arrays under names, and cases that refer to them."""

import json
import pathlib

import numpy as np


def plain(value):
    """An array or a number as JSON says it, with the digits that float32 has."""
    if isinstance(value, np.ndarray):
        kind = value.dtype.kind
        values = value.ravel().tolist()
        if kind == "f":
            values = [number(v) for v in values]
        name = {"f": "float32", "i": "int32", "b": "bool"}[kind]
        return {"dtype": name, "shape": list(value.shape), "values": values}
    return value


def number(v):
    """A float with the digits that float32 has; what JSON has no word for as a text."""
    v = float(np.float32(v))
    return float(f"{v:.8g}") if np.isfinite(v) else str(v)


class Figures:
    def __init__(self, file):
        self.file = pathlib.Path(__file__).parent / file
        self.arrays = {}
        self.cases = []

    def data(self, **arrays):
        self.arrays.update(arrays)

    def array(self, name):
        value = self.arrays[name]
        return value.astype("float32") if value.dtype.kind == "f" else value

    def case(self, said, **results):
        said = {k: v for k, v in said.items() if v is not None}
        self.cases.append(said | {k: plain(v) for k, v in results.items()})

    def write(self):
        lines = ["{", '"data": {']
        lines += [",\n".join(f'"{k}": {json.dumps(plain(v))}' for k, v in self.arrays.items())]
        lines += ["},", '"cases": [']
        lines += [",\n".join(json.dumps(case, default=str) for case in self.cases)]
        lines += ["]", "}"]
        self.file.write_text("\n".join(lines) + "\n")
        print(f"{self.file.name}: {len(self.cases)} cases, {self.file.stat().st_size} bytes")
