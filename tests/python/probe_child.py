"""Runs samples where the plugin of tests/probe is loaded: `probe_child.py WHAT NAME...`.

`aliases`: each call and its gradient, and then what the plugin found. `values`: each call on a second
device, eager and traced, against the CPU's bits.
"""

import ctypes
import json
import os
import sys

import numpy as np
import samples

import holdfast as tf


def leaves(result):
    return [t for t in tf.nest.flatten(result) if isinstance(t, tf.Tensor)]


def tensors(call):
    return [tf.constant(a) for a in call.arrays()]


def run_with_gradient(call):
    inputs = tensors(call)
    with tf.GradientTape() as tape:
        for x in inputs:
            tape.watch(x)
        outputs = [
            t for t in leaves(call.run(dict(enumerate(inputs)))) if t.dtype.is_floating
        ]
    if outputs and call.record["checks"]["gradient"]:
        tape.gradient(outputs, [x for x in inputs if x.dtype.is_floating])


def compare(call, name):
    with tf.device("CPU:0"):
        want = [t.numpy() for t in leaves(call.run())]
    with tf.device("GPU:0"):
        inputs = tensors(call)
    traced = tf.function(lambda *xs: call.run(dict(enumerate(xs))))
    for how in ("eager", "traced", "traced again"):
        function = traced if how != "eager" else traced.python_function
        with tf.device("GPU:0"):
            got = [t.numpy() for t in leaves(function(*inputs))]
        same = len(got) == len(want) and all(
            np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
            for a, b in zip(got, want, strict=True)
        )
        if not same:
            print(json.dumps({"tried": name, "why": f"{how}: other values than on the CPU"}))


def main(what, names):
    tf.config.experimental.set_device_policy("silent")
    for name in names:
        function = next(f for f in samples.FUNCTIONS if f.record["name"] == name)
        for n, sample in enumerate(function.record["samples"]):
            print("try", name, n, flush=True)
            call = samples.call(function, sample)
            if what == "aliases":
                run_with_gradient(call)
            else:
                compare(call, name)
    if what == "aliases":
        probe = ctypes.CDLL(os.environ["HOLDFAST_CUDA_PLUGIN"])
        probe.probe_aliases.restype = ctypes.c_char_p
        for line in probe.probe_aliases().decode().splitlines():
            print(json.dumps({"why": line}))
    print("done")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
