"""What functions given to cond, while_loop, map_fn and their kin store is left as in plain code."""

import types

import numpy as np
import pytest

import holdfast as tf


def numbers(space):
    return {name: round(float(value), 4) for name, value in vars(space).items()}


def history(program, values):
    """Results and state after each call, of the plain function and of the traced one."""
    found = []
    for wrap in (lambda function: function, tf.function):
        space, log = types.SimpleNamespace(), []
        function = wrap(program(space, log))
        seen = []
        for value in values:
            result = np.asarray(function(tf.constant(value))).tolist()
            seen.append((result, numbers(space), [float(each) for each in log]))
        found.append(seen)
    return found


def branch(space, log):
    def function(x):
        def yes():
            space.hot = x * 2
            log.append(x)
            return x

        def no():
            space.cold = x * 3
            return -x

        return tf.cond(x > 0, yes, no)

    return function


def both_sides(space, log):
    def function(x):
        def hot():
            log.append(x * 2)
            return x

        def cold():
            log.append(x * 3)
            return x + 1

        return tf.cond(x > 0, hot, cold) + log[-1]

    return function


def several(space, log):
    def function(x):
        def large():
            space.last = x * 10
            return x

        def small():
            log.append(x)
            return x + 1

        return tf.case([(x > 2, large), (x > 0, small)], default=lambda: -x)

    return function


def loop(space, log):
    def function(x):
        def body(i, total):
            space.last = total * 2
            log.append(total)
            return i + 1, total + x

        return tf.while_loop(lambda i, total: i < 3, body, [tf.constant(0), x])[1]

    return function


def bounded_loop(space, log):
    def function(x):
        def body(total):
            space.last = total
            return (total + x,)

        return tf.while_loop(lambda total: total < 100, body, (x,), maximum_iterations=4)[0]

    return function


def loop_read_afterwards(space, log):
    def function(x):
        latest = {}

        def body(i, total):
            latest["doubled"] = total * 2
            return i + 1, total + x

        total = tf.while_loop(lambda i, total: i < 3, body, [tf.constant(0), x])[1]
        return total + latest["doubled"]

    return function


def rows(space, log):
    def function(x):
        def one(row):
            space.last = row
            log.append(row + 1)
            return row * 2

        return tf.map_fn(one, tf.stack([x, x * 2]))

    return function


def folds(space, log):
    def function(x):
        def step(total, row):
            space.before = total
            return total + row

        values = tf.stack([x, x * 2, x * 3])
        return tf.foldl(step, values) + tf.scan(step, values)[-1]

    return function


@pytest.mark.parametrize(
    "program", [branch, both_sides, several, loop, bounded_loop, loop_read_afterwards, rows, folds]
)
def test_stores_are_those_of_plain_code(program):
    plain, traced = history(program, (1.0, -1.0, 5.0, 2.0))
    assert traced == plain


def test_an_effect_on_a_variable_beside_a_store_happens_once():
    count, space = tf.Variable(0), types.SimpleNamespace()

    @tf.function
    def f(x):
        def yes():
            count.assign_add(1)
            space.seen = x
            return x

        return tf.cond(x > 0, yes, lambda: x)

    for value in (1.0, -1.0, 2.0):
        f(tf.constant(value))
    assert int(count) == 2
    assert float(space.seen) == 2.0
