"""Gradients of gradients, through Python code and by one tape alone."""

import numpy as np
import pytest

import holdfast as tf


def cubed(x):
    return tf.py_function(lambda y: y * y * y, [x], tf.float32)


def eager(f):
    return f


def traced(f):
    return tf.function(f)


def nested(f, x, orders):
    """d^n f / dx^n, a tape for each order."""
    if not orders:
        return f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = nested(f, x, orders - 1)
    return tape.gradient(y, x)


@pytest.mark.parametrize("around", [eager, traced])
@pytest.mark.parametrize("orders", [1, 2, 3])
def test_orders_through_python_code(around, orders):
    f = around(lambda x: cubed(x) * 2.0 + tf.square(x))
    x = tf.constant([2.0, -1.0])
    wanted = {1: 6 * x**2 + 2 * x, 2: 12 * x + 2.0, 3: [12.0, 12.0]}
    np.testing.assert_allclose(nested(f, x, orders), wanted[orders])


@pytest.mark.parametrize("orders", [1, 2, 3])
def test_tapes_inside_the_trace(orders):
    x = tf.constant([2.0, -1.0])
    found = tf.function(lambda x: nested(cubed, x, orders))(x)
    np.testing.assert_allclose(found, {1: 3 * x**2, 2: 6 * x, 3: [6.0, 6.0]}[orders])


@pytest.mark.parametrize("around", [eager, traced])
def test_second_orders_with_respect_to_several_inputs(around):
    @around
    def f(x, y):
        product, _ = tf.py_function(lambda a, b: (a * a * b, 7), [x, y], [tf.float32, tf.int32])
        return tf.sin(product)

    x, y = tf.constant(0.5), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with tf.GradientTape() as inner:
            inner.watch([x, y])
            z = f(x, y)
        dx, dy = inner.gradient(z, [x, y])
    p = 0.5 * 0.5 * 2.0
    np.testing.assert_allclose(
        outer.gradient(dx, [x, y]),
        [np.cos(p) * 4.0 - np.sin(p) * 4.0, np.cos(p) - np.sin(p) * 0.5],
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        outer.gradient(dy, [x, y]), [np.cos(p) - np.sin(p) * 0.5, -np.sin(p) * 0.0625], rtol=1e-5
    )


def test_python_code_runs_once_for_all_orders():
    calls = []

    @tf.function
    def f(x):
        return tf.py_function(lambda y: (calls.append(1), y * y * y)[1], [x], tf.float32)

    x = tf.constant(2.0)
    nested(f, x, 2)
    calls.clear()
    assert float(nested(f, x, 2)) == 12.0
    assert len(calls) == 1


def test_rows_of_a_jacobian_through_python_code():
    x = tf.constant([1.0, 2.0])

    def f(x):
        y = tf.py_function(lambda y: y * y, [x], tf.float32)
        y.set_shape([2])
        return y

    for one in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = one(x)
        np.testing.assert_allclose(tape.jacobian(y, x), [[2.0, 0.0], [0.0, 4.0]])


FUNCTIONS = {
    "a power": lambda x: x**5,
    "smooth": lambda x: tf.exp(tf.sin(x * 2.0)),
    "products": lambda x: tf.reduce_sum(tf.tanh(tf.matmul([[x, 2.0 * x]], [[1.0], [0.5]]))),
    "a quotient": lambda x: tf.math.log(1.0 + x * x) / (2.0 + tf.cos(x)),
    "a part of a softmax": lambda x: tf.nn.softmax(tf.stack([x, x * x, 1.0]))[1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_persistent_tape_gives_many_orders(name):
    f = FUNCTIONS[name]
    x = tf.constant(0.7)
    found = []
    for one in (f, tf.function(f)):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            orders = [one(x)]
            for _ in range(4):
                orders.append(tape.gradient(orders[-1], x))
        found.append([float(order) for order in orders])
    np.testing.assert_allclose(found[1], found[0], rtol=2e-4, atol=1e-5)


def test_one_persistent_tape_around_a_loop_gives_two_orders_and_refuses_the_third():
    @tf.function
    def f(x):
        y = x
        for _ in tf.range(2):
            y = y * x
        return y

    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first = tape.gradient(f(x), x)
        second = tape.gradient(first, x)
        assert (float(first), float(second)) == (12.0, 12.0)
        with pytest.raises(tf.errors.UnimplementedError, match="one inside the other"):
            tape.gradient(second, x)
    assert float(nested(f, x, 3)) == 6.0


def test_a_custom_gradient_counts_in_every_order():
    @tf.custom_gradient
    def bent(x):
        return x * x, lambda dy: dy * 3.0 * x

    for one in (bent, tf.function(lambda x: bent(x))):
        x = tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = one(x)
            total = y + inner.gradient(y, x)
        assert float(outer.gradient(total, x)) == 9.0  # 3x of the value, 3 of its gradient


def test_an_ordinary_tape_keeps_what_one_order_needs():
    """Residuals of a second order would be kept for nothing."""
    side = 64

    @tf.function
    def f(x):
        for _ in tf.range(4):
            x = tf.exp(tf.sin(x * 2.0))
        return tf.reduce_sum(x)

    x = tf.ones((side, side))

    def kept(persistent):
        before = tf.config.experimental.get_memory_info("CPU:0")["current"]
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = f(x)
        during = tf.config.experimental.get_memory_info("CPU:0")["current"]
        tape.gradient(y, x)
        return during - before

    for _ in range(3):
        few, many = kept(False), kept(True)
    assert few < many


def test_a_custom_gradient_inside_another_one_is_not_gone_around():
    @tf.custom_gradient
    def inner(x):
        return x * x, lambda dy: dy * 5.0 * x

    @tf.custom_gradient
    def outer(x):
        return x * x * x, lambda dy: dy * inner(x)

    x = tf.constant(2.0)
    assert float(nested(outer, x, 1)) == 4.0
    assert float(nested(outer, x, 2)) == 10.0
    traced_outer = tf.function(lambda x: outer(x))
    assert float(nested(traced_outer, x, 1)) == 4.0
    with pytest.raises(tf.errors.UnimplementedError, match="used by another custom gradient"):
        nested(traced_outer, x, 2)
