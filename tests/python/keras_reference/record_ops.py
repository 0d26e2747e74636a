"""Records what ops of Keras give, into ops.json.

Run in an environment with the real Keras: `KERAS_BACKEND=jax python record_ops.py`.
"""

import json
import pathlib

import keras
from op_cases import cases, results

lines = [f"{json.dumps(one)}: {json.dumps(results(keras, one))}" for one in cases()]
place = pathlib.Path(__file__).parent / "ops.json"
place.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(f"{place.name}: {len(lines)} calls, {place.stat().st_size} bytes")
