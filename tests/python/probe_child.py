"""Runs samples where the plugin of tests/probe is loaded: `probe_child.py WHAT NAME...`.

`aliases`: each call and its gradient, and then what the plugin found. `values`: each call on a second
device, eager and traced, against the CPU's bits. `close`: the same by the tolerances of the samples, for a
device that computes in its own way. `plan`: a step of training there, against the CPU's
bits, and what its plan says.
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


def close(got, want, checks):
    """As near as the sample says, or as a sum in another order is to the first."""
    rtol, atol = max(10 * checks["rtol"], 1e-4), max(10 * checks["atol"], 1e-4)

    def near(a, b):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype or a.dtype.kind not in "fc":
            return np.array_equal(a, b)
        return np.allclose(a.astype(complex), b.astype(complex), rtol, atol, equal_nan=True)

    return len(got) == len(want) and all(map(near, got, want))


def compare(call, name, same):
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
            if not same(got, results["CPU:0", 1]):
                why = f"{how}, run {run} on {device}: other values than at first on the CPU"
                print(json.dumps({"tried": name, "why": why}))


def train(device):
    """The losses of three steps, and what the plan of a step says."""
    rng = np.random.default_rng(1)
    with tf.device(device):
        x = tf.constant(rng.normal(size=(16, 8)), tf.float32)
        y = tf.constant(rng.normal(size=(16, 2)), tf.float32)
        shapes = [(8, 32), (32,), (32, 2)]
        variables = [tf.Variable(rng.normal(size=s) * 0.3, dtype=tf.float32) for s in shapes]

    @tf.function
    def step(x, y):
        w1, b1, w2 = variables
        with tf.GradientTape() as tape:
            # Integers are divided on the host, wherever the rest is.
            odd = tf.cast(tf.cast(x * 10.0, tf.int32) // 3, tf.float32)
            loss = tf.reduce_mean(tf.square(tf.nn.relu((x + odd) @ w1 + b1) @ w2 - y))
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    losses = [step(x, y) for _ in range(3)]
    on = {t.device[-5:] for t in losses} | {v.device[-5:] for v in variables}
    values = [t.numpy() for t in losses] + [v.numpy() for v in variables]
    return on, values, step.explain(x, y), step.memory_plan(x, y)


def look_at_plan():
    _, want, _, _ = train("CPU:0")
    on, got, plan, memory = train("GPU:0")
    print("try plan 0", flush=True)
    if on != {"GPU:0"}:
        print(json.dumps({"why": f"results and variables are on {on}"}))
    if not same_bits(got, want):
        print(json.dumps({"why": "other values than on the CPU"}))
    bound = "chosen at each run" not in plan
    fallback = os.environ["HOLDFAST_PROBE"] == "fallback"
    expected = {
        "on GPU:0: its variable lives there": True,
        "on GPU:0: its operands lie there": not fallback,
        "on CPU:0: no kernel on GPU:0": fallback,
        "CopyToDevice": fallback,
        ", 0 of them copies": not fallback,
        "copied from GPU:0": fallback,
        "copied from CPU:0": fallback,
    }
    for text, there in expected.items():
        if (text in plan) != there:
            print(json.dumps({"why": f"`{text}` is {'not ' * there}in the plan", "text": plan}))
    if not bound or " on GPU:0" not in memory:
        print(json.dumps({"why": "kernels or memory are not planned", "text": plan + memory}))


def main(what, names):
    tf.config.experimental.set_device_policy("silent")
    if what == "plan":
        look_at_plan()
        names = []
    for name in names:
        function = next(f for f in samples.FUNCTIONS if f.record["name"] == name)
        for n, sample in enumerate(function.record["samples"]):
            print("try", name, n, flush=True)
            call = samples.call(function, sample)
            if what == "aliases":
                run_with_gradient(call)
            elif what == "close":
                checks = call.record["checks"]
                compare(call, name, lambda got, want, checks=checks: close(got, want, checks))
            else:
                compare(call, name, same_bits)
    if what == "aliases":
        probe = ctypes.CDLL(os.environ["HOLDFAST_CUDA_PLUGIN"])
        probe.probe_aliases.restype = ctypes.c_char_p
        for line in probe.probe_aliases().decode().splitlines():
            print(json.dumps({"why": line}))
    print("done")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
