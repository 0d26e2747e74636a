"""`tf.train.Coordinator`: one thread's end is the end of all, and what ended it is told."""

import sys
import threading
import time

import pytest

import holdfast as tf


def started(*works):
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    return threads


def test_all_threads_stop_once_one_asks():
    coord, steps = tf.train.Coordinator(), []

    def work():
        while not coord.should_stop():
            steps.append(1)
            if len(steps) > 5:
                coord.request_stop()
            time.sleep(0.001)

    threads = started(work, work)
    coord.register_thread(threads[0])
    coord.join(threads[1:])
    assert coord.joined and coord.should_stop() and coord.wait_for_stop(0)
    assert not any(thread.is_alive() for thread in threads)
    coord.clear_stop()
    assert not coord.should_stop() and not coord.joined and not coord.wait_for_stop(0.01)


@pytest.mark.parametrize("how", ["block", "exception", "exc_info"])
def test_what_stopped_a_thread_is_raised_where_they_are_joined(how):
    coord = tf.train.Coordinator()

    def work():
        if how == "block":
            with coord.stop_on_exception():
                raise ValueError("first")
        try:
            raise ValueError("first")
        except ValueError as error:
            coord.request_stop(error if how == "exception" else sys.exc_info())

    with pytest.raises(ValueError, match="first"):
        coord.join(started(work))
    coord.request_stop()
    with pytest.raises(ValueError, match="first"):
        coord.raise_requested_exception()
    with pytest.raises(KeyError, match="late"):
        coord.request_stop(KeyError("late"))


def test_the_end_of_the_data_is_no_mistake():
    coord = tf.train.Coordinator()
    q = tf.queue.FIFOQueue(1, tf.int32)
    q.close()

    def work():
        with coord.stop_on_exception():
            q.dequeue()

    coord.join(started(work))
    other = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    other.request_stop(ValueError("fine"))
    other.join([])


def test_a_thread_that_does_not_stop_is_named():
    coord, go = tf.train.Coordinator(), threading.Event()
    (thread,) = started(go.wait)
    coord.request_stop()
    with pytest.raises(RuntimeError, match="have not stopped: Thread"):
        coord.join([thread], stop_grace_period_secs=0.1)
    coord.join([thread], stop_grace_period_secs=0.1, ignore_live_threads=True)
    go.set()
    with pytest.raises(TypeError, match="expected an exception"):
        coord.request_stop("stop")
    assert tf.compat.v1.train.Coordinator is tf.train.Coordinator
