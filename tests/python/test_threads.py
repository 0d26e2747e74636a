"""Threads that call functions at once get what calls one after the other give."""

import concurrent.futures
import threading

import pytest

import holdfast as tf

THREADS = 32


def at_once(work):
    start = threading.Barrier(THREADS)

    def go(i):
        start.wait()
        return work(i)

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(go, range(THREADS)))


def agree(work):
    together = at_once(work)
    assert together == [work(i) for i in range(THREADS)]


def test_one_function_with_a_loop_and_a_variable():
    weight = tf.Variable(tf.ones((8, 8)))

    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = tf.tanh(x @ weight)
        return tf.reduce_sum(x)

    agree(lambda i: [float(f(tf.ones((8, 8)) * (i + k) / 100.0)) for k in range(10)])


def test_a_signature_that_is_new_to_all_is_traced_once():
    f = tf.function(lambda x: tf.reduce_sum(x * 2.0))
    agree(lambda i: float(f(tf.ones((3,)) * float(i))))
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.filterwarnings("ignore")
def test_traces_that_push_each_other_out_while_they_run():
    f = tf.function(lambda x, n: tf.reduce_sum(tf.tanh(x) * n))
    x = tf.ones((100, 100))
    agree(lambda i: [float(f(x, float(i % 12 + k))) for k in range(4)])


def test_functions_of_their_own():
    def work(i):
        f = tf.function(lambda x: tf.reduce_sum(x * float(i)))
        return float(f(tf.ones(4)))

    agree(work)


def test_a_variable_of_the_function_itself_belongs_to_each_call():
    @tf.function
    def f(x):
        total = tf.Variable(tf.zeros(()))
        for _ in tf.range(10):
            total.assign_add(tf.reduce_sum(x))
        return total.read_value()

    agree(lambda i: [float(f(tf.ones(50) * float(i))) for _ in range(20)])


def test_updates_of_a_shared_variable_are_all_there():
    shared = tf.Variable(0.0)
    functions = [
        tf.function(lambda x: shared.assign_add(x)),
        tf.function(lambda x: shared.assign_add(x * 2.0)),
    ]
    at_once(lambda i: [functions[i % 2](tf.constant(1.0)) and None for _ in range(50)])
    assert float(shared) == THREADS / 2 * 50 * 3


def test_gradients_that_are_written_in_python():
    @tf.custom_gradient
    def tripled(x):
        return x * x, lambda dy: dy * 3.0

    f = tf.function(lambda x: tripled(x) * 2.0)

    def work(i):
        x = tf.constant(float(i))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return float(tape.gradient(y, x))

    agree(work)


def test_python_code_inside():
    f = tf.function(lambda x: tf.py_function(lambda a: a * 2.0, [x], tf.float32) + 1.0)
    agree(lambda i: [float(f(tf.constant(float(i)))) for _ in range(5)])


def test_a_future_is_awaited():
    f = tf.function(lambda x: x * 2.0)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert float(f(pool.submit(lambda: tf.constant(4.0)))) == 8.0
