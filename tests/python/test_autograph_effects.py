"""Staged code beside what is no tensor: variables, tapes, inner functions, other walkers."""

from __future__ import annotations

import numpy as np
import pytest

import holdfast as tf


@pytest.mark.parametrize("value", [-1.0, 0.5, 2.0, 7.0])
def test_variables_change_on_the_side_that_runs(value):
    def program(x, v, w):
        if x > 0:
            v.assign_add(x)
            if x > 1:
                w.assign(v * 2)
        else:
            v.assign(x * 10)
        for i in tf.range(3):
            w.assign_add(tf.cast(i, tf.float32))
            if w > 5:
                break
        while v < 3:
            v.assign_add(1.0)
        return v + w

    found = []
    for run in (program, tf.function(program)):
        v, w = tf.Variable(1.0), tf.Variable(2.0)
        result = run(tf.constant(value), v, w)
        found.append([float(each) for each in (result, v, w)])
    assert found[0] == found[1]


def test_a_variable_as_a_condition():
    flag = tf.Variable(True)

    @tf.function
    def f(x):
        if flag:
            return x
        return -x

    assert float(f(tf.constant(1.0))) == 1.0
    flag.assign(False)
    assert float(f(tf.constant(1.0))) == -1.0
    assert f.experimental_get_tracing_count() == 1


def test_a_tape_inside_staged_code():
    w = tf.Variable(2.0)

    def step(xs):
        total = 0.0
        for x in xs:
            with tf.GradientTape() as tape:
                loss = w * x * x if x > 1 else w * x
            gradient = tape.gradient(loss, w)
            w.assign_sub(0.1 * gradient)
            total += loss
        return total

    def run(function):
        w.assign(2.0)
        return float(function(tf.constant([0.5, 2.0, 3.0]))), float(w)

    assert run(tf.function(step)) == pytest.approx(run(step))


def test_a_tape_around_staged_code_inside_a_function():
    w = tf.Variable(2.0)

    def step(x):
        with tf.GradientTape() as tape:
            y = w * x
            while y < 20:
                y = y * w
            if x > 1:
                y = y * 3
        return y, tape.gradient(y, w)

    for value in (0.5, 2.0, 9.0):
        expected, got = step(tf.constant(value)), tf.function(step)(tf.constant(value))
        np.testing.assert_allclose(expected, got)


def test_traced_functions_inside_traced_functions():
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(3.0)
            self.calls = []

        @tf.function
        def inner(self, x):
            self.h = x * self.w
            self.calls.append(x)
            if x > 1:
                return self.h
            return -self.h

        @tf.function
        def outer(self, x):
            y = self.inner(x)
            if y > 0:
                y = self.inner(y)
            return y

    for value, calls in ((0.5, 1), (2.0, 2)):
        model = Model()
        assert float(model.outer(tf.constant(value))) == (-1.5 if value < 1 else 18.0)
        assert float(model.h) == (1.5 if value < 1 else 18.0)
        assert len(model.calls) == calls


def test_several_threads_trace_at_once():
    import threading

    config = type("Config", (), {})()
    results = {}

    def program(x):
        config.h = x
        total = 0.0
        for i in tf.range(5):
            if i > 2:
                total += x
        return total

    def work(k):
        function = tf.function(program)
        results[k] = [float(function(tf.constant(float(k)))) for _ in range(3)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: [2.0 * k] * 3 for k in range(6)}


class Pieces:
    """Walks through pieces of a tensor by itself in a graph, as a dataset does."""

    def __init__(self, values):
        self.values = values

    def __iter__(self):
        return iter(self.values)

    def __graph_for__(self, step, go_on, state):
        values = tf.convert_to_tensor(self.values)

        def again(i, *now):
            inside = i < len(self.values)
            return inside if go_on is None else tf.logical_and(inside, go_on(*now))

        def body(i, *now):
            return [i + 1, *step(values[i], *now)]

        return tf.while_loop(again, body, [tf.constant(0), *state])[1:]


def test_something_that_walks_through_itself():
    pieces = Pieces([1.0, 2.0, 3.0, 4.0])
    kept = []

    def program(x):
        total, count = x, 0
        values = []
        for piece in pieces:
            total += piece
            count += 1
            values.append(total)
            if total > 5:
                break
        return total, count, tf.stack(values)

    traced = tf.function(program)
    for value in (0.0, 3.0, 10.0, -100.0):
        expected, got = program(tf.constant(value)), traced(tf.constant(value))
        for a, b in zip(expected, got, strict=True):
            np.testing.assert_allclose(a, b)
    assert traced.experimental_get_tracing_count() == 1
    assert kept == []


def test_python_prints_once_and_the_graph_each_time(capsys):
    @tf.function
    def f(x):
        print("tracing")
        if x > 0:
            tf.print("positive")
        else:
            tf.print("other")
        return x

    for value in (1.0, -1.0, 2.0):
        f(tf.constant(value))
    captured = capsys.readouterr()
    assert captured.out.count("tracing") == 1
    said = (captured.out + captured.err).replace("tracing\n", "").split()
    assert said in (["positive", "other", "positive"], [])


def test_static_shapes_stay_known():
    shapes = {}

    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0:
            y = x * 2
        else:
            y = x
        shapes["branch"] = y.shape.as_list()
        for _ in tf.range(3):
            y = y + 1
        shapes["loop"] = y.shape.as_list()
        for row in y:
            shapes["row"] = row.shape.as_list()
        return y

    f(tf.ones([2, 3]))
    assert shapes == {"branch": [2, 3], "loop": [2, 3], "row": [3]}
