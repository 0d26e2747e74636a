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
    print(
        name,
        bits.size,
        f"{fnv1a(bits.tobytes()):x}",
        *[f"{int(bits[i]):x}" for i in kept(bits.size)],
    )


def of_key_counter():
    """The V2 kernels, which take the generator's key and counter as they are."""
    states = {"a": (0x123456789ABCDEF0, [5, 77]), "b": (42, [2**64 - 2, 2**64 - 1])}
    for s, (key, counter) in states.items():
        at = {
            "key": tf.constant([key], tf.uint64),
            "counter": tf.constant(counter, tf.uint64),
            "alg": PHILOX,
        }
        for n in SIZES:
            if s == "b" and n > 5:
                continue
            for d, dtype in FLOATS.items():
                record(
                    f"uniform/{d}/{s}/{n}",
                    raw.StatelessRandomUniformV2(shape=[n], dtype=dtype, **at),
                )
                record(
                    f"normal/{d}/{s}/{n}", raw.StatelessRandomNormalV2(shape=[n], dtype=dtype, **at)
                )
                record(
                    f"truncated/{d}/{s}/{n}",
                    raw.StatelessTruncatedNormalV2(shape=[n], dtype=dtype, **at),
                )
            for d, dtype in INTS.items():
                record(
                    f"full/{d}/{s}/{n}",
                    raw.StatelessRandomUniformFullIntV2(shape=[n], dtype=dtype, **at),
                )
            for r, (lo, hi) in {"small": (-5, 7), "wide": (-(2**31), 2**31 - 1)}.items():
                for d in ["i32", "i64"]:
                    record(
                        f"int/{d}/{r}/{s}/{n}",
                        raw.StatelessRandomUniformIntV2(
                            shape=[n],
                            minval=tf.constant(lo, INTS[d]),
                            maxval=tf.constant(hi, INTS[d]),
                            **at,
                        ),
                    )


def of_threefry():
    """ThreeFry has no CPU kernels; XLA has."""

    @tf.function(jit_compile=True)
    def full(n, dtype):
        return raw.StatelessRandomUniformFullIntV2(
            shape=[n],
            dtype=dtype,
            key=tf.constant([0x123456789ABCDEF0], tf.uint64),
            counter=tf.constant([5], tf.uint64),
            alg=THREEFRY,
        )

    for n in [1, 2, 3, 4, 5, 257]:
        for d in ["u32", "u64"]:
            record(f"threefry/{d}/{n}", full(n, INTS[d]))


def of_stateless():
    rates = tf.constant([0.3, 4.0, 11.5, 250.0])
    alphas = tf.constant([0.2, 1.0, 2.5, 40.0], tf.float64)
    logits = tf.math.log(
        tf.constant([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1], [1e-3, 1.0, 2.0, 1e-9]])
    )
    for d in ["i32", "i64"]:
        for seed in [(0, 0), (1, 2), (-3, 2**31 - 1), (12345, -1)]:
            t, name = tf.constant(seed, INTS[d]), f"{d}/{seed[0]},{seed[1]}"
            key, counter = raw.StatelessRandomGetKeyCounter(seed=t)
            record(f"key_counter/{name}", np.concatenate([counter.numpy(), key.numpy()]))
            record(f"stateless_uniform/{name}", tf.random.stateless_uniform([5], t))
            record(f"split/{name}", tf.random.split(t, 3))
            record(f"fold_in/{name}", tf.random.fold_in(t, tf.constant(99, INTS[d])))
            record(
                f"stateless_shuffle/{name}",
                tf.random.experimental.stateless_shuffle(tf.range(23), t),
            )
    seed = tf.constant([7, -9], tf.int64)
    record(
        "stateless_gamma/f64", tf.random.stateless_gamma([40, 4], seed, alphas, dtype=tf.float64)
    )
    record(
        "stateless_gamma/f32", tf.random.stateless_gamma([40, 4], seed, tf.cast(alphas, tf.float32))
    )
    record("stateless_poisson/i32", tf.random.stateless_poisson([40, 4], seed, rates, tf.int32))
    record("stateless_poisson/f64", tf.random.stateless_poisson([40, 4], seed, rates, tf.float64))
    for p, probs in {"low": 0.1, "high": 0.9}.items():
        record(
            f"stateless_binomial/i32/{p}",
            tf.random.stateless_binomial([40, 3], seed, [3.0, 50.0, 1000.0], [probs] * 3, tf.int32),
        )
    record(
        "stateless_binomial/f64/odd",
        tf.random.stateless_binomial(
            [2, 6],
            seed,
            tf.constant([0.0, -1.0, 9.0, 9.0, np.inf, 5.0], tf.float64),
            tf.constant([0.5, 0.5, 0.0, 1.0, 0.5, np.nan], tf.float64),
            tf.float64,
        ),
    )
    for n in [1, 2, 3, 9]:
        record(f"stateless_categorical/{n}", tf.random.stateless_categorical(logits, n, seed))


def of_stateful():
    """Each op called three times with the same seeds, so that what a call reserves shows."""
    logits = tf.constant([[0.1, -0.2, np.inf, 0.4], [2.0, 1.0, -np.inf, 1.0]])
    seeds = {"seed": 87654321, "seed2": -5}
    calls = {
        "uniform/f32": lambda n: raw.RandomUniform(shape=[n], dtype=tf.float32, **seeds),
        "uniform/f64": lambda n: raw.RandomUniform(shape=[n], dtype=tf.float64, **seeds),
        "normal/f32": lambda n: raw.RandomStandardNormal(shape=[n], dtype=tf.float32, **seeds),
        "truncated/f32": lambda n: raw.TruncatedNormal(shape=[n], dtype=tf.float32, **seeds),
        "truncated/f64": lambda n: raw.TruncatedNormal(shape=[n], dtype=tf.float64, **seeds),
        "int/i32": lambda n: raw.RandomUniformInt(shape=[n], minval=-3, maxval=1000, **seeds),
        "shuffle": lambda n: raw.RandomShuffle(value=tf.range(n), **seeds),
        "categorical": lambda n: raw.Multinomial(logits=logits, num_samples=n, **seeds),
        "gamma": lambda n: raw.RandomGamma(shape=[n], alpha=tf.constant([0.5, 3.0]), **seeds),
        "poisson": lambda n: raw.RandomPoissonV2(
            shape=[n], rate=tf.constant([2.0, 30.0]), dtype=tf.int64, **seeds
        ),
    }
    tf.random.set_seed(1)
    for name, call in calls.items():
        for turn, n in enumerate([5, 7, 4]):
            record(f"stateful/{name}/{turn}", call(n))


def of_seeds():
    python = random.Random(1)
    record("python/1/2000", np.array([python.getrandbits(32) for _ in range(2000)][-1:], np.uint32))
    for g in [0, 1, 42, -7, 2**31 - 1, 2**40 + 5]:
        tf.random.set_seed(g)
        record(
            f"op_seeds/{g}",
            np.array([context.internal_operation_seed() for _ in range(20)], np.int64),
        )
        tf.random.set_seed(g)
        record(
            f"get_seed/{g}",
            np.array(
                [random_seed.get_seed(s) for s in [None, 0, 3, None, -1, 2**31 - 1]], np.int64
            ),
        )
    tf.random.set_seed(None)
    record("get_seed/none", np.array([random_seed.get_seed(s) for s in [0, 3, -1]], np.int64))

    tf.random.set_seed(1234)
    record(
        "story",
        np.concatenate(
            [
                tf.random.uniform([1]),
                tf.random.uniform([1]),
                tf.random.uniform([1], seed=1),
                tf.random.uniform([1], seed=1),
                tf.random.uniform([2], seed=1),
            ]
        ),
    )
    tf.random.set_seed(1234)
    record("story/again", np.concatenate([tf.random.uniform([1], seed=1), tf.random.uniform([1])]))

    @tf.function
    def f():
        return tf.concat(
            [tf.random.uniform([1]), tf.random.uniform([1]), tf.random.uniform([1], seed=1)], 0
        )

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


def of_public():
    """The public functions in a row, so that seeds, reservations and arithmetic all show."""
    calls = {
        "uniform": lambda **k: tf.random.uniform([3], **k),
        "uniform/max": lambda **k: tf.random.uniform([3], maxval=7, **k),
        "uniform/range": lambda **k: tf.random.uniform([3], -2.5, 5.0, **k),
        "uniform/broadcast": lambda **k: tf.random.uniform(
            [2, 3], [0.0, 10.0, 20.0], [[1.0], [30.0]], **k
        ),
        "uniform/f16": lambda **k: tf.random.uniform([3], 1, 3, tf.float16, **k),
        "uniform/bf16": lambda **k: tf.random.uniform([3], 1, 3, tf.bfloat16, **k),
        "uniform/f64": lambda **k: tf.random.uniform([3], 1, 3, tf.float64, **k),
        "uniform/i32": lambda **k: tf.random.uniform([5], -3, 900, tf.int32, **k),
        "uniform/i64": lambda **k: tf.random.uniform([5], -3, 2**40, tf.int64, **k),
        "normal": lambda **k: tf.random.normal([5], **k),
        "normal/scaled": lambda **k: tf.random.normal([2, 2], [1.0, -4.0], 0.5, **k),
        "normal/f64": lambda **k: tf.random.normal([5], dtype=tf.float64, **k),
        "truncated": lambda **k: tf.random.truncated_normal([5], 1.0, 3.0, **k),
        "shuffle": lambda **k: tf.random.shuffle(tf.range(24)[:, None] * 10 + tf.range(2), **k),
        "categorical": lambda **k: tf.random.categorical(
            [[0.1, -0.2, 1.4], [2.0, 1.0, 1.0]], 5, **k
        ),
        "categorical/i32": lambda **k: tf.random.categorical(
            tf.constant([[0.1, 3, 2]], tf.float16), 5, tf.int32, **k
        ),
        "gamma": lambda **k: tf.random.gamma([4], [0.5, 3.0], [[1.0], [20.0]], **k),
        "gamma/f16": lambda **k: tf.random.gamma(
            [4], tf.constant(2.0, tf.float16), dtype=tf.float16, **k
        ),
        "poisson": lambda **k: tf.random.poisson([4], [2.0, 30.0], **k),
        "poisson/i32": lambda **k: tf.random.poisson(
            [2, 2], tf.constant(5, tf.int64), tf.int32, **k
        ),
    }
    for name, call in calls.items():
        tf.random.set_seed(77)
        for turn in range(2):
            record(f"public/{name}/{turn}", call())
        for turn in range(2):
            record(f"public/{name}/seeded{turn}", call(seed=5))
    tf.random.set_seed(None)
    record(
        "public/op_seed_only",
        np.stack([tf.random.uniform([2], seed=9), tf.random.uniform([2], seed=9)]),
    )

    seed = tf.constant([3, -4])
    record("stateless/uniform", tf.random.stateless_uniform([2, 3], seed, [0.0, 1.0, 2.0], 9.0))
    record("stateless/int", tf.random.stateless_uniform([7], seed, -9, 9, tf.int64))
    record("stateless/full", tf.random.stateless_uniform([7], seed, None, None, tf.uint32))
    record("stateless/normal", tf.random.stateless_normal([2, 3], seed, [0.0, 1.0, 2.0], 3.0))
    record("stateless/truncated", tf.random.stateless_truncated_normal([5], seed, dtype=tf.float64))
    record("stateless/gamma_scaled", tf.random.stateless_gamma([4, 2], seed, 2.5, [0.5, 8.0]))
    record(
        "stateless/binomial_broadcast",
        tf.random.stateless_binomial([3, 2, 2], seed, [10.0, 200.0], [[0.3], [0.9]]),
    )

    for most in [1, 9, 999, 65535, 10**6, 2**31 - 1]:
        index = tf.constant([0, 1, most // 2, most])
        record(f"index_shuffle/{most}", tf.random.experimental.index_shuffle(index, [1, -2], most))
    record(
        "index_shuffle/wide",
        tf.random.experimental.index_shuffle(
            tf.constant([0, 5, 2**40], tf.int64),
            tf.constant([8, 9], tf.uint32),
            tf.constant(2**41, tf.int64),
        ),
    )

    a = np.array([1e-3, 0.1, 0.7, 1.0, 2.5, 30.0, 1e4])[:, None]
    record(
        "gamma_grad",
        raw.RandomGammaGrad(alpha=a, sample=a * np.array([1e-3, 0.2, 0.99, 1.01, 3.0])),
    )

    classes = tf.constant([[1, 5], [0, 19]], tf.int64)
    for unique in [True, False]:
        for sampler in ["uniform", "log_uniform"]:
            tf.random.set_seed(3)
            for turn in range(2):
                got = getattr(tf.random, f"{sampler}_candidate_sampler")(
                    classes, 2, 7, unique, 20, seed=4
                )
                for part, value in zip(["ids", "true", "sampled"], got):
                    record(f"{sampler}_candidates/{unique:d}/{turn}/{part}", value)

    for d in [tf.float32, tf.float64]:
        bounds = [
            tf.constant(x, d)
            for x in [
                [0.0, 1.0, -3.0, 0.0, 0.0],
                [1.0, 2.0, 0.5, 1.0, 1.0],
                [-2.0, 1.1, -np.inf, 3.0, -0.5],
                [2.0, 1.6, -4.0, np.inf, 0.5],
            ]
        ]
        record(
            f"bounded/{d.name}",
            tf.random.stateless_parameterized_truncated_normal([7, 5], seed, *bounds),
        )

    g = tf.random.Generator.from_key_counter(5, [2**63 - 1, 9], "philox")
    record("generator2/normal", g.normal([2, 2], [1.0, 2.0], 3.0))
    record("generator2/uniform", g.uniform([2, 2], -1.0, [[1.0], [2.0]]))
    record("generator2/int", g.uniform([3], None, None, tf.int32))
    record("generator2/f64", g.truncated_normal([3], dtype=tf.float64))
    record("generator2/empty", g.binomial([0, 2], [1.0, 2.0], 0.5))
    record("generator2/binomial", g.binomial([2, 2], [[10.0], [40.0]], [0.5, 0.1], tf.float32))
    g.skip(-3)
    record("generator2/state", g.state)
    g.reset_from_seed(-2)
    record("generator2/reset", g.normal([2]))
    g.reset_from_key_counter(1, [2, 3])
    record("generator2/key_counter", g.uniform([2]))
    g.reset([4, 5, 6])
    record("generator2/split", np.concatenate([h.uniform([2]) for h in g.split(2)]))


for part in [
    of_key_counter,
    of_threefry,
    of_stateless,
    of_stateful,
    of_seeds,
    of_generator,
    of_public,
]:
    part()
