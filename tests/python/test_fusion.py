"""Fused elementwise code gives bit for bit what its ops give one after another."""

import numpy as np
import pytest

import holdfast as tf


def bits(t):
    if t.dtype == tf.bfloat16:
        t = tf.bitcast(t, tf.uint16)
    return np.asarray(t).tobytes()


def nodes(f):
    text = f._traces[0].concrete.optimised_text()
    return [line.split(" = ")[1].split("(")[0] for line in text.splitlines() if " = " in line]


def same(f, *args):
    """Traced and eager results of `f`, compared bit by bit; gives the ops of the optimised graph."""
    g = tf.function(f)
    want, got = f(*args), g(*args)
    if not isinstance(want, (list, tuple)):
        want, got = [want], [got]
    for w, t in zip(want, got, strict=True):
        assert w.dtype == t.dtype and w.shape == t.shape
        assert bits(w) == bits(t)
    return nodes(g)


def floats(*shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


@pytest.mark.parametrize("n", [0, 1, 7, 64, 1000, 1024, 1025, 40_000, 100_003])
def test_chains_of_any_length(n):
    x = floats(n)
    ops = same(lambda v: tf.tanh(v * v * 0.044715 + v) * 0.5 + tf.exp(-v), x)
    assert ops.count("Fused") == 1 and "Tanh" not in ops


def test_operands_that_broadcast():
    x, row, column, number = floats(33, 70), floats(70, seed=1), floats(33, 1, seed=2), floats(seed=3)
    assert same(lambda a, b, c, d: tf.nn.relu((a + b) * c - d) / (tf.abs(b + a) + 1.0), x, row, column, number).count("Fused") == 1


def test_several_values_leave_a_group():
    def f(x):
        a = x + 1.0
        b = a * a
        return a, tf.reduce_sum(b), b - x

    ops = same(f, floats(50, 50))
    assert ops.count("Fused") == 1 and "AddV2" not in ops


def test_casts_comparisons_and_choices():
    def f(x):
        whole = tf.cast(x * 10.0, tf.int32)
        big = tf.greater(whole, 3)
        return tf.where(big, tf.cast(whole, tf.float32), x * 2.0), tf.cast(big, tf.int8)

    assert same(f, floats(1000)).count("Fused") == 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "int32", "uint8", "int64", "complex64"])
def test_dtypes(dtype):
    x = tf.cast(floats(300) * 5.0, dtype)
    same(lambda v: v * v + v - v * v * v, x)


def test_integer_division_keeps_its_check():
    f = tf.function(lambda a, b: (a + 1) // b + 1)
    a = tf.constant([1, 2, 3])
    assert f(a, tf.constant([1, 2, 3])).numpy().tolist() == [3, 2, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(a, tf.constant([1, 0, 3]))


def test_no_group_around_what_needs_it():
    def f(x):
        a = x + 1.0
        b = tf.cumsum(a)  # reads the group, and what follows reads both
        return a * b + a

    ops = same(f, floats(64))
    assert "Cumsum" in ops


def test_unknown_sizes_that_turn_out_to_broadcast():
    f = tf.function(
        lambda a, b: [a * 2.0, a * 2.0 + b],
        input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.float32)],
    )
    for n, m in [(3, 3), (1, 4), (4, 1), (5, 5)]:
        a, b = floats(n), floats(m, seed=1)
        first, second = f(a, b)
        assert bits(first) == bits(a * 2.0) and bits(second) == bits(a * 2.0 + b)


def test_unknown_sizes_that_clash_name_the_op_that_failed():
    def f(a, b):
        c = a * 2.0
        return c + b

    g = tf.function(f, input_signature=[tf.TensorSpec([None], tf.float32)] * 2)
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        g(floats(3), floats(4))
    assert e.value.code == "E0904" and "AddV2" in str(e.value) and "return c + b" in str(e.value)


def test_results_know_the_op_that_made_them():
    t = tf.function(lambda x: tf.tanh(x + 1.0))(floats(3))
    assert "Fused" not in repr(t)


def test_bits_do_not_depend_on_threads():
    x = floats(300, 1000)
    f = tf.function(lambda v: tf.sigmoid(v * 3.0) + v * 0.5)
    was = tf.config.threading.get_intra_op_parallelism_threads()
    try:
        seen = set()
        for n in (1, 2):
            tf.config.threading.set_intra_op_parallelism_threads(n)
            seen.add(bits(f(x)))
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(was)
    assert len(seen) == 1


def test_effects_keep_their_order():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        a = v + x
        v.assign(a * 2.0)
        b = v + x
        v.assign_add(b)
        return a + b

    assert f(tf.constant([1.0, 1.0])).numpy().tolist() == [7.0, 10.0]
    assert v.numpy().tolist() == [9.0, 13.0]
