"""One framework's rows: what is timed, as functions without arguments. Speaks JSON lines with run.py."""

import json
import os
import sys
import time

import numpy as np


def tensorflow_or_ours(kind):
    """`before` is an older build of ours, in an environment of its own."""
    return __import__("holdfast" if kind in ("ours", "before") else "tensorflow")


def data(shape, seed, scale=1.0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32) * np.float32(scale)


PRODUCTS = {
    "matmul 256": ((256, 256), (256, 256)),
    "matmul 1024": ((1024, 1024), (1024, 1024)),
    "matmul 2048": ((2048, 2048), (2048, 2048)),
    "matmul 32x128x128x128": ((32, 128, 128), (32, 128, 128)),
    "matmul 128x784x512": ((128, 784), (784, 512)),
    "matmul 1x512x512": ((1, 512), (512, 512)),
    "matmul 4096x16x16": ((4096, 16), (16, 16)),
}
IMAGE, FILTER = (8, 56, 56, 64), (3, 3, 64, 64)


def chain(x, tanh):
    t = x * x
    t = t * x
    t = t * 0.044715
    t = t + x
    t = t * 0.7978846
    t = tanh(t)
    t = t + 1.0
    t = t * x
    t = t * 0.5
    return t - 0.1


def many(f, n):
    def run():
        for _ in range(n):
            f()

    return run, n


def session_beside(tf, others):
    """A run of one addition in a graph that has `others` ops besides."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [])
        y, z = x + 1.0, x
        for _ in range(others):
            z = z + 1.0
    session = v1.Session(graph=graph)
    return lambda: session.run(y, {x: 1.0})


def of_tensorflow(tf):
    x, y = tf.constant(data((4,), 1)), tf.constant(data((4,), 2))
    yield "add [4]", *many(lambda: x + y, 2000)

    def tape():
        for _ in range(5):
            with tf.GradientTape() as t:
                t.watch(x)
                z = x
                for _ in range(50):
                    z = z * y + x
            t.gradient(z, x)

    yield "forward + gradient per op", tape, 500
    for others in (0, 6000):
        yield f"session, {others} other ops", *many(session_beside(tf, others), 100)
    for name, (a, b) in PRODUCTS.items():
        p, q = tf.constant(data(a, 1)), tf.constant(data(b, 2))
        yield name, (lambda p=p, q=q: tf.matmul(p, q)), 1
    big = tf.constant(data((1 << 24,), 1))
    yield "10-op chain, 16M floats, eager", (lambda: chain(big, tf.tanh)), 1
    m, g, b = (
        tf.constant(data((4096, 1024), 1)),
        tf.constant(data((1024,), 2)),
        tf.constant(data((1024,), 3)),
    )

    def layer_norm():
        d = m - tf.reduce_mean(m, axis=-1, keepdims=True)
        return d * tf.math.rsqrt(tf.reduce_mean(d * d, axis=-1, keepdims=True) + 1e-5) * g + b

    yield "sum all [4096,1024]", (lambda: tf.reduce_sum(m)), 1
    yield "mean axis 1 [4096,1024]", (lambda: tf.reduce_mean(m, axis=1)), 1
    yield "max axis 0 [4096,1024]", (lambda: tf.reduce_max(m, axis=0)), 1
    yield "softmax [4096,1024]", (lambda: tf.nn.softmax(m)), 1
    yield "layer norm, op by op [4096,1024]", layer_norm, 1
    if hasattr(tf.nn, "layer_normalization"):
        yield (
            "layer norm, one op [4096,1024]",
            (lambda: tf.nn.layer_normalization(m, g, b, epsilon=1e-5)),
            1,
        )
    image, kernel, dy = (
        tf.constant(data(IMAGE, 1)),
        tf.constant(data(FILTER, 2)),
        tf.constant(data(IMAGE, 3)),
    )
    yield "conv 3x3 forward", (lambda: tf.nn.conv2d(image, kernel, 1, "SAME")), 1
    yield "conv 3x3 input gradient", (lambda: tf.raw_ops.Conv2DBackpropInput(
        input_sizes=IMAGE, filter=kernel, out_backprop=dy, strides=[1, 1, 1, 1], padding="SAME")), 1  # fmt: skip
    yield "conv 3x3 filter gradient", (lambda: tf.raw_ops.Conv2DBackpropFilter(
        input=image, filter_sizes=FILTER, out_backprop=dy, strides=[1, 1, 1, 1], padding="SAME")), 1  # fmt: skip


def of_torch(torch):
    t = torch.from_numpy
    x, y = t(data((4,), 1)), t(data((4,), 2))
    yield "add [4]", *many(lambda: x + y, 2000)

    def tape():
        for _ in range(5):
            v = x.clone().requires_grad_(True)
            z = v
            for _ in range(50):
                z = z * y + v
            torch.autograd.grad(z.sum(), v)

    yield "forward + gradient per op", tape, 500
    for name, (a, b) in PRODUCTS.items():
        p, q = t(data(a, 1)), t(data(b, 2))
        yield name, (lambda p=p, q=q: torch.matmul(p, q)), 1
    big = t(data((1 << 24,), 1))
    yield "10-op chain, 16M floats, eager", (lambda: chain(big, torch.tanh)), 1
    m, g, b = t(data((4096, 1024), 1)), t(data((1024,), 2)), t(data((1024,), 3))
    nn = torch.nn.functional
    yield "sum all [4096,1024]", (lambda: m.sum()), 1
    yield "mean axis 1 [4096,1024]", (lambda: m.mean(1)), 1
    yield "max axis 0 [4096,1024]", (lambda: m.amax(0)), 1
    yield "softmax [4096,1024]", (lambda: nn.softmax(m, -1)), 1
    yield "layer norm, one op [4096,1024]", (lambda: nn.layer_norm(m, (1024,), g, b, 1e-5)), 1

    def layer_norm():
        d = m - m.mean(-1, keepdim=True)
        return d * torch.rsqrt((d * d).mean(-1, keepdim=True) + 1e-5) * g + b

    yield "layer norm, op by op [4096,1024]", layer_norm, 1
    last = torch.channels_last
    image = t(data(IMAGE, 1)).permute(0, 3, 1, 2).contiguous(memory_format=last)
    kernel = t(data(FILTER, 2)).permute(3, 2, 0, 1).contiguous(memory_format=last)
    dy = t(data(IMAGE, 3)).permute(0, 3, 1, 2).contiguous(memory_format=last)
    grads = torch.nn.grad
    yield "conv 3x3 forward", (lambda: nn.conv2d(image, kernel, padding=1)), 1
    yield (
        "conv 3x3 input gradient",
        (lambda: grads.conv2d_input(image.shape, kernel, dy, padding=1)),
        1,
    )
    yield (
        "conv 3x3 filter gradient",
        (lambda: grads.conv2d_weight(image, kernel.shape, dy, padding=1)),
        1,
    )


def of_numpy(_):
    x, y = data((4,), 1), data((4,), 2)
    yield "add [4]", *many(lambda: x + y, 2000)
    for name, (a, b) in PRODUCTS.items():
        p, q = data(a, 1), data(b, 2)
        yield name, (lambda p=p, q=q: p @ q), 1
    big = data((1 << 24,), 1)
    yield "10-op chain, 16M floats, eager", (lambda: chain(big, np.tanh)), 1
    m = data((4096, 1024), 1)
    yield "sum all [4096,1024]", (lambda: m.sum()), 1
    yield "mean axis 1 [4096,1024]", (lambda: m.mean(1)), 1
    yield "max axis 0 [4096,1024]", (lambda: m.max(0)), 1


def open_functions(kind, threads):
    """Rows of traced functions: kinds ours, tf, xla and jax."""
    import function_rows

    if kind == "jax":
        os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={str(threads > 1).lower()}"
        return function_rows.of_jax(__import__("jax"))
    tf = tensorflow_or_ours(kind)
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    return function_rows.of_tensorflow(tf, **({"jit_compile": True} if kind == "xla" else {}))


def open_rows(kind, threads):
    if kind in ("ours", "before", "tf"):
        tf = tensorflow_or_ours(kind)
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        return of_tensorflow(tf)
    if kind == "torch":
        import torch

        torch.set_num_threads(threads)
        return of_torch(torch)
    return of_numpy(np)


def main():
    kind, threads = sys.argv[1], int(sys.argv[2])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is not an answer
    if sys.argv[3:4] == ["calls"]:
        import call_rows

        tf = tensorflow_or_ours(kind)
        print(json.dumps(call_rows.in_turns(tf, time.process_time, int(sys.argv[4]))), file=out)
        return
    if sys.argv[3:] == ["data"]:
        import data_rows

        data_rows.main(kind, threads, out, sys.stdin)
        return
    opened, visit = open_functions if sys.argv[3:] == ["functions"] else open_rows, 0.15
    if sys.argv[3:4] == ["code"]:
        import code_rows

        visit = float(sys.argv[4])

        def opened(kind, threads):
            return ((name, f, 1) for name, f in code_rows.opened(kind, threads))

    rows = {name: (f, n) for name, f, n in opened(kind, threads)}
    for f, _ in rows.values():
        f()
    print(json.dumps(list(rows)), file=out, flush=True)
    for line in sys.stdin:
        f, n = rows[json.loads(line)]
        if getattr(f, "measures_itself", False):
            print(json.dumps(f()), file=out, flush=True)
            continue
        # One thread is timed by the CPU it gets, so that others on the machine disturb less.
        clock = time.process_time if threads == 1 else time.perf_counter
        best, until = 1e30, time.perf_counter() + visit
        while True:
            begin = clock()
            f()
            best = min(best, (clock() - begin) / n)
            if time.perf_counter() > until:
                break
        print(json.dumps(best), file=out, flush=True)


if __name__ == "__main__":
    main()
