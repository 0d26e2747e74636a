"""Containers among the arguments of a function are changed by each call, traced or not."""

from state_programs import plain

import holdfast as tf


def test_containers_among_the_arguments_are_changed():
    def f(x, state, log, *, deep):
        state["value"] = x * 2
        state.setdefault("log", []).append(x * 9)
        log.append(x)
        deep["parts"][0]["z"] = x + 1
        return x

    def after(function):
        state, log, deep = {}, [], {"parts": [{}]}
        for number in (1.0, 5.0, 7.0):
            function(tf.constant(number), state, log, deep=deep)
        return plain([state, log, deep])

    assert after(tf.function(f)) == after(f)


def test_one_trace_changes_the_containers_of_each_call():
    @tf.function
    def f(x, state):
        state["h"] = state["h"] * 2 + x
        return state["h"]

    one, other = {"h": tf.constant(1.0)}, {"h": tf.constant(10.0)}
    for number in (1.0, 5.0, 7.0):
        f(tf.constant(number), one)
        f(tf.constant(number), other)
    assert (float(one["h"]), float(other["h"])) == (29.0, 101.0)
    assert f.experimental_get_tracing_count() == 1
