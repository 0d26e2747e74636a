"""Python code that a graph calls goes with its function, and stays as long as anybody may call it."""

import gc
import weakref

import pytest

import holdfast as tf

SIDE = 64  # a square of this side is large enough for the ledger


def live_bytes():
    return tf.config.experimental.get_memory_info("CPU:0")["current"]


@tf.custom_gradient
def tripled(x, by):
    return x * 1.0, lambda dy: (dy * 3.0 * tf.reduce_mean(by.table), None)


class Owner:
    """Holds a table, and functions whose graphs call code that holds it again."""

    def __init__(self, body):
        self.table = tf.ones((SIDE, SIDE))
        self.f = tf.function(lambda x: body(self, x))

    def scaled(self, x):
        return x * tf.reduce_mean(self.table)

    def scaled_array(self, x):
        return x * self.table.numpy().mean()


def by_py_function(self, x):
    return tf.py_function(self.scaled, [x], tf.float32)


def by_numpy_function(self, x):
    return tf.numpy_function(self.scaled_array, [x], tf.float32)


def by_custom_gradient(self, x):
    return tripled(x, self)


def in_a_branch(self, x):
    return tf.cond(
        tf.reduce_sum(x) > 0.0, lambda: by_py_function(self, x), lambda: tripled(x, self)
    )


def in_a_loop(self, x):
    for _ in tf.range(2):
        x = tripled(by_py_function(self, x), self)
        x.set_shape([2])
    return x


def printed(self, x):
    tf.debugging.Assert(tf.reduce_sum(x) > 0.0, [x])
    return tf.py_function(lambda y: self.scaled(y), [x], tf.float32)


def called_through_a_map(self, x):
    return tf.vectorized_map(lambda row: tf.py_function(self.scaled, [row], tf.float32), x)


BODIES = [
    by_py_function,
    by_numpy_function,
    by_custom_gradient,
    in_a_branch,
    in_a_loop,
    printed,
    called_through_a_map,
]


@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("body", BODIES)
def test_an_object_goes_with_the_code_that_its_function_calls(body, gradient):
    def make():
        owner, x = Owner(body), tf.constant([1.0, 2.0])
        for _ in range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = owner.f(x)
            if gradient and body is not by_numpy_function:
                assert tape.gradient(y, x) is not None
        return [weakref.ref(owner), weakref.ref(owner.f), weakref.ref(owner.table)]

    make()  # what is made once and for all
    gc.collect()
    before = live_bytes()
    references = make()
    gc.collect()
    assert [r() for r in references] == [None] * 3
    assert live_bytes() == before


@pytest.mark.parametrize("body", BODIES)
def test_code_stays_as_long_as_the_function(body):
    owner, x = Owner(body), tf.constant([1.0, 2.0])
    first = owner.f(x).numpy()
    for _ in range(3):
        gc.collect()
        assert (owner.f(x).numpy() == first).all()


def test_code_stays_as_long_as_a_concrete_function():
    def made():
        f = tf.function(lambda x: tf.py_function(lambda y: y * 2.0, [x], tf.float32))
        return f.get_concrete_function(tf.TensorSpec([], tf.float32))

    concrete = made()
    gc.collect()
    assert float(concrete(tf.constant(2.0))) == 4.0


def test_code_stays_as_long_as_a_tape_that_saw_the_call():
    x = tf.constant(2.0)

    def watched():
        factor = 3.0
        f = tf.function(lambda x: tf.py_function(lambda y: y * y * factor, [x], tf.float32))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape, y

    tape, y = watched()
    gc.collect()
    assert float(tape.gradient(y, x)) == 12.0


def test_code_stays_as_long_as_the_outer_graph_that_holds_it():
    def outer():
        inner = tf.function(lambda x: tf.py_function(lambda y: y * 2.0, [x], tf.float32))
        concrete = inner.get_concrete_function(tf.TensorSpec([], tf.float32))
        return tf.function(lambda x: concrete(x) + 1.0)

    f = outer()
    assert float(f(tf.constant(2.0))) == 5.0
    f._python_function = None  # nothing but the trace is left
    gc.collect()
    assert float(f(tf.constant(3.0))) == 7.0


@pytest.mark.filterwarnings("ignore")
def test_code_of_traces_that_were_pushed_out_is_not_called_again():
    f = tf.function(lambda x, n: tf.py_function(lambda y: y * 1.0, [x], tf.float32) + float(n))
    for n in range(140):
        assert float(f(tf.constant(1.0), n)) == 1.0 + n
    gc.collect()
    assert [float(f(tf.constant(1.0), n)) for n in (0, 139, 70)] == [1.0, 140.0, 71.0]
