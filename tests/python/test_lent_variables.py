"""A trace uses variables without hiding from Python's collector that it does."""

import gc
import threading
import weakref

import numpy as np
import pytest

import holdfast as tf


class Owner:
    pass


def gone(what):
    gc.collect()
    return what() is None


def with_a_function_on_it(call):
    v = tf.Variable(3.0)
    v.f = call(v)
    return weakref.ref(v)


def of_a_function(v):
    f = tf.function(lambda x: v * x)
    assert f(tf.constant(2.0)).numpy() == 6.0
    return f


def called_under_a_tape(v):
    f = of_a_function(v)
    with tf.GradientTape() as tape:
        y = f(tf.constant(5.0))
    assert tape.gradient(y, v).numpy() == 5.0
    return f


def called_for_second_gradients(v):
    f = tf.function(lambda x: v * v * v * x)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(tf.constant(1.0))
        first = inner.gradient(y, v)
    assert outer.gradient(first, v).numpy() == 18.0
    return f


def of_several_traces(v):
    f = tf.function(lambda x: tf.reduce_sum(v * x))
    for shape in ([], [2], [2, 2]):
        f(tf.ones(shape))
    return f


def of_a_concrete_function(v):
    return tf.function(lambda x: v * x).get_concrete_function(tf.constant(1.0))


def of_a_loop(v):
    @tf.function
    def f(n):
        total = tf.constant(0.0)
        for _ in tf.range(n):
            if total < 100.0:
                total += v
            else:
                v.assign_add(1.0)
        return total

    assert f(tf.constant(2)).numpy() == 6.0
    return f


def of_a_call_in_a_trace(v):
    inner = of_a_concrete_function(v)
    outer = tf.function(lambda x: inner(x) + v)
    assert outer(tf.constant(1.0)).numpy() == 6.0
    return outer


def with_python_inside(v):
    f = tf.function(lambda x: tf.py_function(lambda a: a * v, [x], tf.float32))
    assert f(tf.constant(1.0)).numpy() == 3.0
    return f


MAKERS = [
    of_a_function,
    called_under_a_tape,
    called_for_second_gradients,
    of_several_traces,
    of_a_concrete_function,
    of_a_loop,
    of_a_call_in_a_trace,
    with_python_inside,
]


@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
def test_a_cycle_through_a_variable_and_a_trace_is_collected(make):
    assert gone(with_a_function_on_it(make))


def test_a_constraint_that_leads_to_the_function_is_collected():
    class Model:
        def __init__(self):
            self.w = tf.Variable([1.0, 2.0], constraint=self.kept)

        def kept(self, value):
            return tf.clip_by_norm(value, 1.0)

        @tf.function
        def __call__(self, x):
            return x * self.w

    def made():
        model = Model()
        model(tf.constant([1.0, 1.0]))
        return weakref.ref(model)

    assert gone(made())


def test_a_layers_cycle_through_a_weight_is_collected():
    def made():
        layer = tf.keras.layers.Dense(2)
        layer(tf.ones([1, 3]))
        layer.step = tf.function(lambda x: layer(x))
        layer.step(tf.ones([1, 3]))
        layer.kernel.layer = layer
        return weakref.ref(layer)

    assert gone(made())


# It does not go while somebody uses it.


def test_a_function_keeps_its_variable_with_its_attributes():
    v = tf.Variable(3.0)
    v.owner = owner = Owner()
    f = of_a_function(v)
    concrete, known = f.get_concrete_function(tf.constant(1.0)), weakref.ref(owner)
    del v, owner, f
    assert not gone(known)
    assert concrete(tf.constant(2.0)).numpy() == 6.0
    assert concrete.variables[0].owner is known()
    del concrete
    assert gone(known)


def test_a_second_function_keeps_what_the_first_one_lets_go():
    v = tf.Variable(3.0)
    first, second = of_a_function(v), of_a_function(v)
    v.first, known = first, weakref.ref(v)
    del v, first
    assert not gone(known)
    assert second(tf.constant(3.0)).numpy() == 9.0
    del second
    assert gone(known)


def test_a_tape_keeps_it_when_the_function_is_gone():
    v = tf.Variable(3.0)
    v.f = f = of_a_function(v)
    with tf.GradientTape(persistent=True) as tape:
        y = f(tf.constant(2.0))
    known = weakref.ref(v)
    del v, f
    assert not gone(known)
    assert tape.watched_variables()[0] is known()
    assert tape.gradient(y, known()).numpy() == 2.0
    del tape, y
    assert gone(known)


def test_a_tape_that_was_used_still_tells_its_variables():
    v = tf.Variable(3.0)
    v.f = f = of_a_function(v)
    with tf.GradientTape() as tape:
        y = f(tf.constant(2.0))
    assert tape.gradient(y, v).numpy() == 2.0
    known = weakref.ref(v)
    del v, f
    assert not gone(known)
    assert tape.watched_variables()[0].numpy() == 3.0
    del tape
    assert gone(known)


def around(inner):
    outer = tf.function(lambda x: inner(x) + 1.0)
    outer(tf.constant(2.0))
    return outer.get_concrete_function(tf.constant(2.0))


def test_a_trace_that_a_concrete_function_was_called_in_keeps_it():
    v = tf.Variable(3.0)
    inner = of_a_concrete_function(v)
    concrete = around(inner)
    known = weakref.ref(v)
    del v, inner
    assert not gone(known)
    assert concrete(tf.constant(2.0)).numpy() == 7.0


def test_a_graph_by_hand_that_a_concrete_function_was_called_in_keeps_it():
    v = tf.Variable(3.0)
    concrete = of_a_concrete_function(v)
    graph = tf.Graph()
    with graph.as_default():
        y = concrete(tf.constant(5.0))
    del v, concrete
    gc.collect()
    with tf.compat.v1.Session(graph=graph) as session:
        assert session.run(y) == 15.0


def of_two_results(v):
    spec = [tf.TensorSpec([], tf.float32)]
    return tf.compat.v1.wrap_function(lambda x: (v * x, v + x), spec)


def test_functions_that_share_nodes_keep_it_each():
    v = tf.Variable(1.0)
    whole = of_two_results(v)
    product = whole.prune(whole.inputs[0], whole.outputs[0])
    total = whole.prune(whole.inputs[0], whole.outputs[1])
    x = tf.constant(4.0)
    del v, whole
    gc.collect()
    assert (product(x).numpy(), total(x).numpy()) == (4.0, 5.0)
    del product
    gc.collect()
    assert total(x).numpy() == 5.0


def test_an_assignment_reaches_the_variable_itself():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        v.assign_add(x)
        v.scatter_add(tf.IndexedSlices([1.0], [0]))
        return v.read_value()

    np.testing.assert_array_equal(f(tf.constant([1.0, 1.0])), [3, 3])
    np.testing.assert_array_equal(v, [3, 3])
    v.assign([0.0, 0.0])
    np.testing.assert_array_equal(f(tf.constant([1.0, 1.0])), [2, 1])


def test_collections_while_threads_call_and_drop_functions():
    done, wrong = threading.Event(), []

    def work():
        for i in range(40):
            v = tf.Variable(float(i))
            v.f = f = tf.function(lambda x, v=v: x * v * v)
            with tf.GradientTape() as tape:
                y = f(tf.constant(2.0))
            if tape.gradient(y, v).numpy() != 4.0 * i or y.numpy() != 2.0 * i * i:
                wrong.append(i)

    def collect():
        while not done.is_set():
            gc.collect()

    threads = [threading.Thread(target=work) for _ in range(3)]
    collecting = threading.Thread(target=collect)
    for thread in [*threads, collecting]:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    collecting.join()
    assert not wrong
