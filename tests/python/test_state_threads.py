"""What is in force on one thread is not in force on another, on one graph and on several."""

import concurrent.futures
import threading

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1
THREADS = 4


def run_together(work, count=THREADS):
    """Calls `work(i, wait)` on threads that are all inside their scopes at the same time."""
    barrier = threading.Barrier(count)

    def call(i):
        done = False
        try:
            work(i, lambda: barrier.wait(30))
            done = True
        finally:
            if not done:
                barrier.abort()  # nobody waits for one that failed

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        calls = [pool.submit(call, i) for i in range(count)]
    errors = [call.exception() for call in calls if call.exception() is not None]
    for error in errors:
        if not isinstance(error, threading.BrokenBarrierError):
            raise error
    assert not errors


@pytest.mark.parametrize("shared", [True, False])
def test_variable_scopes_are_a_threads_own(shared):
    one = tf.Graph()

    def work(i, wait):
        graph = one if shared else tf.Graph()
        with graph.as_default():
            assert v1.get_variable_scope().name == ""
            init = v1.constant_initializer(float(i))
            with v1.variable_scope(f"s{i}", initializer=init) as scope:
                wait()
                assert v1.get_variable_scope() is scope
                made = v1.get_variable("v", [])
                assert made.name == f"s{i}/v:0"
                with v1.variable_scope("inner", reuse=v1.AUTO_REUSE):
                    wait()
                    assert v1.get_variable("w", []).name == f"s{i}/inner/w:0"
                wait()
                assert v1.get_variable_scope().name == f"s{i}"
            assert v1.get_variable_scope().name == ""
            with v1.Session(graph=graph) as sess:
                assert sess.run(made) == i

    run_together(work)


def test_a_scope_of_another_thread_can_be_entered():
    graph = tf.Graph()
    with graph.as_default(), v1.variable_scope("main") as main:

        def work(i, wait):
            with graph.as_default():
                with v1.variable_scope(main), v1.variable_scope(f"t{i}"):
                    wait()
                    assert v1.get_variable("v", []).name == f"main/t{i}/v:0"
                with v1.variable_scope(f"u{i}"):
                    assert v1.get_variable("v", []).name == f"u{i}/v:0"

        run_together(work)
        assert v1.get_variable_scope() is main


@pytest.mark.parametrize("shared", [True, False])
def test_name_scopes_control_and_devices_are_a_threads_own(shared):
    one = tf.Graph()

    def work(i, wait):
        graph = one if shared else tf.Graph()
        with graph.as_default():
            first = tf.constant(1.0, name=f"first{i}")
            with (
                tf.name_scope(f"n{i}"),
                graph.control_dependencies([first.op]),
                graph.device("/CPU:0" if i % 2 else None),
            ):
                wait()
                x = tf.constant(float(i), name="x")
                y = tf.add(x, x, name="y")
                wait()
            z = tf.constant(0.0, name=f"z{i}")
            assert (x.op.name, y.op.name, z.op.name) == (f"n{i}/x", f"n{i}/y", f"z{i}")
            assert [op.name for op in x.op.control_inputs] == [f"first{i}"]
            assert y.op.control_inputs == []  # what it takes waits already
            assert z.op.control_inputs == []
            assert bool(y.op.device) == bool(i % 2)
            assert tf.compat.v1.get_default_graph() is graph
            wait()
        with v1.Session(graph=graph) as sess:
            assert sess.run(y) == 2 * i

    run_together(work)


def test_default_graphs_and_sessions_are_a_threads_own():
    def work(i, wait):
        graph = tf.Graph()
        assert tf.executing_eagerly()
        with graph.as_default(), v1.Session() as sess:
            wait()
            x = tf.Variable(float(i))
            wait()
            assert v1.get_default_session() is sess
            assert x.eval() == i
            wait()
        assert tf.executing_eagerly()
        assert v1.get_default_session() is None

    run_together(work)
    assert tf.executing_eagerly()


def test_seeds_of_graphs_do_not_mix():
    drawn = {}

    def work(i, wait):
        with tf.Graph().as_default() as graph:
            tf.random.set_seed(i % 2)
            wait()
            x = tf.random.uniform([3])
            wait()
            with v1.Session(graph=graph) as sess:
                drawn[i] = sess.run(x)

    run_together(work)
    np.testing.assert_array_equal(drawn[0], drawn[2])
    np.testing.assert_array_equal(drawn[1], drawn[3])
    assert (drawn[0] != drawn[1]).any()


def test_creators_and_collections_are_a_threads_own():
    def work(i, wait):
        seen = []

        def creator(then, **kwargs):
            seen.append(kwargs["name"])
            return then(**kwargs)

        with tf.variable_creator_scope(creator):
            wait()
            tf.Variable(1.0, name=f"v{i}")
            wait()
        tf.Variable(1.0, name="outside")
        assert seen == [f"v{i}"]

    run_together(work)


def test_threads_that_run_updates_of_one_graph_need_no_scopes_of_their_own():
    with tf.Graph().as_default() as graph:
        graph.switch_to_thread_local()
        v = v1.get_variable("v", initializer=tf.zeros((64, 64)))
        adds = [v.assign_add(tf.ones((64, 64))) for _ in range(8)]
        session = v1.Session()
        session.run(v.initializer)
        threads = [threading.Thread(target=session.run, args=(add,)) for add in adds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (session.run(v) == 8).all()
