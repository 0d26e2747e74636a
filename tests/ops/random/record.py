"""Writes recorded.txt: what TensorFlow's CPU kernels answer for fixed seeds, for the tests beside it.

Needs TensorFlow (2.x) and is run by hand only when a case is added:  python record.py > recorded.txt

A line is `name count checksum value...`. Values are the bits in hexadecimal. Of a long result only the
elements `kept` picks are written; the checksum (FNV-1a over all bytes) stands for the others.
"""
import os
import random

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import random_seed

raw = tf.raw_ops
SIZES = [1, 2, 3, 4, 5, 257, 1000]
FLOATS = {"f16": tf.float16, "bf16": tf.bfloat16, "f32": tf.float32, "f64": tf.float64}
INTS = {"i32": tf.int32, "u32": tf.uint32, "i64": tf.int64, "u64": tf.uint64}
PHILOX, THREEFRY = 1, 2


def kept(n):
    return [i for i in range(n) if n <= 16 or i < 6 or i >= n - 3 or i % 67 == 0]


def fnv1a(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & (2**64 - 1)
    return h


def record(name, value):
    a = np.ascontiguousarray(value.numpy() if hasattr(value, "numpy") else np.asarray(value))
    bits = a.reshape(-1).view(f"u{a.dtype.itemsize}")
    print(name, bits.size, f"{fnv1a(bits.tobytes()):x}", *[f"{int(bits[i]):x}" for i in kept(bits.size)])


def of_key_counter():
    """The V2 kernels, which take the generator's key and counter as they are."""
    states = {"a": (0x123456789ABCDEF0, [5, 77]), "b": (42, [2**64 - 2, 2**64 - 1])}
    for s, (key, counter) in states.items():
        at = dict(key=tf.constant([key], tf.uint64), counter=tf.constant(counter, tf.uint64), alg=PHILOX)
        for n in SIZES:
            if s == "b" and n > 5:
                continue
            for d, dtype in FLOATS.items():
                record(f"uniform/{d}/{s}/{n}", raw.StatelessRandomUniformV2(shape=[n], dtype=dtype, **at))
                record(f"normal/{d}/{s}/{n}", raw.StatelessRandomNormalV2(shape=[n], dtype=dtype, **at))
                record(f"truncated/{d}/{s}/{n}", raw.StatelessTruncatedNormalV2(shape=[n], dtype=dtype, **at))
            for d, dtype in INTS.items():
                record(f"full/{d}/{s}/{n}", raw.StatelessRandomUniformFullIntV2(shape=[n], dtype=dtype, **at))
            for r, (lo, hi) in {"small": (-5, 7), "wide": (-(2**31), 2**31 - 1)}.items():
                for d in ["i32", "i64"]:
                    record(f"int/{d}/{r}/{s}/{n}", raw.StatelessRandomUniformIntV2(
                        shape=[n], minval=tf.constant(lo, INTS[d]), maxval=tf.constant(hi, INTS[d]), **at))


def of_threefry():
    """ThreeFry has no CPU kernels; XLA has."""

    @tf.function(jit_compile=True)
    def full(n, dtype):
        return raw.StatelessRandomUniformFullIntV2(
            shape=[n], dtype=dtype, key=tf.constant([0x123456789ABCDEF0], tf.uint64),
            counter=tf.constant([5], tf.uint64), alg=THREEFRY)

    for n in [1, 2, 3, 4, 5, 257]:
        for d in ["u32", "u64"]:
            record(f"threefry/{d}/{n}", full(n, INTS[d]))


def of_stateless():
    rates = tf.constant([0.3, 4.0, 11.5, 250.0])
    alphas = tf.constant([0.2, 1.0, 2.5, 40.0], tf.float64)
    logits = tf.math.log(tf.constant([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1], [1e-3, 1.0, 2.0, 1e-9]]))
    for d in ["i32", "i64"]:
        for seed in [(0, 0), (1, 2), (-3, 2**31 - 1), (12345, -1)]:
            t, name = tf.constant(seed, INTS[d]), f"{d}/{seed[0]},{seed[1]}"
            key, counter = raw.StatelessRandomGetKeyCounter(seed=t)
            record(f"key_counter/{name}", np.concatenate([counter.numpy(), key.numpy()]))
            record(f"stateless_uniform/{name}", tf.random.stateless_uniform([5], t))
            record(f"split/{name}", tf.random.split(t, 3))
            record(f"fold_in/{name}", tf.random.fold_in(t, tf.constant(99, INTS[d])))
            record(f"stateless_shuffle/{name}", tf.random.experimental.stateless_shuffle(tf.range(23), t))
    seed = tf.constant([7, -9], tf.int64)
    record("stateless_gamma/f64", tf.random.stateless_gamma([40, 4], seed, alphas, dtype=tf.float64))
    record("stateless_gamma/f32", tf.random.stateless_gamma([40, 4], seed, tf.cast(alphas, tf.float32)))
    record("stateless_poisson/i32", tf.random.stateless_poisson([40, 4], seed, rates, tf.int32))
    record("stateless_poisson/f64", tf.random.stateless_poisson([40, 4], seed, rates, tf.float64))
    for p, probs in {"low": 0.1, "high": 0.9}.items():
        record(f"stateless_binomial/i32/{p}", tf.random.stateless_binomial(
            [40, 3], seed, [3.0, 50.0, 1000.0], [probs] * 3, tf.int32))
    record("stateless_binomial/f64/odd", tf.random.stateless_binomial(
        [2, 6], seed, tf.constant([0., -1., 9., 9., np.inf, 5.], tf.float64),
        tf.constant([.5, .5, 0., 1., .5, np.nan], tf.float64), tf.float64))
    for n in [1, 2, 3, 9]:
        record(f"stateless_categorical/{n}", tf.random.stateless_categorical(logits, n, seed))


def of_stateful():
    """Each op called three times with the same seeds, so that what a call reserves shows."""
    logits = tf.constant([[0.1, -0.2, np.inf, 0.4], [2.0, 1.0, -np.inf, 1.0]])
    seeds = dict(seed=87654321, seed2=-5)
    calls = {"uniform/f32": lambda n: raw.RandomUniform(shape=[n], dtype=tf.float32, **seeds),
             "uniform/f64": lambda n: raw.RandomUniform(shape=[n], dtype=tf.float64, **seeds),
             "normal/f32": lambda n: raw.RandomStandardNormal(shape=[n], dtype=tf.float32, **seeds),
             "truncated/f32": lambda n: raw.TruncatedNormal(shape=[n], dtype=tf.float32, **seeds),
             "truncated/f64": lambda n: raw.TruncatedNormal(shape=[n], dtype=tf.float64, **seeds),
             "int/i32": lambda n: raw.RandomUniformInt(shape=[n], minval=-3, maxval=1000, **seeds),
             "shuffle": lambda n: raw.RandomShuffle(value=tf.range(n), **seeds),
             "categorical": lambda n: raw.Multinomial(logits=logits, num_samples=n, **seeds),
             "gamma": lambda n: raw.RandomGamma(shape=[n], alpha=tf.constant([0.5, 3.0]), **seeds),
             "poisson": lambda n: raw.RandomPoissonV2(shape=[n], rate=tf.constant([2.0, 30.0]), dtype=tf.int64, **seeds)}
    tf.random.set_seed(1)
    for name, call in calls.items():
        for turn, n in enumerate([5, 7, 4]):
            record(f"stateful/{name}/{turn}", call(n))


def of_seeds():
    python = random.Random(1)
    record("python/1/2000", np.array([python.getrandbits(32) for _ in range(2000)][-1:], np.uint32))
    for g in [0, 1, 42, -7, 2**31 - 1, 2**40 + 5]:
        tf.random.set_seed(g)
        record(f"op_seeds/{g}", np.array([context.internal_operation_seed() for _ in range(20)], np.int64))
        tf.random.set_seed(g)
        record(f"get_seed/{g}", np.array([random_seed.get_seed(s) for s in [None, 0, 3, None, -1, 2**31 - 1]], np.int64))
    tf.random.set_seed(None)
    record("get_seed/none", np.array([random_seed.get_seed(s) for s in [0, 3, -1]], np.int64))

    tf.random.set_seed(1234)
    record("story", np.concatenate([tf.random.uniform([1]), tf.random.uniform([1]), tf.random.uniform([1], seed=1),
                                    tf.random.uniform([1], seed=1), tf.random.uniform([2], seed=1)]))
    tf.random.set_seed(1234)
    record("story/again", np.concatenate([tf.random.uniform([1], seed=1), tf.random.uniform([1])]))

    @tf.function
    def f():
        return tf.concat([tf.random.uniform([1]), tf.random.uniform([1]), tf.random.uniform([1], seed=1)], 0)

    tf.random.set_seed(1234)
    record("story/function", np.concatenate([f(), f()]))


def of_generator():
    g = tf.random.Generator.from_seed(1234)
    record("generator/normal", g.normal([2, 3]))
    record("generator/state1", g.state)
    record("generator/uniform", g.uniform([5]))
    record("generator/int", g.uniform([5], -3, 9, tf.int32))
    record("generator/full", g.uniform_full_int([3]))
    record("generator/truncated", g.truncated_normal([5]))
    record("generator/state2", g.state)
    record("generator/binomial", g.binomial([5, 2], [10.0, 200.0], [0.8, 0.3]))
    record("generator/state3", g.state)
    record("generator/seeds", g.make_seeds(3))
    record("generator/split", np.concatenate([s.state.numpy() for s in g.split(2)]))
    record("generator/scalar", g.uniform([]))
    record("generator/state4", g.state)
    record("generator/skip", g.skip(10))
    record("generator/state5", g.state)
    for i, seed in enumerate([5, -1, 2**64 - 1, 2**130 + 7, [1, 2], [1, 2, 3, 4]]):
        for alg in ["philox", "threefry"]:
            record(f"create_state/{alg}/{i}", tf.random.create_rng_state(seed, alg))
    t = tf.random.Generator.from_seed(9, "threefry")
    tf.function(lambda: t.skip(10), jit_compile=True)()
    record("generator/threefry_skip", t.state)


for part in [of_key_counter, of_threefry, of_stateless, of_stateful, of_seeds, of_generator]:
    part()
