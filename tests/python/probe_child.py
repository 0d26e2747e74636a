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
        outputs = [t for t in leaves(call.run(dict(enumerate(inputs)))) if t.dtype.is_floating]
    if outputs and call.record["checks"]["gradient"]:
        tape.gradient(outputs, [x for x in inputs if x.dtype.is_floating])


def same_bits(got, want):
    return len(got) == len(want) and all(
        np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc")
        for a, b in zip(got, want, strict=True)
    )


def compare(call, name):
    def eager(*xs):
        return call.run(dict(enumerate(xs)))

    # What is traced may be computed in another order, so that its last bits are others.
    for how, function in (("eager", eager), ("traced", tf.function(eager))):
        results = {}
        for device in ("CPU:0", "GPU:0"):
            with tf.device(device):
                inputs = tensors(call)
            for run in (1, 2):
                with tf.device(device):
                    results[device, run] = [t.numpy() for t in leaves(function(*inputs))]
        for (device, run), got in results.items():
            if not same_bits(got, results["CPU:0", 1]):
                why = f"{how}, run {run} on {device}: other values than at first on the CPU"
                print(json.dumps({"tried": name, "why": why}))


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
