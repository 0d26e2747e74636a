"""What decides a branch or ends a loop, and what does not follow from it."""

import pytest

import holdfast as tf


@pytest.mark.filterwarnings("ignore")
def test_what_only_decides_gets_no_gradient():
    def branch(x):
        return tf.cond(x > 2.0, lambda: tf.constant(1.0), lambda: tf.constant(0.0))

    def loop(x):
        i, total = tf.constant(0.0), tf.constant(0.0)
        while i < x:
            i, total = i + 1.0, total + 2.0
        return total

    for function in (branch, loop):
        traced = tf.function(function)
        traced(tf.constant(1.0))
        for called in (function, traced):
            x = tf.constant(3.0)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = called(x)
            assert tape.gradient(y, x) is None


def test_all_and_any_of_tensors():
    @tf.function
    def f(x):
        return (x if all([x > 0.0, x < 5.0]) else -x), (1 if any(t > x for t in (1.0, 2.0)) else 0)

    assert [[float(part) for part in f(tf.constant(v))] for v in (1.0, 7.0)] == [[1, 1], [-7, 0]]
