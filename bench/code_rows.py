"""Rows of machine code: fused loops, reductions, optimizers and whole steps, as `code.py` prints them."""

import concurrent.futures
import ctypes
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import numpy as np

import function_rows
from rows import chain, data

OURS = ("ours", "loops", "before")
MATRIX = (4096, 1024)
CHAIN = "10-op chain, 16M floats"
ADAM, MEMORY = "Adam, 10M parameters in 100 variables", "the same memory, read and written"
READ = "a loop that only reads those 16 MB"
FOLDS = tuple(f"{name} over axis {axis}" for axis in (0, 1) for name in ("max", "sum"))
EMITTED = "emitting 20 instructions"
HEADS, WIDTH, INNER = 8, 256, 1024
STEPS = ("MLP 784-512-512-10, train step of 128", "CNN, train step of 64")
ENCODER = "encoder block, forward and backward"

# What rows are to reach: at most so much of a peer, of the tree before, of another row, or of seconds; `peer`: of the
# best one, or, where that held before, of before. Rows that are not here are shown beside.
GOALS = {
    CHAIN: ("xla", 1.0),
    **{
        name + gradient: ("peer", 0.95, 0.85)
        for name in ("softmax", "softmax, written out", "layer norm, written out")
        for gradient in ("", ", with gradient")
    },
    **dict.fromkeys(FOLDS, ("peer", 0.95, 0.85)),
    **dict.fromkeys(STEPS, ("before", 0.95)),
    ENCODER: ("before", 0.95),
    ADAM: (MEMORY, 1.1),
    EMITTED: ("seconds", 200e-6),
}


def parameters():
    return [data((1000, 100), 100 + i, 0.1) for i in range(100)], [
        data((1000, 100), 300 + i) for i in range(100)
    ]


def encoder_weights():
    shapes = [(WIDTH, WIDTH)] * 4 + [(WIDTH, INNER), (INNER, WIDTH)]
    return [data(s, 50 + i, s[0] ** -0.5) for i, s in enumerate(shapes)]


def normalised(tf, x):
    d = x - tf.reduce_mean(x, -1, keepdims=True)
    return d * tf.math.rsqrt(tf.reduce_mean(d * d, -1, keepdims=True) + 1e-5)


def softened(tf, x):
    e = tf.exp(x - tf.reduce_max(x, -1, keepdims=True))
    return e / tf.reduce_sum(e, -1, keepdims=True)


def encoder_of_tensorflow(tf, options):
    w = [tf.Variable(v) for v in encoder_weights()]
    x, u = tf.constant(data((8, 128, WIDTH), 60)), tf.constant(data((8, 128, WIDTH), 61))

    def split(h):
        return tf.transpose(tf.reshape(h, (8, 128, HEADS, WIDTH // HEADS)), (0, 2, 1, 3))

    def product(a, m):
        return tf.reshape(tf.matmul(tf.reshape(a, (-1, m.shape[0])), m), (8, 128, m.shape[1]))

    @tf.function(**options)
    def step(x, u):
        with tf.GradientTape() as tape:
            q, k, v = (split(product(x, m)) for m in w[:3])
            scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (WIDTH // HEADS) ** -0.5)
            mixed = tf.reshape(tf.transpose(tf.matmul(scores, v), (0, 2, 1, 3)), (8, 128, WIDTH))
            h = normalised(tf, x + product(mixed, w[3]))
            out = normalised(tf, h + product(tf.nn.gelu(product(h, w[4])), w[5]))
            loss = tf.reduce_sum(out * u)
        return tape.gradient(loss, w)

    return lambda: step(x, u)


def of_tensorflow(tf, kind, options, threads):
    """For anything that speaks TensorFlow; `options` go to `tf.function`."""

    def traced(f):
        return tf.function(f, **options)

    def gradient_of(f):
        def gradient(u, x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x, output_gradients=u)

        return traced(gradient)

    big = tf.constant(data((1 << 24,), 1))
    f = traced(lambda v: chain(v, tf.tanh))
    yield CHAIN, lambda: f(big)
    m, u = tf.constant(data(MATRIX, 7)), tf.constant(data(MATRIX, 9))
    soft, norm = (lambda x: softened(tf, x)), (lambda x: normalised(tf, x))
    for name, g in (
        ("softmax", tf.nn.softmax),
        ("softmax, written out", soft),
        ("layer norm, written out", norm),
        ("gelu", tf.nn.gelu),
    ):
        forward, backward = traced(g), gradient_of(g)
        yield name, lambda forward=forward: forward(m)
        yield f"{name}, with gradient", lambda backward=backward: backward(u, m)
    for axis in (0, 1):
        for name, g in (("max", tf.reduce_max), ("sum", tf.reduce_sum)):
            yield f"{name} over axis {axis}", lambda g=g, axis=axis: g(m, axis)
    if kind == "ours" and (reads := reading(m, threads)):
        yield READ, reads
    yield "cast to float16, eager", lambda: tf.cast(m, tf.float16)
    yield "transpose, eager", lambda: tf.transpose(m)
    drop = traced(lambda x: tf.nn.dropout(x, 0.1))
    yield "dropout", lambda: drop(m)
    a, k, b = (
        tf.constant(data((4096, 512), 11)),
        tf.constant(data((512, 2048), 12)),
        tf.constant(data((2048,), 13)),
    )
    dense = traced(lambda a: tf.nn.gelu(tf.matmul(a, k) + b))
    yield "product, bias and gelu", lambda: dense(a)
    steps = {name: f for name, f, _ in function_rows.steps_of_tensorflow(tf, options)}
    for name in STEPS:
        yield name, steps[name]
    yield ENCODER, encoder_of_tensorflow(tf, options)
    if kind in OURS:
        yield from adam_of_ours(tf, threads)
    if kind == "ours":
        yield EMITTED, Emission(tf)


def adam_of_ours(tf, threads):
    values, slopes = parameters()
    variables, gradients = [tf.Variable(v) for v in values], [tf.constant(g) for g in slopes]
    adam = tf.keras.optimizers.Adam()
    adam.build(variables)

    @tf.function
    def step():
        adam.apply(gradients, variables)

    yield ADAM, step
    if library := loops():
        step()  # slots are what they stay
        beside = [v for v in adam.variables if "momentum" in v.path or "velocity" in v.path]
        arrays = zip(variables, beside[::2], beside[1::2], gradients, strict=True)
        places = [[np.from_dlpack(held(v)).ctypes.data for v in some] for some in arrays]

        def over(some):
            for at in some:
                library.move(*map(ctypes.c_void_p, at), ctypes.c_long(100_000))

        # Each thread has its share of the variables, while it is outside of Python.
        team = concurrent.futures.ThreadPoolExecutor(threads)
        shares = [places[i::threads] for i in range(threads)]
        yield MEMORY, lambda: over(places) if threads == 1 else list(team.map(over, shares))


def held(value):
    """The tensor of a variable; a tensor is its own."""
    value = getattr(value, "value", value)
    return value() if callable(value) else value


def reading(m, threads):
    """A call that reads the elements of a matrix, each thread its share of them; none without a compiler."""
    if not (library := loops()):
        return None
    first, share = np.from_dlpack(m).ctypes.data, MATRIX[0] * MATRIX[1] // threads
    team = concurrent.futures.ThreadPoolExecutor(threads)
    starts = [first + 4 * share * i for i in range(threads)]

    def over(start):
        library.look(ctypes.c_void_p(start), ctypes.c_long(share))

    return lambda: over(first) if threads == 1 else list(team.map(over, starts))


LOOP = """
float look(const float* x, long n) {
  float sum[64] = {0}, all = 0;
  for (long i = 0; i + 64 <= n; i += 64)
    for (int j = 0; j < 64; ++j) sum[j] += x[i + j];
  for (int j = 0; j < 64; ++j) all += sum[j];
  return all;
}
void move(float* w, float* m, float* v, const float* g, long n) {
#pragma GCC ivdep
  for (long i = 0; i < n; ++i) { m[i] += 0 * g[i]; v[i] += 0 * g[i]; w[i] -= 0 * g[i]; }
}
"""


def loops():
    """Loops over what Adam reads and writes and over a matrix; none where there is no compiler and no
    HOLDFAST_BENCH_LOOP, which names the library that `code.py --loop` built elsewhere."""
    built = os.environ.get("HOLDFAST_BENCH_LOOP")
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not built and not compiler:
        return None
    if not built:
        built = build_loop(compiler, pathlib.Path(tempfile.mkdtemp()) / "loop.so")
    return ctypes.CDLL(str(built))


def build_loop(compiler, to):
    command = [compiler, "-O3", "-mavx2", "-shared", "-fPIC", "-x", "c", "-", "-o", str(to)]
    subprocess.run(command, input=LOOP, text=True, check=True)
    return to


class Emission:
    """How much longer the call takes that emits code than those beside it: the median over functions that differ."""

    measures_itself = True

    def __init__(self, tf):
        self.tf, self.x, self.made = tf, tf.constant(data((4096,), 1)), 0

    def function(self):
        self.made += 1
        bits = self.made

        def f(x):
            y = x
            for i in range(20):
                y = y * x if bits >> i & 1 else y + x
            return y

        return self.tf.function(f)

    def spike(self):
        f, times = self.function(), []
        for _ in range(80):
            begin = time.perf_counter()
            f(self.x)
            times.append(time.perf_counter() - begin)
        return max(times[5:]) - statistics.median(times)

    def __call__(self):
        return statistics.median(self.spike() for _ in range(15))


def of_torch(torch):
    t, nn = torch.from_numpy, torch.nn.functional
    m, u = t(data(MATRIX, 7)), t(data(MATRIX, 9))

    def softened_out(x):
        e = torch.exp(x - x.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True)

    for name, g in (
        ("softmax", lambda x: nn.softmax(x, -1)),
        ("softmax, written out", softened_out),
        ("layer norm, written out", lambda x: nn.layer_norm(x, (MATRIX[1],))),  # its own op
        ("gelu", nn.gelu),
    ):

        def backward(g=g):
            x = m.detach().requires_grad_(True)
            return torch.autograd.grad(g(x), x, u)

        yield name, lambda g=g: g(m)
        yield f"{name}, with gradient", backward
    for axis in (0, 1):
        yield f"max over axis {axis}", lambda axis=axis: m.amax(axis)
        yield f"sum over axis {axis}", lambda axis=axis: m.sum(axis)
    yield "cast to float16, eager", lambda: m.half()
    yield "transpose, eager", lambda: m.t().contiguous()
    yield "dropout", lambda: nn.dropout(m, 0.1)
    a, k, b = t(data((4096, 512), 11)), t(data((512, 2048), 12)), t(data((2048,), 13))
    yield "product, bias and gelu", lambda: nn.gelu(torch.addmm(b, a, k))
    layer = torch.nn.TransformerEncoderLayer(
        WIDTH, HEADS, INNER, 0.0, "gelu", batch_first=True, bias=False
    )
    x, v = t(data((8, 128, WIDTH), 60)), t(data((8, 128, WIDTH), 61))
    yield ENCODER, lambda: torch.autograd.grad((layer(x) * v).sum(), list(layer.parameters()))
    values, slopes = parameters()
    weights = [t(w).requires_grad_(True) for w in values]
    for w, g in zip(weights, slopes, strict=True):
        w.grad = t(g)
    yield ADAM, torch.optim.Adam(weights, fused=True).step


def of_jax(jax):
    jnp = jax.numpy
    big, m, u = (jnp.asarray(data(s, i)) for s, i in (((1 << 24,), 1), (MATRIX, 7), (MATRIX, 9)))

    def row(f, *operands):
        compiled = jax.jit(f)
        return lambda: jax.block_until_ready(compiled(*operands))

    def norm(x):
        d = x - x.mean(-1, keepdims=True)
        return d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5)

    def soft(x):
        e = jnp.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    yield CHAIN, row(lambda v: chain(v, jnp.tanh), big)
    for name, g in (
        ("softmax", jax.nn.softmax),
        ("softmax, written out", soft),
        ("layer norm, written out", norm),
        ("gelu", lambda x: jax.nn.gelu(x, approximate=False)),
    ):
        yield name, row(g, m)
        yield f"{name}, with gradient", row(lambda u, x, g=g: jax.vjp(g, x)[1](u), u, m)
    for axis in (0, 1):
        yield f"max over axis {axis}", row(lambda x, axis=axis: x.max(axis), m)
        yield f"sum over axis {axis}", row(lambda x, axis=axis: x.sum(axis), m)
    yield "cast to float16, eager", row(lambda x: x.astype(jnp.float16), m)
    yield "transpose, eager", row(lambda x: x.T + 0, m)
    key = jax.random.PRNGKey(0)

    def drop(x):
        return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)

    yield "dropout", row(drop, m)
    a, k, b = (jnp.asarray(data(s, i)) for s, i in (((4096, 512), 11), ((512, 2048), 12), ((2048,), 13)))  # fmt: skip
    yield "product, bias and gelu", row(lambda a: jax.nn.gelu(a @ k + b, approximate=False), a)
    for name, f, _ in function_rows.of_jax(jax):
        if name in STEPS:
            yield name, f


def opened(kind, threads):
    if kind == "torch":
        import torch

        torch.set_num_threads(threads)
        return of_torch(torch)
    if kind == "jax":
        os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={str(threads > 1).lower()}"
        return of_jax(__import__("jax"))
    tf = __import__("holdfast" if kind in OURS else "tensorflow")
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    return of_tensorflow(tf, kind, {"jit_compile": True} if kind == "xla" else {}, threads)
