"""Gradients asked for inside branches and loops, through them, and twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


def _in_branch(make: Callable[[], Any], x: Any) -> Any:
    return tf.cond(x > 0.0, make, lambda: x)


def _in_nested_branch(make: Callable[[], Any], x: Any) -> Any:
    return tf.cond(x > 0.0, lambda: tf.cond(x > 1.0, make, lambda: x), lambda: x)


def _in_loop(make: Callable[[], Any], x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, make()), [0, 0.0])[1]


def _in_branch_of_loop(make: Callable[[], Any], x: Any) -> Any:
    return _in_loop(lambda: _in_branch(make, x), x)


INSIDE = [_in_branch, _in_nested_branch, _in_loop, _in_branch_of_loop]


def _plain(x: Any) -> Any:
    return x * x


def _branched(x: Any) -> Any:
    return tf.cond(x > 1.0, lambda: x * x, lambda: x)


def _looped(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), [0, tf.ones([])])[1]


PATHS = [_plain, _branched, _looped]  # each is x * x for x > 1


@pytest.mark.parametrize("how", ["graph", "function"])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("inside", INSIDE)
def test_a_gradient_asked_for_inside_leads_to_what_is_outside(
    inside: Any, path: Any, how: str
) -> None:
    def program(x: Any) -> Any:
        z = path(x)
        outer = inside(lambda: tf.gradients(z * z, x)[0], x)  # d x^4 = 4 x^3
        inner = inside(lambda: tf.gradients(path(x) * z, z)[0], x)  # d (x^2 z) / dz = x^2
        return outer, inner

    if how == "function":
        found = tf.function(program)(tf.constant(3.0))
        np.testing.assert_allclose([float(each) for each in found], [108.0, 9.0])
        return
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        np.testing.assert_allclose(session.run(program(x), {x: 3.0}), [108.0, 9.0])


def test_a_variable_read_outside_is_reached_from_inside() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=3.0)
        z = v * v
        p = v1.placeholder(tf.bool, [])
        slope = tf.cond(p, lambda: tf.gradients(z, v)[0], lambda: tf.constant(0.0))
        session.run(v1.global_variables_initializer())
        assert session.run(slope, {p: True}) == 6.0


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_two_orders_through_nested_loops(depth: int) -> None:
    def power(x: Any, y: Any, level: int) -> Any:
        def body(i: Any, z: Any) -> Any:
            return i + 1, z * x if level == 1 else power(x, z, level - 1)

        return tf.while_loop(lambda i, z: i < 2, body, [0, y])[1]

    n = 2**depth + 1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        y = power(x, x, depth)
        (first,) = tf.gradients(y, x)
        (second,) = tf.gradients(first, x)
        (again,) = tf.gradients(y, x)  # the same question a second time
        found = session.run([y, first, second, again], {x: 1.5})
        slope = n * 1.5 ** (n - 1)
        wanted = [1.5**n, slope, n * (n - 1) * 1.5 ** (n - 2), slope]
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("size", [0, 2])
def test_the_gradient_of_an_array_that_grew_has_the_shape_of_its_source(
    staged: bool, size: int
) -> None:
    def program(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, size=size, dynamic_size=True).unstack(x)
            array = array.write(4, x[0] * 3.0)
            loss = array.read(0) * 2.0 + array.read(4) + tf.reduce_sum(array.stack())
        return tape.gradient(loss, x)

    run = tf.function(program) if staged else program
    np.testing.assert_array_equal(run(tf.constant([1.0, 2.0])), [9.0, 1.0])
    if staged:
        signed = tf.function(program, input_signature=[tf.TensorSpec([None], tf.float32)])
        np.testing.assert_array_equal(signed(tf.constant([1.0, 2.0])), [9.0, 1.0])


def test_an_array_that_may_not_grow_refuses_a_write_behind_its_end() -> None:
    @tf.function
    def program(i: Any) -> Any:
        return tf.TensorArray(tf.float32, size=2).write(i, 1.0).write(0, 2.0).stack()

    np.testing.assert_array_equal(program(tf.constant(1)), [2.0, 1.0])
    with pytest.raises(tf.errors.DiagnosticError, match="E1103"):
        program(tf.constant(2))


@pytest.mark.parametrize("loops", [tf.while_loop, v1.while_loop])
def test_gradients_end_at_a_loop_without_back_prop(loops: Any) -> None:
    @tf.function
    def program(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loops(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x], back_prop=False)[1]
            z = y * x
        return y, tape.gradient(z, x)

    y, slope = program(tf.constant(2.0))
    assert (float(y), float(slope)) == (16.0, 16.0)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("orders", [2, 3])
def test_nested_accumulators_see_through_functions(traced: bool, orders: int) -> None:
    def cube(x: Any) -> Any:
        return x * x * x * x

    function = tf.function(cube) if traced else cube
    x = tf.constant(2.0)

    def along(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def slope(x: Any) -> Any:
            with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
                y = f(x)
            return accumulator.jvp(y)

        return slope

    f: Callable[[Any], Any] = function
    for _ in range(orders):
        f = along(f)
    assert float(f(x)) == {2: 48.0, 3: 48.0}[orders]


@pytest.mark.parametrize("where", ["eager", "function called", "inside a function"])
@pytest.mark.parametrize("late", [False, True])
def test_a_tangent_asked_for_after_all_accumulators_closed_is_seen_by_the_outer(
    where: str, late: bool
) -> None:
    def power(x: Any) -> Any:
        return x**3.5

    def program() -> Any:
        f = power if where == "eager" else tf.function(power)
        x = tf.constant(1.1)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
            with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
                y = f(x)
            slope = None if late else inner.jvp(y)
        slope = inner.jvp(y) if late else slope
        assert inner.jvp(outer.jvp(y)) is None
        return slope, outer.jvp(slope), outer.jvp(y)

    found = (tf.function(program) if where == "inside a function" else program)()
    slope = 3.5 * 1.1**2.5
    wanted = [slope, 3.5 * 2.5 * 1.1**1.5, slope]
    np.testing.assert_allclose([float(each) for each in found], wanted, rtol=1e-5)


@pytest.mark.parametrize("where", ["eager", "function", "graph"])
def test_a_mapped_function_hands_gradients_on_to_what_is_around_it(where: str) -> None:
    def program(x: Any, v: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(
                lambda i: tf.gather(x, i, axis=-1) * tf.cast(i + 1, tf.float32) * v, tf.range(2)
            )
            z = tf.reduce_sum(y * y)
        return tape.gradient(z, [x, v])

    if where == "graph":
        with tf.Graph().as_default(), v1.Session() as session:
            v = tf.Variable(2.0)
            slopes = program(tf.constant([[1.0, 3.0]]), v)
            session.run(v1.global_variables_initializer())
            found = session.run(slopes)
    else:
        v = tf.Variable(2.0)
        run = tf.function(program) if where == "function" else program
        found = [each.numpy() for each in run(tf.constant([[1.0, 3.0]]), v)]
    np.testing.assert_allclose(found[0], [[8.0, 96.0]])
    np.testing.assert_allclose(found[1], 2.0 * 2.0 * (1.0 + 36.0))


@pytest.mark.parametrize("shape", [[]])
@pytest.mark.parametrize("taken", [False, True])
def test_a_branch_hands_gradients_on_whatever_is_known_of_its_condition(
    shape: Any, taken: bool
) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        p, x, y = v1.placeholder(tf.bool, shape), tf.constant(3.0), tf.constant(2.0)
        z = tf.cond(p, lambda: x * y * 2.0, lambda: y * y * y)
        slopes = tf.gradients(z, [x, y], unconnected_gradients="zero")
        wanted = [4.0, 6.0] if taken else [0.0, 12.0]
        np.testing.assert_allclose(session.run(slopes, {p: taken}), wanted)


@pytest.mark.parametrize("invariant", [None, [None, 2], [None, None]])
def test_a_shape_invariant_may_leave_any_of_a_shape_open(invariant: Any) -> None:
    def program(x: Any) -> Any:
        shapes = [tf.TensorShape([]), tf.TensorShape(invariant)]
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(
                lambda i, m: i < 2,
                lambda i, m: (i + 1, tf.concat([m, m * 2.0], 0)),
                [0, x],
                shape_invariants=shapes,
            )
            loss = tf.reduce_sum(y)
        return y, tape.gradient(loss, x)

    y, slope = tf.function(program)(tf.ones([1, 2]))
    assert y.shape == (4, 2)
    np.testing.assert_array_equal(slope, [[9.0, 9.0]])


def test_what_a_branch_not_taken_leaves_out_is_no_element_of_what_a_loop_keeps():
    """The body reads the array in one branch only, so its gradient keeps nothing in the other."""
    with tf.Graph().as_default():
        x = tf.constant(2.0)
        array = tf.TensorArray(tf.float32, size=8, clear_after_read=False, element_shape=[])

        def double(i, array):
            value = tf.cond(tf.equal(i, 0), lambda: x, lambda: array.read(i - 1) * 2.0)
            return i + 1, array.write(i, value)

        i, array = v1.while_loop(lambda i, _: i < 5, double, [tf.constant(0), array])
        rest = v1.while_loop(
            lambda i, _: i < 8, lambda i, array: (i + 1, array.write(i, 0.0)), [i, array]
        )
        (gradient,) = v1.gradients(rest[1].stack(), [x])
        with v1.Session() as session:
            assert session.run(gradient) == 31
