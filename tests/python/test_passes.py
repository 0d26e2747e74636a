"""Passes: a function computes the same bits with them and without."""

import numpy as np
import pytest
import samples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_graph_text import assert_same_bits, is_random, sample_function, tensors_of

import holdfast as tf
from holdfast import _holdfast


@pytest.fixture(autouse=True)
def all_passes_verified():
    _holdfast.verify_passes(True)
    yield
    _holdfast.verify_passes(False)
    _holdfast.set_passes("")


def run_with(passes, code, *args):
    """What a fresh trace of `code` gives when only these passes run."""
    _holdfast.set_passes(passes)
    return tf.function(code, autograph=False)(*args)


@pytest.mark.parametrize(
    "case", [c for c in samples.cases() if not is_random(c)], ids=samples.case_id
)
def test_a_sample_gives_the_same_bits_with_passes_and_without(case):
    code, args = sample_function(case)
    try:
        plain = run_with("none", code, *args)
    except (NotImplementedError, tf.errors.OperatorNotAllowedInGraphError) as refused:
        pytest.skip(f"is not traced: {refused}")
    better = run_with(EXACT, code, *args)
    for a, b in zip(tensors_of(plain), tensors_of(better), strict=True):
        assert_same_bits(a, b)


# Random programs.

EXACT = ",".join(name for name, _ in _holdfast.passes() if name != "relax")

NUMBERS = [0.0, -0.0, 1.0, -8.0, 3.0, float("inf")]
UNARY = {
    "neg": tf.negative,
    "abs": tf.abs,
    "relu": tf.nn.relu,
    "tanh": tf.tanh,
    "square": tf.square,
    "floor": tf.floor,
    "identity": tf.identity,
    "stop": tf.stop_gradient,
    "sigmoid": tf.sigmoid,
    "twice": lambda x: tf.cast(tf.cast(x, tf.float64), tf.float32),
    "same": lambda x: tf.cast(x, tf.float32),
    "zeros": tf.zeros_like,
    "add_n": lambda x: tf.add_n([x]),
}
BINARY = {
    "add": tf.add,
    "sub": tf.subtract,
    "mul": tf.multiply,
    "div": tf.divide,
    "max": tf.maximum,
    "min": tf.minimum,
    "add_n": lambda x, y: tf.add_n([x, y]),
    "where": lambda x, y: tf.where(x > y, x, y),
}
REDUCE = {"sum": tf.reduce_sum, "max": tf.reduce_max, "mean": tf.reduce_mean}


def reshaped(x, how):
    """`x` in another shape of as many elements, or turned round."""
    if how == "flat":
        return tf.reshape(x, [-1])
    if how == "unit":
        return tf.expand_dims(x, 0)
    if how == "squeeze":
        return tf.squeeze(x)
    if how == "by_shape":
        return tf.reshape(x, tf.shape(x))
    if how == "transpose":
        return tf.transpose(x)
    if how == "whole":
        return x[...]
    if how == "tile":
        return tf.tile(x, [1] * len(x.shape))
    if len(x.shape) == 0:
        return x
    last = tf.shape(x)[-1]
    return tf.reshape(x, [tf.size(x) // last, last])


HOW = ["flat", "unit", "squeeze", "by_shape", "transpose", "whole", "tile", "rows"]


def shape_matches(x, y):
    return tuple(x.shape) == tuple(y.shape)


class Program:
    """A list of steps over a growing list of values, drawn once and run any number of times."""

    def __init__(self, data):
        step = st.one_of(
            st.tuples(st.just("unary"), st.sampled_from(sorted(UNARY)), st.integers(0, 99)),
            st.tuples(
                st.just("binary"),
                st.sampled_from(sorted(BINARY)),
                st.integers(0, 99),
                st.integers(0, 99),
            ),
            st.tuples(
                st.just("number"),
                st.sampled_from(["add", "sub", "mul", "div"]),
                st.integers(0, 99),
                st.sampled_from(NUMBERS),
                st.booleans(),
            ),
            st.tuples(
                st.just("reduce"),
                st.sampled_from(sorted(REDUCE)),
                st.integers(0, 99),
                st.booleans(),
            ),
            st.tuples(st.just("reshape"), st.sampled_from(HOW), st.integers(0, 99)),
            st.tuples(st.just("matmul"), st.integers(0, 99), st.booleans(), st.booleans()),
            st.tuples(
                st.just("assign"), st.sampled_from(["assign", "assign_add"]), st.integers(0, 99)
            ),
            st.tuples(st.just("read")),
        )
        self.steps = data.draw(st.lists(step, min_size=8, max_size=30))
        # Few results leave much to drop and to move; all of them let no wrong value hide.
        few = st.lists(st.integers(0, 99), min_size=1, max_size=4)
        self.outputs = data.draw(st.one_of(st.just(range(99)), few))
        self.state = tf.Variable(tf.ones([2, 3]))

    def __call__(self, x, y):
        self.state.assign(tf.ones([2, 3]))
        values = [x, y]
        for kind, *how in self.steps:
            made = getattr(self, kind)(values, *how)
            if made is not None:
                values.append(made)
        return [values[-1 - i % len(values)] for i in self.outputs[: max(4, len(values))]]

    def unary(self, values, name, i):
        return UNARY[name](values[i % len(values)])

    def binary(self, values, name, i, j):
        a, b = values[i % len(values)], values[j % len(values)]
        return BINARY[name](a, b) if shape_matches(a, b) else None

    def number(self, values, name, i, number, first):
        a, b = values[i % len(values)], tf.constant(number)
        return BINARY[name](b, a) if first else BINARY[name](a, b)

    def reduce(self, values, name, i, keep):
        x = values[i % len(values)]
        return REDUCE[name](x, axis=0, keepdims=keep) if len(x.shape) else None

    def reshape(self, values, how, i):
        return reshaped(values[i % len(values)], how)

    def matmul(self, values, i, ta, tb):
        x = values[i % len(values)]
        if len(x.shape) != 2 or None in tuple(x.shape) or (ta == tb and x.shape[0] != x.shape[1]):
            return None
        a = tf.transpose(x) if ta else x
        b = tf.transpose(x) if tb else x
        return tf.matmul(a, b)

    def assign(self, values, how, i):
        x = values[i % len(values)]
        if tuple(x.shape) == (2, 3):
            getattr(self.state, how)(x)

    def read(self, values):
        return self.state.read_value()


X = np.array([[1.5, -0.0, 3.0], [-2.25, 0.75, 0.0]], np.float32)
Y = np.array([[0.5, 2.0, -1.0], [4.0, -0.125, 8.0]], np.float32)


def with_gradients(program):
    def run(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            results = program(x, y)
            total = tf.add_n([tf.reduce_sum(r) for r in results])
        return [*results, *(g for g in tape.gradient(total, [x, y]) if g is not None)]

    return run


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_random_program_gives_the_same_bits_with_passes_and_without(data):
    program = Program(data)
    x, y = tf.constant(X), tf.constant(Y)
    for code in (program, with_gradients(program)):
        plain = run_with("none", code, x, y)
        left = program.state.numpy()
        better = run_with(EXACT, code, x, y)
        for a, b in zip(plain, better, strict=True):
            assert_same_bits(a, b)
        assert left.tobytes() == program.state.numpy().tobytes()


def outside_gradient(function, x, y):
    """Gradients of a traced function, asked from outside of it."""
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        total = tf.add_n([tf.reduce_sum(r) for r in function(x, y)])
    return [g for g in tape.gradient(total, [x, y]) if g is not None]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_gradients_of_a_random_function_are_the_same(data):
    program = Program(data)
    x, y = tf.constant(X), tf.constant(Y)
    found = []
    for passes in ("none", EXACT):
        _holdfast.set_passes(passes)
        found.append(outside_gradient(tf.function(program, autograph=False), x, y))
    for a, b in zip(*found, strict=True):
        assert_same_bits(a, b)


# Always the same programs: one that cancels, or rounds, can turn a last bit into any difference.
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_relaxed_rewrites_stay_close(data):
    program = Program(data)
    x, y = tf.constant(np.abs(X) + 0.5), tf.constant(np.abs(Y) + 0.5)
    plain, relaxed = run_with("none", program, x, y), run_with("", program, x, y)
    for a, b in zip(plain, relaxed, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-4, 1e-4)


def chosen(x, y):
    """Of three results of a branch and a loop, one each is used."""

    def body(i, a, b):
        seen.assign_add(tf.ones([]))
        return i + 1, a * 2.0 + y, b + a

    first, _, third = tf.cond(
        tf.reduce_sum(x) > 0,
        lambda: (x * 2.0, seen.assign_add(tf.ones([])), y),
        lambda: (x, y, -x),
    )
    return first, tf.while_loop(lambda i, *_: i < 3, body, [tf.constant(0), first, third])[1]


seen = tf.Variable(0.0)


@pytest.mark.parametrize("pick", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_unused_results_of_bodies_go_and_effects_stay(pick, sign):
    x, y = tf.constant(X * sign), tf.constant(Y)
    found = []
    for passes in ("none", EXACT):
        seen.assign(0.0)
        result = run_with(passes, lambda x, y: chosen(x, y)[pick], x, y)
        found.append((result.numpy().tolist(), seen.numpy().tolist()))
    assert found[0] == found[1]
    assert found[0][1] == (4.0 if sign * X.sum() > 0 else 3.0)
