"""What devices cost that nobody uses: unused_devices.py [--python PYTHON] [--rounds N]

A small traced function on the first CPU, in processes that take turns: with that device alone, with a second logical CPU, and
with the GPU where there is one. Prints the minimum of each, its ratio to the first, and whether the bits of a convolution and a
product are the same.
"""

import argparse
import json
import os
import subprocess
import sys
import time

PROCESSES = {
    "one CPU": {"HOLDFAST_CUDA_PLUGIN": "off"},
    "two logical CPUs": {"HOLDFAST_CUDA_PLUGIN": "off", "HOLDFAST_BENCH_CPUS": "2"},
    "a GPU": {},
}


def child():
    import numpy as np

    import holdfast as tf

    if os.environ.get("HOLDFAST_BENCH_CPUS") == "2":
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * 2
        )
    devices = [d.name for d in tf.config.list_logical_devices()]

    @tf.function
    def small(x):
        return tf.sin(x) + 1.0

    @tf.function
    def large(image, filters, weights):
        y = tf.nn.relu(tf.nn.conv2d(image, filters, 1, "SAME"))
        return tf.nn.softmax(tf.reshape(y, [image.shape[0], -1]) @ weights)

    with tf.device("CPU:0"):
        draw = np.random.default_rng(1)
        of = (
            draw.normal(size=s).astype("float32") for s in ((4, 9, 9, 3), (3, 3, 3, 8), (648, 10))
        )
        bits = large(*map(tf.constant, of)).numpy().tobytes().hex()
        x = tf.constant([1.0, 2.0, 3.0, 4.0])
        small(x)
        print(json.dumps([devices, bits]), flush=True)
        for _ in sys.stdin:
            best = 1e30
            for _ in range(20):
                begin = time.perf_counter()
                for _ in range(5000):
                    small(x)
                best = min(best, (time.perf_counter() - begin) / 5000)
            print(best, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child()
        return
    running = {}
    for name, also in PROCESSES.items():
        env = dict(os.environ, OMP_NUM_THREADS="1", **also)
        process = subprocess.Popen(
            [args.python, __file__, "--child"], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )  # fmt: skip
        devices, bits = json.loads(process.stdout.readline())
        if name == "a GPU" and not any("GPU" in d for d in devices):
            process.kill()
            continue
        running[name] = process, bits
    best = dict.fromkeys(running, 1e30)
    for _ in range(args.rounds):
        for name, (process, _) in running.items():
            print(file=process.stdin, flush=True)
            best[name] = min(best[name], float(process.stdout.readline()))
    first, first_bits = best["one CPU"], running["one CPU"][1]
    print("| a traced `sin(x) + 1` of [4], with | a call | to one CPU | bits |\n|---|---|---|---|")
    for name, (process, bits) in running.items():
        same = "equal" if bits == first_bits else "DIFFERENT"
        print(f"| {name} | {best[name] * 1e9:.0f} ns | {best[name] / first:.2f}x | {same} |")
        process.kill()


if __name__ == "__main__":
    main()
