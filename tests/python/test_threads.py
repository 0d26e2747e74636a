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


KEPT = None  # by the functions of `places`


class Holder:
    def __init__(self):
        self.h, self.items = None, {}


def places():
    """Places that functions store into, each with what puts a value there and what reads it."""
    holder, module, cell = Holder(), tf.Module(), None

    def put_attribute(value):
        holder.h = value

    def put_pair(value):
        holder.h = (value, [value])

    def put_part(value):
        module.h = value

    def put_item(value):
        holder.items["k"] = value

    def put_global(value):
        global KEPT
        KEPT = value

    def put_cell(value):
        nonlocal cell
        cell = value

    return {
        "attribute": (put_attribute, lambda: holder.h),
        "pair": (put_pair, lambda: holder.h[1][0]),
        "module": (put_part, lambda: module.h),
        "item": (put_item, lambda: holder.items["k"]),
        "global": (put_global, lambda: KEPT),
        "cell": (put_cell, lambda: cell),
    }


def in_a_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    return thread


@pytest.mark.parametrize("traced_before", [True, False])
@pytest.mark.parametrize("place", list(places()))
def test_a_trace_reads_what_it_stored_and_not_what_a_call_did_meanwhile(place, traced_before):
    put, get = places()[place]
    one = tf.constant(1.0)

    @tf.function
    def other(x):
        put(x * 100.0)
        return x

    @tf.function
    def f(x):
        put(x * 2.0)
        in_a_thread(lambda: other(one)).join()
        return get() * 3.0

    if traced_before:
        other(one)
    assert [float(f(tf.constant(x))) for x in (1.0, 2.0)] == [6.0, 12.0]


@pytest.mark.parametrize("place", list(places()))
def test_two_traces_that_store_into_one_place_at_once(place):
    put, get = places()[place]
    one = tf.constant(1.0)
    stored, read = threading.Event(), threading.Event()
    results = []

    @tf.function
    def other(x):
        put(x * 100.0)
        stored.set()
        read.wait(30)
        return get()

    @tf.function
    def f(x):
        put(x * 2.0)
        thread = in_a_thread(lambda: results.append(float(other(one))))
        stored.wait(30)
        y = get() * 3.0
        read.set()
        thread.join()
        return y

    assert float(f(one)) == 6.0
    assert results == [100.0]


def test_code_of_the_trace_itself_may_put_an_earlier_result_back():
    holder = Holder()

    @tf.function
    def remember(x):
        holder.h = x * 10.0
        return x

    remember(tf.constant(1.0))
    earlier = holder.h

    @tf.function
    def f(x):
        holder.h = x * 2.0
        holder.h = earlier
        return holder.h + x

    assert [float(f(tf.constant(x))) for x in (1.0, 2.0)] == [11.0, 12.0]
