"""Records the configs of Keras' objects, key by key in its order, into configs.json.

Run in an environment with the real Keras: `KERAS_BACKEND=numpy python record_configs.py`.
"""

import json
import pathlib

import keras
from config_cases import cases, config

lines = [f"{json.dumps(one)}: {json.dumps(config(keras, one))}" for one in cases()]
place = pathlib.Path(__file__).parent / "configs.json"
place.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(f"{place.name}: {len(lines)} configs, {place.stat().st_size} bytes")
