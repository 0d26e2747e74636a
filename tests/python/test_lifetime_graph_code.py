"""Python code that a graph written by hand calls goes with the graph, also where it knows the graph."""

import gc
import threading
import weakref

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


class Owner:
    """Holds a graph whose code holds it again, by the ways that programs have."""

    def __init__(self):
        self.graph = tf.Graph()
        self.tensor = self.operation = self.session = self.function = None


def knows_the_graph(owner):
    with owner.graph.as_default():
        tf.py_function(lambda x: x + len(owner.graph.get_operations()), [1.0], tf.float32)


def knows_a_tensor(owner):
    with owner.graph.as_default():
        x = v1.placeholder(tf.float32, [])
        owner.tensor = tf.numpy_function(lambda a: a if x.name else None, [x], tf.float32)


def knows_an_operation(owner):
    with owner.graph.as_default():
        before = tf.constant(1.0).op
        owner.operation = tf.py_function(lambda x: x if before.name else None, [2.0], tf.float32).op


def knows_its_own_result(owner):
    cell = []
    with owner.graph.as_default():
        cell.append(tf.py_function(lambda: float(len(cell)), [], tf.float32))
    owner.tensor = cell[0]


def in_a_branch(owner):
    def inside():
        return tf.py_function(lambda: 1.0 if owner.graph else 0.0, [], tf.float32)

    with owner.graph.as_default():
        owner.tensor = tf.cond(v1.placeholder_with_default(True, []), inside, lambda: 2.0)


def in_a_function(owner):
    owner.function = tf.function(
        lambda x: tf.py_function(lambda y: y if owner.graph else None, [x], tf.float32)
    )
    with owner.graph.as_default():
        owner.tensor = owner.function(tf.constant(1.0))


def by_custom_gradient(owner):
    @tf.custom_gradient
    def twice(x):
        return x * 2.0, lambda dy: dy * (2.0 if owner.graph else 0.0)

    with owner.graph.as_default():
        x = tf.constant(3.0)
        owner.tensor = tf.gradients(twice(x), x)[0]


def with_a_gradient(owner):
    with owner.graph.as_default():
        x = tf.constant(3.0)
        y = tf.py_function(lambda a: a * a if owner.graph else a, [x], tf.float32)
        owner.tensor = tf.gradients(y, x)[0]


def with_a_session(owner):
    knows_its_own_result(owner)
    owner.session = v1.Session(graph=owner.graph)
    owner.session.run(owner.tensor)


def with_a_variable(owner):
    with owner.graph.as_default():
        v = tf.Variable(1.0)
        owner.tensor = tf.py_function(lambda x: x if v.name else None, [v], tf.float32)


WAYS = [
    knows_the_graph,
    knows_a_tensor,
    knows_an_operation,
    knows_its_own_result,
    in_a_branch,
    in_a_function,
    by_custom_gradient,
    with_a_gradient,
    with_a_session,
    with_a_variable,
]


@pytest.mark.parametrize("way", WAYS)
def test_a_graph_goes_though_its_code_knows_it(way):
    owner = Owner()
    way(owner)
    references = [weakref.ref(owner), weakref.ref(owner.graph)]
    owner = None
    gc.collect()
    assert [r() for r in references] == [None, None]


def kept_by_a_tensor():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder_with_default(2.0, [])
        return tf.py_function(lambda a: a * 3.0 if graph else a, [x], tf.float32)


def test_a_tensor_alone_keeps_what_its_graph_calls():
    y = kept_by_a_tensor()
    gc.collect()
    with v1.Session(graph=y.graph) as session:
        assert session.run(y) == 6.0


def test_an_operation_alone_keeps_what_its_graph_calls():
    operation = kept_by_a_tensor().op
    gc.collect()
    with v1.Session(graph=operation.graph) as session:
        assert session.run(operation.outputs[0]) == 6.0


def test_a_session_alone_keeps_what_its_graph_calls():
    y = kept_by_a_tensor()
    name, session = y.name, v1.Session(graph=y.graph)
    del y
    gc.collect()
    assert session.run(name) == 6.0
    session.close()


def test_a_tensor_from_before_keeps_what_is_called_after_it():
    def made():
        with tf.Graph().as_default() as graph:
            x = v1.placeholder_with_default(2.0, [])
            y = tf.numpy_function(lambda a: a * 3.0 if graph else a, [x], tf.float32)
            return x, y.name

    x, name = made()
    gc.collect()
    with v1.Session(graph=x.graph) as session:
        assert session.run(name) == 6.0


def test_a_wrapped_function_alone_keeps_what_it_calls():
    def made():
        return v1.wrap_function(
            lambda x: tf.py_function(lambda a: a * 3.0, [x], tf.float32),
            [tf.TensorSpec([], tf.float32)],
        )

    function = made()
    gc.collect()
    assert float(function(tf.constant(2.0))) == 6.0


def test_a_function_that_was_called_in_a_graph_may_go():
    def written():
        f = tf.function(lambda x: tf.py_function(lambda y: y * 5.0, [x], tf.float32))
        return f(tf.constant(2.0))

    with tf.Graph().as_default(), v1.Session() as session:
        y = written()
        gc.collect()
        assert session.run(y) == 10.0


def test_code_is_kept_while_other_threads_collect():
    done = threading.Event()

    def collect():
        while not done.is_set():
            gc.collect()

    collector = threading.Thread(target=collect)
    collector.start()
    try:
        for i in range(20):
            y = kept_by_a_tensor()
            with v1.Session(graph=y.graph) as session:
                assert session.run(y, {y.op.inputs[0]: np.float32(i)}) == 3.0 * i
    finally:
        done.set()
        collector.join()
