"""Gradients in a graph, the optimizers of TensorFlow 1, and whole programs of its kind."""

import pathlib
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


def test_gradients_of_tensors_variables_and_rows(graph):
    x = v1.placeholder(tf.float32, [])
    v = tf.Variable([1.0, 2.0, 3.0])
    other = tf.constant(1.0)
    row = tf.gather(v, [1, 1])
    y = tf.reduce_sum(row * x)
    dx, dv, none = tf.gradients(y, [x, v, other])
    assert none is None
    assert isinstance(dv, tf.IndexedSlices)
    with v1.Session() as sess:
        slope, rows = sess.run([dx, dv], {x: 3.0})
        assert slope == 4.0
        np.testing.assert_array_equal(rows.indices, [1, 1])
        np.testing.assert_array_equal(rows.values, [3, 3])
        np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(dv), {x: 3.0}), [0, 6, 0])
        (zero,) = tf.gradients(y, other, unconnected_gradients="zero")
        assert sess.run(zero) == 0.0


def test_gradients_take_weights_and_stops(graph):
    x = tf.constant(2.0)
    a = x * x
    y = a * x
    with v1.Session() as sess:
        assert sess.run(tf.gradients(y, x)) == [12.0]
        assert sess.run(tf.gradients([y, a], x)) == [16.0]
        assert sess.run(tf.gradients(y, x, grad_ys=tf.constant(10.0))) == [120.0]
        assert sess.run(tf.gradients(y, [a, x], stop_gradients=[a])) == [2.0, 4.0]
        assert sess.run(tf.gradients(tf.gradients(y, x), x)) == [12.0]
        assert sess.run(tf.hessians(y, x)) == [12.0]


def test_gradients_know_custom_ones_and_tapes_see_graphs(graph):
    @tf.custom_gradient
    def times_hundred(x):
        return tf.identity(x), lambda dy: dy * 100.0

    x = tf.constant(3.0)
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v * x
    with v1.Session() as sess:
        assert sess.run(tf.gradients(times_hundred(x) * x, x)) == [303.0]
        assert sess.run(tape.gradient(y, v)) == 12.0


def test_gradients_outside_of_a_graph_are_refused():
    with pytest.raises(RuntimeError, match="GradientTape"):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))


def adam(v, g, steps, rate=0.1, b1=0.9, b2=0.999, eps=1e-8):
    m = s = 0.0
    for t in range(1, steps + 1):
        grad = g(v)
        m, s = b1 * m + (1 - b1) * grad, b2 * s + (1 - b2) * grad * grad
        v = v - rate * np.sqrt(1 - b2**t) / (1 - b1**t) * m / (np.sqrt(s) + eps)
    return v


def momentum(v, g, steps, rate=0.1, mu=0.9, nesterov=False):
    m = 0.0
    for _ in range(steps):
        m = mu * m + g(v)
        v = v - rate * (g(v) + mu * m if nesterov else m)
    return v


def adagrad(v, g, steps, rate=0.1):
    a = 0.1
    for _ in range(steps):
        a = a + g(v) ** 2
        v = v - rate * g(v) / np.sqrt(a)
    return v


def rmsprop(v, g, steps, rate=0.1, decay=0.9, mu=0.5, eps=1e-10):
    s, m = 1.0, 0.0
    for _ in range(steps):
        s = decay * s + (1 - decay) * g(v) ** 2
        m = mu * m + rate * g(v) / np.sqrt(s + eps)
        v = v - m
    return v


@pytest.mark.parametrize(
    ("optimizer", "by_hand"),
    [
        (lambda: v1.train.GradientDescentOptimizer(0.1), lambda v, g, n: momentum(v, g, n, mu=0.0)),
        (lambda: v1.train.MomentumOptimizer(0.1, 0.9), momentum),
        (
            lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
            lambda v, g, n: momentum(v, g, n, nesterov=True),
        ),
        (lambda: v1.train.AdagradOptimizer(0.1), adagrad),
        (lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5), rmsprop),
        (lambda: v1.train.AdamOptimizer(0.1), adam),
    ],
)
def test_optimizers_do_what_their_formulas_say(graph, optimizer, by_hand):
    v = tf.Variable([1.0, -2.0])
    loss = tf.reduce_sum(v * v * v)
    step = v1.train.get_or_create_global_step()
    train = optimizer().minimize(loss, global_step=step)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for _ in range(5):
            sess.run(train)
        got, count = sess.run([v, step])
    wanted = by_hand(np.array([1.0, -2.0]), lambda x: 3 * x * x, 5)
    np.testing.assert_allclose(got, wanted, rtol=1e-4)
    assert count == 5
    assert v1.train.get_or_create_global_step() is step


def test_an_optimizer_without_a_way_says_so(graph):
    tf.Variable(1.0)
    with pytest.raises(ValueError, match="no gradient of"):
        v1.train.AdamOptimizer().minimize(tf.constant(1.0) * 2)


def run(program):
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_program_without_eager_execution():
    said = run(
        """
        import holdfast
        holdfast.install_as_tensorflow()
        import tensorflow.compat.v1 as tf
        import threading
        tf.disable_v2_behavior()
        x = tf.placeholder(tf.float32, [None, 2])
        w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        y = tf.reduce_sum(tf.matmul(x, w), reduction_indices=[0], keep_dims=True)
        print(tf.executing_eagerly(), tf.executing_eagerly_outside_functions())
        thread = threading.Thread(target=lambda: print(tf.constant(1).name))
        thread.start()
        thread.join()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            print(sess.run(y, feed_dict={x: [[1, 2], [3, 4]]})[0, 0])
        tf.reset_default_graph()
        print(len(tf.get_default_graph().get_operations()), tf.constant(2.0).name)
        tf.enable_eager_execution()
        print(float(tf.constant(2.0)))
        """
    )
    assert said == ["False", "False", "Const:0", "10.0", "0", "Const:0", "2.0"]


@pytest.mark.parametrize("name", ["layers.dense", "summary.scalar"])
def test_what_is_not_there_yet_says_so(name):
    made = v1
    for part in name.split("."):
        made = getattr(made, part)
    with pytest.raises(NotImplementedError, match="E1105"):
        made()


def test_the_programs_of_the_page_run():
    page = pathlib.Path(__file__).parents[2] / "docs" / "graphs-by-hand.md"
    programs = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert [run(program) for program in programs] == [
        ["y", "=", "2.00", "x", "+", "1.00"],
        ["[[3.0],", "[7.0]]"],
        ["6.0", "7.0"],
    ]
